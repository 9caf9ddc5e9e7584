//! The program `weir`.
//!
//! Every verb is one file in [`command`]. Verbs read files through [`files`], [`definitions`] and [`document`] and ask
//! `weir-core`, or ask a server through [`remote`]; what they found they give to [`output`], the only place that prints.
//! [`serve`] puts the parts of a server together, and [`demo`] is everything around it that a demonstration takes.

mod command;
mod definitions;
mod demo;
mod document;
mod files;
mod manifests;
mod naming;
mod output;
mod remote;
mod scenario;
mod serve;
mod state;
mod time;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match command::Weir::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::fail(&error);
            ExitCode::FAILURE
        }
    }
}
