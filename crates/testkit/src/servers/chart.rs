//! A small Helm chart.

use flate2::Compression;
use flate2::write::GzEncoder;

const CONFIG_MAP: &str = r"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  chart: {{ .Chart.Version | quote }}
  message: {{ .Values.message | quote }}
";

const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      containers:
      - name: app
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
      {{- with .Values.sidecar }}
      - name: sidecar
        image: {{ . | quote }}
      {{- end }}
"#;

/// A chart with a `ConfigMap` that has the release's name, and in it the chart's version and `values.message`.
#[derive(Debug, Clone)]
pub struct Chart {
    name: String,
    version: String,
    app_version: String,
    image: Option<(String, String)>,
    fault: Option<String>,
}

impl Chart {
    /// A chart of this version, and with this version of the application.
    pub fn new(name: &str, version: &str) -> Self {
        let (name, version) = (name.to_owned(), version.to_owned());
        Self { name, app_version: version.clone(), version, image: None, fault: None }
    }

    /// With another version of the application.
    #[must_use]
    pub fn app_version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.app_version);
        self
    }

    /// With a Deployment of this image, which `values.image.repository` and `values.image.tag` change; and of a second
    /// one, if `values.sidecar` names it.
    #[must_use]
    pub fn image(mut self, repository: &str, tag: &str) -> Self {
        self.image = Some((repository.to_owned(), tag.to_owned()));
        self
    }

    /// Broken: whoever installs it is told this.
    #[must_use]
    pub fn failing(mut self, message: &str) -> Self {
        self.fault = Some(message.to_owned());
        self
    }

    /// The name of its archive, such as `podinfo-6.1.0.tgz`.
    pub fn file_name(&self) -> String {
        format!("{}-{}.tgz", self.name, self.version)
    }

    /// Its archive, as `helm package` would make it.
    pub fn archive(&self) -> Vec<u8> {
        let Self { name, version, app_version, .. } = self;
        let mut files = vec![
            (
                "Chart.yaml",
                format!("apiVersion: v2\nname: {name}\nversion: {version}\nappVersion: \"{app_version}\"\n"),
            ),
            ("templates/configmap.yaml", CONFIG_MAP.to_owned()),
        ];
        let mut values = vec!["message: hello\n".to_owned()];
        if let Some((repository, tag)) = &self.image {
            values.push(format!("image:\n  repository: {repository}\n  tag: \"{tag}\"\n"));
            files.push(("templates/deployment.yaml", DEPLOYMENT.to_owned()));
        }
        if let Some(message) = &self.fault {
            files.push(("templates/fault.yaml", format!("{{{{ fail {message:?} }}}}\n")));
        }
        files.push(("values.yaml", values.concat()));

        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o644);
            header.set_size(content.len() as u64);
            let added = archive.append_data(&mut header, format!("{name}/{path}"), content.as_bytes());
            added.expect("a file goes into an archive in memory");
        }
        archive.into_inner().and_then(GzEncoder::finish).expect("an archive in memory can be finished")
    }
}
