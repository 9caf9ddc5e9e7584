//! `weir demo`: a promotion to look at, in five minutes, on one machine.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::{
    demo::{Agent, CLUSTERS, Clusters, Folder, follow, release},
    output,
    remote::wait,
    serve::{Home, Serving, serve},
};

const EXAMPLE: &str = "\
Examples:
  weir demo
  weir demo release 6.1.0
  weir demo release 6.2.0 --broken";

/// See a promotion on this machine, in five minutes
///
/// A Git repository, a pipeline with an approval, four clusters that play Flux, and a server. Everything is in one folder, which is made if it is not there; starting it again carries on where it was. Ctrl-C stops
/// everything that it started.
#[derive(Args)]
#[command(after_help = EXAMPLE, args_conflicts_with_subcommands = true)]
pub(crate) struct Demo {
    #[command(flatten)]
    place: Place,
    /// Where the server listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Args)]
struct Place {
    /// The folder of the demo
    #[arg(long, value_name = "DIR", default_value = "weir-demo")]
    folder: PathBuf,
}

#[derive(Subcommand)]
enum Verb {
    /// Release a version of podinfo to dev, by a commit
    #[command(after_help = "Example:\n  weir demo release 6.1.0")]
    Release {
        /// The version
        version: String,
        /// It starts in dev, and nowhere else
        #[arg(long)]
        broken: bool,
        #[command(flatten)]
        place: Place,
    },
}

impl Demo {
    pub(super) fn run(self) -> Result<()> {
        match self.verb {
            Some(Verb::Release { version, broken, place }) => {
                let folder = Folder::open(&place.folder)?;
                wait(release(&folder, &version, broken))?;
                output::say(format_args!("podinfo {version} is committed for dev; its agent deploys it in a moment"));
                Ok(())
            }
            None => self.start(),
        }
    }

    fn start(self) -> Result<()> {
        let (folder, new) = Folder::make(&self.place.folder)?;
        let shown = self.place.folder.display();
        output::say(if new {
            format!("made a demo in {shown}")
        } else {
            format!("carrying on with the demo in {shown}")
        });
        let home = Home::Folders { manifests: folder.manifests(), data: folder.data() };
        let mut serving = Serving::new(home, self.listen)?;
        serving.log.level = tracing::Level::WARN;
        serving.definitions = Some(folder.definitions(serving.author.clone())?);
        serve(serving, async |address, stop| {
            output::say(self.welcome(address));
            let clusters = Arc::new(Clusters::new(&folder, format!("http://{address}"))?);
            let agents =
                CLUSTERS.map(|(cluster, environment)| Agent::new(clusters.clone(), cluster, environment).run());
            tokio::select! {
                _ = futures_util::future::join_all(agents) => {}
                () = follow(clusters.clone(), folder.manifests()) => {}
                () = stop.wait() => {}
            }
            Ok(())
        })
    }

    /// What to try, in commands that can be copied as they are.
    fn welcome(&self, address: SocketAddr) -> String {
        let weir = std::env::args().next().unwrap_or_else(|| "weir".to_owned());
        let default = address == SocketAddr::from(([127, 0, 0, 1], 8082));
        let server = if default { String::new() } else { format!(" --server http://{address}") };
        let shown = self.place.folder.display().to_string();
        let folder = if shown == "weir-demo" { String::new() } else { format!(" --folder {shown}") };
        format!(
            "\nWeir runs at http://{address}. Ctrl-C stops it; start it again, and it carries on.\n\
             \nThree things to try in another terminal, in this folder:\n\
             \n1. Release a new version to dev. It goes through qa by itself, and waits before prod:\n\
             \n     {weir} demo release 6.1.0{folder}\
             \n     {weir} events --watch{server}\
             \n     {weir} approve podinfo prod --watch{server}\n\
             \n2. Break a release, and watch it stop in qa:\n\
             \n     {weir} demo release 6.2.0 --broken{folder}\
             \n     {weir} explain podinfo prod{server}\n\
             \n3. Freeze everything. The next release waits:\n\
             \n     {weir} freeze --reason \"it is Friday\" --for 1h{server}\
             \n     {weir} demo release 6.3.0{folder}\
             \n     {weir} get pipelines{server}\n\
             \nOr define a pipeline of your own, in the browser: http://{address}/define\n"
        )
    }
}
