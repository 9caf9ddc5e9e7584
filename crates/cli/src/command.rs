//! The verbs, and what they have in common.

mod act;
mod backup;
mod completion;
mod demo;
mod events;
mod explain;
mod export;
mod freeze;
mod get;
mod install;
mod lint;
mod plan;
mod proposal;
mod question;
mod serve;
mod set_version;
mod simulate;
mod token;
mod version;

use anyhow::Result;
use clap::{Parser, Subcommand};

const EXAMPLE: &str = "\
Examples:
  weir demo                                          see a promotion in five minutes
  weir serve --manifests manifests --data data       run Weir on this machine
  weir get pipelines                                 ask a server how far everything is
  weir plan -f pipeline.yaml --state state.yaml      try a pipeline without a server

Exit codes: 0 all is well, 1 an error, 2 the command line was not understood.";

/// Weir: the promotion layer for Flux CD.
///
/// It watches what Flux deployed, decides whether that version may go one environment further, and carries it there
/// through Git. `lint`, `plan`, `explain -f`, `simulate` and `set-version` work on files alone; the others ask a server.
#[derive(Parser)]
#[command(name = "weir", version, after_help = EXAMPLE, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Weir {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Serve(serve::Serve),
    Demo(demo::Demo),
    Get(get::Get),
    Explain(explain::Explain),
    Promote(act::Promote),
    Approve(act::Approve),
    Reject(act::Reject),
    Suspend(act::Suspend),
    Resume(act::Resume),
    Freeze(freeze::Freeze),
    Unfreeze(freeze::Unfreeze),
    Proposal(proposal::Proposal),
    Events(events::Events),
    Backup(backup::Backup),
    Token(token::Token),
    Lint(lint::Lint),
    Plan(plan::Plan),
    Simulate(simulate::Simulate),
    SetVersion(set_version::SetVersion),
    Install(install::Install),
    Export(export::Export),
    Completion(completion::Completion),
    Version(version::Version),
}

impl Weir {
    /// Does what was asked.
    pub(crate) fn run(self) -> Result<()> {
        match self.verb {
            Verb::Serve(verb) => verb.run(),
            Verb::Demo(verb) => verb.run(),
            Verb::Get(verb) => verb.run(),
            Verb::Explain(verb) => verb.run(),
            Verb::Promote(verb) => verb.run(),
            Verb::Approve(verb) => verb.run(),
            Verb::Reject(verb) => verb.run(),
            Verb::Suspend(verb) => verb.run(),
            Verb::Resume(verb) => verb.run(),
            Verb::Freeze(verb) => verb.run(),
            Verb::Unfreeze(verb) => verb.run(),
            Verb::Proposal(verb) => verb.run(),
            Verb::Events(verb) => verb.run(),
            Verb::Backup(verb) => verb.run(),
            Verb::Token(verb) => verb.run(),
            Verb::Lint(verb) => verb.run(),
            Verb::Plan(verb) => verb.run(),
            Verb::Simulate(verb) => verb.run(),
            Verb::SetVersion(verb) => verb.run(),
            Verb::Install(verb) => verb.run(),
            Verb::Export(verb) => verb.run(),
            Verb::Completion(verb) => verb.run(),
            Verb::Version(verb) => verb.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Weir::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_has_an_example() {
        fn look(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "{}", command.get_name());
            command.get_subcommands().filter(|sub| sub.get_name() != "help").for_each(look);
        }
        look(&Weir::command());
    }
}
