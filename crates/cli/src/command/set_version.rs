//! `weir set-version`: writes a version where markers, or a path, say.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::ValueEnum;
use similar::TextDiff;
use weir_core::Revision;
use weir_yaml::{DocumentFilter, Edited, Location, Marker, MarkerFilter, Part, Path, Selector, Value, set};

use crate::{
    files,
    output::{self, count},
};

const EXAMPLE: &str = "\
Examples:
  weir set-version --marker default:podinfo:prod --to 6.2.0 --dry-run clusters/
  weir set-version --path spec.chart.spec.version --kind HelmRelease --to 6.2.0 podinfo.yaml";

/// Write a version into YAML files, and touch no other byte
///
/// Places are found by their markers, `# {"$promotion": "default:podinfo:prod"}`, in any number of files; or by a path
/// in one file. Every file is read and changed in memory before the first one is written. Links and `.git` are not
/// followed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
#[command(group(clap::ArgGroup::new("place").required(true).args(["marker", "path"])))]
pub(crate) struct SetVersion {
    /// The environment whose markers are meant: NAMESPACE:PIPELINE:ENVIRONMENT
    #[arg(long, value_name = "MARKER")]
    marker: Option<Marker>,
    /// Only markers that name this workload: KIND/NAME
    #[arg(long, value_name = "WORKLOAD", requires = "marker")]
    workload: Option<String>,
    /// The path of the value in one file, such as spec.chart.spec.version or images[name=app].newTag
    #[arg(long, value_name = "PATH")]
    path: Option<Path>,
    /// Only documents of this kind
    #[arg(long, value_name = "KIND", requires = "path")]
    kind: Option<String>,
    /// Only documents with this `metadata.name`
    #[arg(long, value_name = "NAME", requires = "path")]
    resource_name: Option<String>,
    /// What the value at the path holds
    #[arg(long, value_enum, default_value_t, requires = "path")]
    part: Held,
    /// The version to write
    #[arg(long, value_name = "VERSION")]
    to: String,
    /// The name of the image, for places that hold one
    #[arg(long, value_name = "IMAGE")]
    name: Option<String>,
    /// The digest of the image, for places that hold one
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// Print what would change as a unified diff, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Files, and folders to look through for *.yaml and *.yml
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
}

/// What a value holds.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Held {
    /// The version alone.
    #[default]
    Version,
    /// An image with a tag.
    Tag,
    /// The name of an image.
    Name,
    /// An image with a digest.
    Digest,
}

struct Change {
    file: PathBuf,
    before: String,
    edited: Edited,
}

impl SetVersion {
    pub(super) fn run(self) -> Result<()> {
        let selector = self.selector()?;
        // Nobody can run a version that Weir would not take for one.
        Revision::new(&self.to).context("`--to` is not a version")?;
        let value = Value { version: self.to.clone(), name: self.name.clone(), digest: self.digest.clone() };
        let files = self.files()?;
        let wanted = self.marker.as_ref().map(|marker| format!("\"{marker}"));
        let changes = compute(&files, &[(selector, value)], wanted.as_deref())?;
        if changes.is_empty() {
            bail!("nothing to set: looked for {} in {}", self.looked_for(), count(files.len(), "file"));
        }
        if self.dry_run {
            output::data(&changes.iter().map(diff).collect::<String>())?;
        } else {
            let touched = changes.iter().filter(|change| !change.edited.changes.is_empty());
            files::replace_all(touched.map(|change| (change.file.as_path(), change.edited.text.as_str())))?;
        }
        self.tell(&changes);
        Ok(())
    }

    fn selector(&self) -> Result<Selector> {
        if let Some(path) = &self.path {
            let documents = DocumentFilter {
                kind: self.kind.clone(),
                name: self.resource_name.clone(),
                ..DocumentFilter::default()
            };
            let part = match self.part {
                Held::Version => Part::Whole,
                Held::Tag => Part::Tag,
                Held::Name => Part::Name,
                Held::Digest => Part::Digest,
            };
            return Ok(Selector::Path(Location { documents, path: path.clone(), part }));
        }
        let marker = self.marker.as_ref().ok_or_else(|| anyhow!("give `--marker` or `--path`"))?;
        if marker.part != Part::Whole {
            bail!(
                "`--marker {marker}` names a part: leave it out, each marker in the files says itself which part it holds"
            );
        }
        Ok(Selector::Marker(MarkerFilter { workload: self.workload.clone(), ..MarkerFilter::from(marker) }))
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        for path in &self.paths {
            let found = fs::symlink_metadata(path).with_context(|| format!("reading `{}` failed", path.display()))?;
            if found.is_symlink() {
                bail!("`{}` is a link, and links are not followed: name what it points to", path.display());
            }
        }
        if self.path.is_some() && (self.paths.len() != 1 || self.paths.iter().any(|path| path.is_dir())) {
            bail!("`--path` sets a value in one file: name exactly one file");
        }
        files::yaml(&self.paths)
    }

    fn looked_for(&self) -> String {
        let workload = self.workload.as_ref().map(|it| format!(" for workload `{it}`")).unwrap_or_default();
        self.marker.as_ref().map_or_else(|| "the path".to_owned(), |marker| format!("markers `{marker}`{workload}"))
    }

    fn tell(&self, changes: &[Change]) {
        let (mut set, mut kept) = (0, 0);
        for Change { file, edited, .. } in changes {
            kept += edited.kept.len();
            for change in &edited.changes {
                set += 1;
                let (place, before, after) = (&change.place, &change.before, &change.after);
                let at = format!("{}:{}:{}", file.display(), place.line, place.column);
                output::say(format_args!("{at}: `{before}` becomes `{after}`"));
            }
        }
        let done = if self.dry_run { "would be set" } else { "set" };
        output::say(format_args!("{} {done}, {kept} as asked for already", count(set, "value")));
    }
}

/// What becomes of every file that has a place to set. Any error, and nothing becomes of any. A file that cannot be read
/// as YAML is none as long as it does not mention `wanted`, which is the beginning of the marker: it is told, and left.
fn compute(files: &[PathBuf], edits: &[(Selector, Value)], wanted: Option<&str>) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut errors = Vec::new();
    for file in files {
        let bytes = fs::read(file).with_context(|| format!("reading `{}` failed", file.display()))?;
        let is_wanted = |bytes: &[u8]| wanted.is_none_or(|wanted| mentions(bytes, wanted));
        let before = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let words = format!("{}: the file is not UTF-8, so it is no YAML that can be changed", file.display());
                if is_wanted(error.as_bytes()) {
                    errors.push(words);
                } else if mentions(error.as_bytes(), MARKER_KEY) {
                    left_alone(&words);
                }
                continue;
            }
        };
        match set(&before, edits) {
            Ok(edited) if edited.changes.is_empty() && edited.kept.is_empty() => {}
            Ok(edited) => changes.push(Change { file: file.clone(), before, edited }),
            Err(error) => {
                let place = error.place().map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
                let words = format!("{}{place}: {}", file.display(), sentence(&error, &before));
                let strange = matches!(error, weir_yaml::Error::NotYaml { .. });
                if strange && !is_wanted(before.as_bytes()) {
                    left_alone(&words);
                } else {
                    errors.push(words);
                }
            }
        }
    }
    if !errors.is_empty() {
        bail!("nothing was changed\n{}", errors.join("\n"));
    }
    Ok(changes)
}

fn left_alone(words: &str) {
    output::warn(format_args!("{words}; its markers are others, so it is left alone"));
}

/// What went wrong, in words that fit the file: not everything that is no YAML is a template.
fn sentence(error: &weir_yaml::Error, text: &str) -> String {
    match error {
        weir_yaml::Error::NotYaml { reason, .. } if !text.contains("{{") => format!("the file is not YAML: {reason}"),
        error => error.to_string(),
    }
}

/// What every marker contains.
const MARKER_KEY: &str = "$promotion";

fn mentions(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

/// A unified diff that `git apply` takes.
fn diff(change: &Change) -> String {
    let diff = TextDiff::from_lines(change.before.as_str(), change.edited.text.as_str());
    let name = change.file.display().to_string();
    let name = name.trim_start_matches("./");
    let plain = diff.unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string();
    output::diff(&plain)
}
