//! What the program prints. Data goes to stdout, talk to stderr; colours only where a terminal shows them.

use std::{fmt::Display, io, io::Write as _};

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use comfy_table::{Table, presets};
use serde::Serialize;

/// How data is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
    /// For programs, and people who like it.
    Yaml,
}

/// The option that every verb with data to show has.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Output {
    /// How to print the result
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

impl Output {
    /// This way.
    pub(crate) fn of(output: Format) -> Self {
        Self { output }
    }

    /// Prints a result: as it is for programs, or as `text` makes it for people.
    pub(crate) fn print<T: Serialize>(self, result: &T, text: impl FnOnce(&T) -> String) -> Result<()> {
        match self.output {
            Format::Table => data(&text(result)),
            Format::Json => {
                let json = serde_json::to_string_pretty(result).context("writing the result as JSON failed")?;
                data(&format!("{json}\n"))
            }
            Format::Yaml => data(&serde_saphyr::to_string(result).context("writing the result as YAML failed")?),
        }
    }
}

/// Prints data, byte for byte, apart from colours that the reader cannot show.
pub(crate) fn data(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Tells the person at the terminal something. If nobody listens, nothing is lost.
pub(crate) fn say(words: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{words}");
}

/// Says what went wrong, and why.
pub(crate) fn fail(error: &anyhow::Error) {
    let red = style(AnsiColor::Red).bold();
    say(format_args!("{red}error:{red:#} {error}"));
    for cause in error.chain().skip(1) {
        say(format_args!("  because: {cause}"));
    }
}

/// Says what is not as it should be, and does not keep the program from going on.
pub(crate) fn warn(words: impl Display) {
    let yellow = style(AnsiColor::Yellow).bold();
    say(format_args!("{yellow}warning:{yellow:#} {words}"));
}

/// Whether the reader of our output went away, as `head` does. That is no error of anybody.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Text in a colour.
pub(crate) fn style(color: AnsiColor) -> Style {
    color.on_default()
}

/// A unified diff, in its colours.
pub(crate) fn diff(plain: &str) -> String {
    let colored = |line: &str| {
        let color = match line.chars().next() {
            _ if line.starts_with("---") || line.starts_with("+++") => return line.to_owned(),
            Some('+') => style(AnsiColor::Green),
            Some('-') => style(AnsiColor::Red),
            Some('@') => style(AnsiColor::Cyan),
            _ => return line.to_owned(),
        };
        let (words, end) = line.split_at(line.trim_end_matches(['\r', '\n']).len());
        format!("{color}{words}{color:#}{end}")
    };
    plain.split_inclusive('\n').map(colored).collect()
}

/// Rows below a header, without lines.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.iter().copied());
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}
