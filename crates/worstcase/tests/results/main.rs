//! What happens to results after measuring, from outside: run folders on disk, verdicts, tables, commands.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

mod against;
mod ahead;
mod answers;
mod bench;
mod calibrate;
mod carried;
mod census;
mod claims;
mod cli;
mod compare;
mod costs;
mod demands;
mod distributions;
mod documents;
mod ensembles;
mod examples;
mod exit_codes;
mod fixture;
mod followed;
mod forged;
mod gate;
mod gate_catastrophes;
mod help;
mod history;
mod host;
mod import;
mod install;
mod licences;
mod lost;
mod manual;
mod noise;
mod odd_files;
mod others;
mod pictures;
mod plain_data;
#[path = "../commands/program.rs"]
mod program;
mod recipes;
mod records;
mod run_folder;
mod security;
mod selection;
mod several_cpus;
mod several_runs;
mod site;
mod tables;
mod true_words;
mod verdict_command;
mod verdicts;
