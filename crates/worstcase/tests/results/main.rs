//! What happens to results after measuring, from outside: run folders on disk, verdicts, tables, commands.

mod census;
mod cli;
mod ensembles;
mod fixture;
mod host;
mod pictures;
mod records;
mod run_folder;
mod studies;
mod tables;
mod verdict_command;
mod verdicts;
