//! The program `weir`.
//!
//! Every verb is one file in [`command`]. Verbs read files through [`files`], [`definitions`] and [`document`], ask
//! `weir-core`, and give what they found to [`output`], the only place that prints. None of the verbs here talks to a
//! network: what they say follows from the files that they are given.

mod command;
mod definitions;
mod document;
mod files;
mod manifests;
mod naming;
mod output;
mod scenario;
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
