//! The verbs, and what they have in common.

mod completion;
mod explain;
mod export;
mod lint;
mod plan;
mod question;
mod set_version;
mod simulate;
mod version;

use anyhow::Result;
use clap::{Parser, Subcommand};

const EXAMPLE: &str = "\
Example: would this be promoted?
  weir plan -f pipeline.yaml --state state.yaml

Exit codes: 0 all is well, 1 an error, 2 the command line was not understood.";

/// Weir: the promotion layer for Flux CD.
///
/// It watches what Flux deployed, decides whether that version may go one environment further, and carries it there
/// through Git. The commands here work on files alone, without a cluster.
#[derive(Parser)]
#[command(name = "weir", version, after_help = EXAMPLE, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Weir {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Lint(lint::Lint),
    Plan(plan::Plan),
    Explain(explain::Explain),
    Simulate(simulate::Simulate),
    SetVersion(set_version::SetVersion),
    Export(export::Export),
    Completion(completion::Completion),
    Version(version::Version),
}

impl Weir {
    /// Does what was asked.
    pub(crate) fn run(self) -> Result<()> {
        match self.verb {
            Verb::Lint(verb) => verb.run(),
            Verb::Plan(verb) => verb.run(),
            Verb::Explain(verb) => verb.run(),
            Verb::Simulate(verb) => verb.run(),
            Verb::SetVersion(verb) => verb.run(),
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
