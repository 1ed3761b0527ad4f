//! The report's page in a real Chromium: everything is drawn, nothing is asked of anybody, names stay names.

#![allow(clippy::disallowed_methods, reason = "tests write where they like")]

mod chromium;
mod command;
mod drawn;
#[allow(dead_code, reason = "shared: not every test needs all of it")]
#[path = "../results/fixture.rs"]
mod fixture;
mod hostile;
mod looks;
mod many;
mod pages;
