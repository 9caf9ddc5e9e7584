//! Where the definitions go that people propose in the web UI.

use anyhow::{Result, bail};
use clap::{Args, builder::PossibleValuesParser};
use weir_api::{Address, ForgeType};
use weir_core::{BranchName, Name, Namespace, PipelineKey, RepoUrl, Repository};
use weir_engine::Definitions;
use weir_ports::{FilePath, Signature};

/// Where the definitions go that people propose in the web UI.
#[derive(Args)]
pub(super) struct Kept {
    /// Git repository that the Pipelines go to which people propose in the web UI. Default: they copy them from there
    #[arg(long, value_name = "URL")]
    definitions: Option<String>,
    /// Its branch that definitions are taken from
    #[arg(long, value_name = "BRANCH", default_value = "main", requires = "definitions")]
    definitions_branch: String,
    /// The folder in it that they are in; `.` is its root
    #[arg(long, value_name = "DIR", default_value = "pipelines", requires = "definitions")]
    definitions_folder: String,
    /// The Secret that opens it, as one that a strategy names
    #[arg(long, value_name = "NAMESPACE/NAME", requires = "definitions")]
    definitions_secret: Option<String>,
    /// The forge that it is on, where a definition is a pull request. Default: a plain Git server, reviewed in Weir
    #[arg(long, value_name = "TYPE", requires = "definitions", value_parser = forges())]
    definitions_forge: Option<String>,
}

/// Those that Weir can open pull requests on.
fn forges() -> PossibleValuesParser {
    PossibleValuesParser::new(["gitea"])
}

impl Kept {
    /// What is meant, with commits by this author.
    pub(super) fn read(self, author: &Signature) -> Result<Option<Definitions>> {
        let Some(url) = self.definitions.map(Address) else { return Ok(None) };
        if url.holds_password() {
            bail!(
                "`{url}` is written with a password: put it into a Secret, and name that with `--definitions-secret`"
            );
        }
        // A name of its own kind, written as that of a pipeline is.
        let secret: Option<PipelineKey> = self.definitions_secret.as_deref().map(str::parse).transpose()?;
        let (namespace, secret): (Namespace, Option<Name>) = match secret {
            Some(PipelineKey { namespace, name }) => (namespace, Some(name)),
            None => ("default".parse()?, None),
        };
        let folder = self.definitions_folder.trim_matches('/');
        let forge = match self.definitions_forge {
            Some(kind) => Some(serde_json::from_value::<ForgeType>(kind.into())?.to_core()),
            None => None,
        };
        Ok(Some(Definitions {
            repository: Repository {
                url: RepoUrl::new(url.0)?,
                base: BranchName::new(self.definitions_branch)?,
                secret,
            },
            namespace,
            forge,
            folder: if matches!(folder, "" | ".") { None } else { Some(FilePath::new(folder)?) },
            author: author.clone(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        kept: Kept,
    }

    fn read(arguments: &[&str]) -> Result<Option<Definitions>> {
        let author = Signature::new("Weir", "weir@example.org")?;
        Only::try_parse_from(["weir"].iter().chain(arguments))?.kept.read(&author)
    }

    #[test]
    fn an_address_is_enough_and_a_password_in_it_is_refused_without_being_shown() {
        assert!(read(&[]).unwrap().is_none());
        let kept = read(&["--definitions", "https://git.example.org/a.git"]).unwrap().unwrap();
        assert_eq!(kept.file_of("team", "app"), "pipelines/team/app.yaml");
        assert_eq!((kept.repository.base.as_str(), kept.forge), ("main", None));
        let url = "https://git.example.org/a.git";
        let more = ["--definitions-folder", ".", "--definitions-secret", "ops/git", "--definitions-forge", "gitea"];
        let kept = read(&[&["--definitions", url], &more[..]].concat()).unwrap().unwrap();
        assert_eq!(kept.file_of("team", "app"), "team/app.yaml");
        assert_eq!((kept.namespace.as_str(), kept.forge), ("ops", Some(weir_core::ForgeKind::Gitea)));
        let told = read(&["--definitions", "https://me:geheim@git.example.org/a.git"]).unwrap_err().to_string();
        assert!(told.contains("--definitions-secret") && !told.contains("geheim"), "{told}");
        assert!(read(&["--definitions-branch", "main"]).is_err(), "there is no repository");
        assert!(read(&["--definitions", url, "--definitions-folder", "../a"]).is_err());
    }
}
