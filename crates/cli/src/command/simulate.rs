//! `weir simulate`: what Weir would have done.

use std::{fmt::Write as _, path::PathBuf};

use anstyle::AnsiColor;
use anyhow::{Result, bail};

use crate::{
    output::{self, Output, count},
    scenario::{self, Ending, Entry, Event, Play},
};

const EXAMPLE: &str = "\
Example:
  weir simulate -f scenario.yaml";

/// Play a scenario through: timed facts in, what Weir decides out
///
/// Time moves from one moment to the next at which something can change, so gates that open by time alone act at their
/// exact moment. What people do is in the scenario, as steps; what it assumes happens by itself.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Simulate {
    /// File with the Scenario; `-` is stdin
    #[arg(short, long, value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Simulate {
    pub(super) fn run(self) -> Result<()> {
        let (play, result) = scenario::read(&self.file)?.play();
        self.output.print(&play, text)?;
        result?;
        let played = format!("{} from {} to {}", count(play.history.len(), "line"), play.from, play.to);
        let why = match play.ending {
            Ending::Quiet => "nothing is left to do",
            Ending::Waiting => "nothing goes on before somebody does something",
            Ending::Horizon => "that is as far as it was to be played: set `until` for more",
            Ending::TooLong | Ending::Broken => {
                bail!("{played}: stopped, because it goes on for too long; set `until` to end it earlier")
            }
        };
        output::say(format_args!("{played}; {why}"));
        Ok(())
    }
}

fn text(play: &Play) -> String {
    let place = |entry: &Entry| entry.environment.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let width = play.history.iter().map(|entry| place(entry).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in &play.history {
        let (mark, color) = match entry.event {
            Event::Fact | Event::Assumed => ('·', AnsiColor::White),
            Event::Created | Event::Step => ('→', AnsiColor::Blue),
            Event::Phase => ('●', AnsiColor::Cyan),
            Event::Held => ('✗', AnsiColor::Red),
            Event::Released => ('✔', AnsiColor::Green),
            Event::Overridden => ('!', AnsiColor::Yellow),
        };
        let color = output::style(color);
        let name = entry.name.as_deref().unwrap_or_default();
        let sentence = match entry.event {
            Event::Held => format!("{name}: {}", entry.sentence),
            Event::Released => format!("{name} no longer holds"),
            Event::Overridden => format!("merged against {name}: {}", entry.sentence),
            Event::Assumed => format!("{} (assumed)", entry.sentence),
            _ => entry.sentence.clone(),
        };
        let _ = writeln!(text, "{}  {:width$}  {color}{mark}{color:#} {sentence}", entry.at, place(entry));
    }
    text
}
