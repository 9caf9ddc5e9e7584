//! `weir token`: who may do what on a server that is not only for this machine.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use weir_core::Namespace;
use weir_local::{Grant, Role, Tokens};

use crate::output;

/// Make tokens that open a server
#[derive(Args)]
#[command(after_help = "Example:\n  weir token create ci --role operator --namespace apps --file tokens.yaml")]
pub(crate) struct Token {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Create(Create),
}

/// Make a token, and add what a server has to know of it to a file
///
/// The token is printed once, and kept nowhere: the file holds only its hash. A server that runs with `--tokens FILE`
/// follows the file as it changes; to take a token back, remove its entry.
#[derive(Args)]
#[command(after_help = "Example:\n  weir token create ada --role approver --file tokens.yaml")]
pub(crate) struct Create {
    /// Who it is for. Everything that is done with it is written down under this name
    name: String,
    /// What they may do; may be given more than once
    #[arg(long = "role", value_enum, required = true, value_name = "ROLE")]
    roles: Vec<Named>,
    /// Only in this namespace; may be given more than once
    #[arg(short, long = "namespace", value_name = "NAMESPACE")]
    namespaces: Vec<Namespace>,
    /// A group they are in, for approval gates; may be given more than once
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// When it ends. Default: when it is taken out of the file
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
    /// The file of the server's tokens
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Named {
    /// Looks
    Viewer,
    /// Looks, asks for releases, merges, stops
    Operator,
    /// Looks, approves, rejects
    Approver,
}

impl Token {
    pub(super) fn run(self) -> Result<()> {
        let Verb::Create(it) = self.verb;
        if it.expires.is_some_and(|expires| expires <= Timestamp::now()) {
            bail!("`--expires` is in the past: nobody could use the token");
        }
        let everywhere = [None];
        let namespaces: Vec<_> = it.namespaces.iter().cloned().map(Some).collect();
        let namespaces = if namespaces.is_empty() { &everywhere[..] } else { &namespaces };
        let role = |named: &Named| match named {
            Named::Viewer => Role::Viewer,
            Named::Operator => Role::Operator,
            Named::Approver => Role::Approver,
        };
        let grants = it.roles.iter().flat_map(|named| {
            let role = role(named);
            namespaces.iter().map(move |namespace| Grant { role, namespace: namespace.clone() })
        });
        let (token, entry) = Tokens::create(&it.name, grants.collect(), it.groups, it.expires)?;
        Tokens::append(&it.file, &entry)?;
        output::say(format_args!(
            "added {} to {}; this is the only time that the token is shown:",
            it.name,
            it.file.display()
        ));
        output::data(&format!("{}\n", token.expose_secret()))
    }
}
