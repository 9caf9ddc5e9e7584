//! Pipelines, and the freezes that stand beside them, from manifests.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use weir_api::{ManifestError, Object, PipelineGroup};
use weir_core::{Freeze, Pipeline, PipelineKey};

use crate::{files, naming::listed};

/// What manifests define.
#[derive(Default)]
pub(crate) struct Definitions {
    pipelines: Vec<(PipelineGroup, Pipeline)>,
    pub(crate) freezes: Vec<Freeze>,
}

impl Definitions {
    /// Reads files and folders.
    pub(crate) fn load(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Self::default();
        for file in files::yaml(paths)? {
            all.add(&file, &files::text(&file)?)?;
        }
        Ok(all)
    }

    /// Reads one more text.
    pub(crate) fn add(&mut self, file: &Path, text: &str) -> Result<()> {
        let (manifests, errors) = weir_api::read(&file.display().to_string(), text);
        if !errors.is_empty() {
            let lines: Vec<_> = errors.iter().map(ManifestError::to_string).collect();
            bail!("the manifests are not valid\n{}", lines.join("\n"));
        }
        for manifest in manifests {
            match manifest.object {
                Object::Pipeline(group, pipeline) => self.insert(group, pipeline.to_core().map_err(broken)?)?,
                Object::Freeze(freeze) => self.freezes.push(freeze.to_core().map_err(broken)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Of two pipelines of the same name, the one of the newer group counts.
    fn insert(&mut self, group: PipelineGroup, pipeline: Pipeline) -> Result<()> {
        match self.pipelines.iter_mut().find(|(_, known)| known.key == pipeline.key) {
            Some((known, _)) if *known == group => bail!("pipeline `{}` is defined twice", pipeline.key),
            Some(known) if group < known.0 => *known = (group, pipeline),
            Some(_) => {}
            None => self.pipelines.push((group, pipeline)),
        }
        Ok(())
    }

    /// The pipeline of that name, written `NAMESPACE/NAME` or `NAME`; without a name, the only one.
    pub(crate) fn pipeline(&self, name: Option<&str>) -> Result<&Pipeline> {
        let is_meant = |key: &PipelineKey| name.is_none_or(|name| key.to_string() == name || key.name.as_str() == name);
        let meant: Vec<_> =
            self.pipelines.iter().map(|(_, pipeline)| pipeline).filter(|it| is_meant(&it.key)).collect();
        match (meant.as_slice(), name) {
            ([pipeline], _) => Ok(pipeline),
            ([], Some(name)) => Err(anyhow!(
                "there is no pipeline `{name}`; there is {}",
                listed(self.pipelines.iter().map(|it| &it.1.key))
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
