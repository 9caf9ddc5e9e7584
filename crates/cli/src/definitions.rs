//! Pipelines, and the freezes that stand beside them, from manifests.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use weir_api::{ManifestError, Object, PipelineGroup};
use weir_core::{Freeze, Pipeline, PipelineKey};

use crate::{
    files,
    manifests::{self, Contents},
    naming::listed,
};

/// What manifests define.
#[derive(Default)]
pub(crate) struct Definitions {
    pipelines: Vec<Definition>,
    pub(crate) freezes: Vec<Freeze>,
}

struct Definition {
    group: PipelineGroup,
    pipeline: Pipeline,
    /// Where it is written: `FILE:LINE`.
    place: String,
}

impl Definitions {
    /// Reads files and folders.
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Self::default();
        for file in files::yaml(paths)? {
            all.take(manifests::read(paths, &file, &files::text(&file)?), &file)?;
        }
        Ok(all)
    }

    /// Reads one more text.
    pub(crate) fn add(&mut self, file: &Path, text: &str) -> Result<()> {
        self.take(manifests::read(&[file.to_owned()], file, text), file)
    }

    fn take(&mut self, contents: Contents, file: &Path) -> Result<()> {
        let Contents { manifests, errors, .. } = contents;
        if !errors.is_empty() {
            let lines: Vec<_> = errors.iter().map(ManifestError::to_string).collect();
            bail!("the manifests are not valid\n{}", lines.join("\n"));
        }
        for manifest in manifests {
            match manifest.object {
                Object::Pipeline(group, pipeline) => {
                    let place = format!("{}:{}", file.display(), manifest.place.line);
                    self.insert(Definition { group, pipeline: pipeline.to_core().map_err(broken)?, place })?;
                }
                Object::Freeze(freeze) => self.freezes.push(freeze.to_core().map_err(broken)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Of two pipelines of the same name, the one of the newer group counts.
    fn insert(&mut self, new: Definition) -> Result<()> {
        match self.pipelines.iter_mut().find(|known| known.pipeline.key == new.pipeline.key) {
            Some(known) if known.group == new.group => {
                bail!("pipeline `{}` is defined twice: {}, {}", new.pipeline.key, known.place, new.place)
            }
            Some(known) if new.group < known.group => *known = new,
            Some(_) => {}
            None => self.pipelines.push(new),
        }
        Ok(())
    }

    /// The pipeline of that name, written `NAMESPACE/NAME` or `NAME`; without a name, the only one.
    pub(crate) fn pipeline(&self, name: Option<&str>) -> Result<&Pipeline> {
        let is_meant = |key: &PipelineKey| name.is_none_or(|name| key.to_string() == name || key.name.as_str() == name);
        let meant: Vec<_> = self.pipelines.iter().map(|it| &it.pipeline).filter(|it| is_meant(&it.key)).collect();
        match (meant.as_slice(), name) {
            ([pipeline], _) => Ok(pipeline),
            ([], Some(name)) => Err(anyhow!(
                "there is no pipeline `{name}`; there is {}",
                listed(self.pipelines.iter().map(|it| &it.pipeline.key))
            )),
            ([], None) => Err(anyhow!("the files define no pipeline")),
            (several, _) => {
                Err(anyhow!("which pipeline? name one of {}", listed(several.iter().map(|pipeline| &pipeline.key))))
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the error type of a conversion")]
fn broken(violations: Vec<weir_api::Violation>) -> anyhow::Error {
    let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
    anyhow!("the manifests are not valid\n{}", lines.join("\n"))
}
