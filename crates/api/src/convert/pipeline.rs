//! A pipeline as people write it, into the pipeline that promotions are decided for.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString};
use serde_json::json;
use weir_core::{
    Application, Approvers, BranchName, ClusterKey, EnvironmentName, ForgeKind, Name, Namespace, PipelineKey, Policy,
    RepoUrl, Repository, TargetKey, When, Window, WorkloadKey, WorkloadKind,
};

use super::{PipelineGroup, Problems, name_of, namespace_of, parse_duration};
use crate::{
    kinds::{
        Address, AppKind, ApprovalGate, Concurrency, Environment, ForgeType, Gate, Merge, OlderPipeline, Period,
        Pipeline, PipelineSpec, PromotionRules, SecretRef, Target, address::NO_PASSWORD,
    },
    validate::Violation,
};

/// The branch that a strategy changes if it names none.
const DEFAULT_BRANCH: &str = "main";

impl Pipeline {
    /// The pipeline that promotions are decided for.
    pub fn to_core(&self) -> Result<weir_core::Pipeline, Vec<Violation>> {
        convert(&self.metadata, &self.spec)
    }

    /// What people wrote, in YAML, without what a cluster adds. What is wrong is not shown: it may hold a password.
    pub fn to_manifest(&self, group: PipelineGroup) -> Result<String, String> {
        self.to_core().map_err(|wrong| wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let ObjectMeta { name, namespace, labels, .. } = self.metadata.clone();
        let metadata = ObjectMeta { name, namespace, labels, ..ObjectMeta::default() };
        let api_version = format!("{group}/v1alpha1");
        let object = json!({ "apiVersion": api_version, "kind": "Pipeline", "metadata": metadata, "spec": self.spec });
        serde_saphyr::to_string(&object).map_err(|error| error.to_string())
    }
}

impl PipelineSpec {
    /// The Secrets whose `hmac-key` signs what is reported for an environment. Missing: nothing is signed.
    pub fn signed_with(&self) -> BTreeMap<EnvironmentName, Name> {
        let secret = |environment: &Environment| {
            let secret = Name::new(self.hmac_secret(&environment.name)?).ok()?;
            Some((EnvironmentName::new(&environment.name).ok()?, secret))
        };
        self.environments.iter().filter_map(secret).collect()
    }
}

impl OlderPipeline {
    /// The pipeline that promotions are decided for.
    pub fn to_core(&self) -> Result<weir_core::Pipeline, Vec<Violation>> {
        convert(&self.metadata, &self.spec.0)
    }
}

fn convert(metadata: &ObjectMeta, spec: &PipelineSpec) -> Result<weir_core::Pipeline, Vec<Violation>> {
    let mut problems = Problems::default();
    let name = name_of(metadata, &mut problems);
    let namespace = namespace_of(metadata, &mut problems);
    let application = application(spec, &mut problems);
    let environments = namespace.as_ref().map(|home| {
        let each = spec.environments.iter().enumerate();
        each.filter_map(|(position, it)| environment(it, position, spec, home, &mut problems)).collect::<Vec<_>>()
    });
    let pipeline = name.zip(namespace).zip(application).zip(environments);
    let pipeline = pipeline.and_then(|(((name, namespace), application), environments)| {
        let pipeline = weir_core::Pipeline::new(PipelineKey { namespace, name }, application, environments);
        problems.check("spec.environments", pipeline)
    });
    problems.or(pipeline.map(|mut pipeline| {
        pipeline.suspended = spec.suspend.unwrap_or_default();
        pipeline.deleted = metadata.deletion_timestamp.is_some();
        pipeline
    }))
}

fn application(spec: &PipelineSpec, problems: &mut Problems) -> Option<Application> {
    let Some(app) = &spec.app_ref else { return Some(Application::Labelled) };
    let kind = match app.kind {
        AppKind::HelmRelease => WorkloadKind::HelmRelease,
        AppKind::Kustomization => WorkloadKind::Kustomization,
    };
    let name = problems.name("spec.appRef.name", Name::new(&app.name))?;
    Some(Application::Workload(WorkloadKey { kind, name }))
}

fn environment(
    environment: &Environment,
    position: usize,
    spec: &PipelineSpec,
    home: &Namespace,
    problems: &mut Problems,
) -> Option<weir_core::Environment> {
    let path = format!("spec.environments[{position}]");
    let name = problems.name(&format!("{path}.name"), EnvironmentName::new(&environment.name));
    let targets = environment.targets.iter().enumerate();
    let targets = targets.filter_map(|(n, it)| target(it, &format!("{path}.targets[{n}]"), home, problems)).collect();
    let (rules, rules_path) = match (&environment.promotion, &spec.promotion) {
        (Some(own), _) => (Some(own), format!("{path}.promotion")),
        (None, general) => (general.as_ref(), "spec.promotion".to_owned()),
    };
    let general_when = spec.promotion.as_ref().and_then(|rules| rules.when.as_ref());
    let promotion = rules.and_then(|rules| policy(rules, general_when, &rules_path, problems));
    let listed = environment.gates.iter().flatten().enumerate();
    let mut gates: Vec<_> = listed.filter_map(|(n, it)| gate(it, &format!("{path}.gates[{n}]"), problems)).collect();
    if rules.and_then(|rules| rules.manual).unwrap_or_default() {
        gates.push(weir_core::Gate::Approval(anybody()));
    }
    Some(weir_core::Environment { name: name?, targets, promotion, gates })
}

/// What `manual: true` asks for: one person with the right to approve, be it the one who asked.
fn anybody() -> weir_core::ApprovalGate {
    weir_core::ApprovalGate { count: 1, from: Approvers::default(), allow_author: true, expires_after: None }
}

fn target(target: &Target, path: &str, home: &Namespace, problems: &mut Problems) -> Option<TargetKey> {
    let namespace = problems.name(&format!("{path}.namespace"), Namespace::new(&target.namespace));
    let Some(reference) = &target.cluster_ref else { return Some(TargetKey { cluster: None, namespace: namespace? }) };
    let name = problems.name(&format!("{path}.clusterRef.name"), Name::new(&reference.name));
    let of_cluster = match &reference.namespace {
        Some(given) => problems.name(&format!("{path}.clusterRef.namespace"), Namespace::new(given)),
        None => Some(home.clone()),
    };
    let cluster = ClusterKey { namespace: of_cluster?, name: name? };
    Some(TargetKey { cluster: Some(cluster), namespace: namespace? })
}

fn policy(
    rules: &PromotionRules,
    general: Option<&IntOrString>,
    path: &str,
    problems: &mut Problems,
) -> Option<Policy> {
    let mut policy = Policy::with(strategy(rules, path, problems)?);
    let when = rules.when.as_ref().or(general).map(|when| match when {
        IntOrString::Int(count) => count.to_string().parse::<When>(),
        IntOrString::String(text) => text.parse(),
    });
    if let Some(when) = when {
        policy.when = problems.name(&format!("{path}.when"), when)?;
    }
    if rules.merge == Some(Merge::Auto) {
        policy.merge = weir_core::Merge::Auto;
    }
    if rules.concurrency == Some(Concurrency::Latest) {
        policy.concurrency = weir_core::Concurrency::Latest;
    }
    if let Some(timeout) = &rules.deploy_timeout {
        policy.deploy_timeout = problems.check(&format!("{path}.deployTimeout"), parse_duration(timeout))?;
    }
    Some(policy)
}

fn strategy(rules: &PromotionRules, path: &str, problems: &mut Problems) -> Option<weir_core::Strategy> {
    if let Some(short) = &rules.pull_request {
        let path = format!("{path}.pullRequest");
        let branch = (short.branch.as_deref(), "branch");
        // The short form has no place for it. Nobody can write to another machine without.
        let secret = (!short.url.0.starts_with("file:")).then(|| SecretRef { name: CREDENTIALS.to_owned() });
        let repository = repository(&short.url, branch, secret.as_ref(), &path, problems)?;
        let forge = guessed_forge(&short.url.0);
        return Some(weir_core::Strategy::PullRequest(weir_core::PullRequest { forge, repository }));
    }
    let strategy = rules.strategy.as_ref()?;
    if let Some(long) = &strategy.pull_request {
        let path = format!("{path}.strategy.pull-request");
        let branch = (long.base_branch.as_deref(), "baseBranch");
        let repository = repository(&long.url, branch, long.secret_ref.as_ref(), &path, problems)?;
        let forge = long.type_.to_core();
        return Some(weir_core::Strategy::PullRequest(weir_core::PullRequest { forge, repository }));
    }
    if let Some(push) = &strategy.push {
        let path = format!("{path}.strategy.push");
        let branch = (push.base_branch.as_deref(), "baseBranch");
        let repository = repository(&push.url, branch, push.secret_ref.as_ref(), &path, problems)?;
        return Some(weir_core::Strategy::Push(repository));
    }
    strategy.notification.map(|_| weir_core::Strategy::Notification)
}

fn repository(
    url: &Address,
    (branch, branch_field): (Option<&str>, &str),
    secret: Option<&SecretRef>,
    path: &str,
    problems: &mut Problems,
) -> Option<Repository> {
    if url.holds_password() {
        problems.0.push(Violation::new(format!("{path}.url"), NO_PASSWORD));
        return None;
    }
    let url = problems.name(&format!("{path}.url"), RepoUrl::new(&*url.0));
    let base = BranchName::new(branch.unwrap_or(DEFAULT_BRANCH));
    let base = problems.name(&format!("{path}.{branch_field}"), base);
    let secret = secret.map(|secret| problems.name(&format!("{path}.secretRef.name"), Name::new(&secret.name)));
    let secret = match secret {
        Some(checked) => Some(checked?),
        None => None,
    };
    Some(Repository { url: url?, base: base?, secret })
}

impl ForgeType {
    /// The kind of server that the core knows.
    pub fn to_core(self) -> ForgeKind {
        match self {
            Self::GitHub => ForgeKind::GitHub,
            Self::GitLab => ForgeKind::GitLab,
            Self::Gitea => ForgeKind::Gitea,
            Self::BitbucketServer => ForgeKind::BitbucketServer,
            Self::BitbucketCloud => ForgeKind::BitbucketCloud,
            Self::AzureDevOps => ForgeKind::AzureDevOps,
            Self::Git => ForgeKind::Git,
        }
    }
}

/// The Secret that opens the repository of the short form, in the pipeline's namespace.
const CREDENTIALS: &str = "promotion-credentials";

/// The kind of server that an address is on, as far as its host tells: by its name, or as in `gitea.example.org`.
fn guessed_forge(url: &str) -> ForgeKind {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match (host.as_str(), host.split('.').next()) {
        ("github.com", _) => ForgeKind::GitHub,
        ("gitlab.com", _) => ForgeKind::GitLab,
        ("bitbucket.org", _) => ForgeKind::BitbucketCloud,
        ("dev.azure.com" | "ssh.dev.azure.com", _) => ForgeKind::AzureDevOps,
        ("codeberg.org", _) | (_, Some("gitea" | "forgejo")) => ForgeKind::Gitea,
        _ => ForgeKind::Git,
    }
}

fn gate(gate: &Gate, path: &str, problems: &mut Problems) -> Option<weir_core::Gate> {
    match gate {
        Gate { approval: Some(it), window: None, soak: None } => {
            approval(it, &format!("{path}.approval"), problems).map(weir_core::Gate::Approval)
        }
        Gate { approval: None, window: Some(it), soak: None } => {
            let allow = periods(it.allow.as_deref(), &format!("{path}.window.allow"), problems);
            let deny = periods(it.deny.as_deref(), &format!("{path}.window.deny"), problems);
            Some(weir_core::Gate::Window(Window::new(allow, deny)))
        }
        Gate { approval: None, window: None, soak: Some(it) } => {
            let duration = parse_duration(&it.duration);
            problems.check(&format!("{path}.soak.duration"), duration).map(weir_core::Gate::Soak)
        }
        _ => {
            problems.0.push(Violation::new(path, "write exactly one of `approval`, `window` and `soak`"));
            None
        }
    }
}

fn approval(gate: &ApprovalGate, path: &str, problems: &mut Problems) -> Option<weir_core::ApprovalGate> {
    let count = u32::try_from(gate.count.unwrap_or(1)).ok().filter(|count| *count > 0);
    let count = problems.check(&format!("{path}.count"), count.ok_or("allowed: at least 1"));
    let expires_after = match &gate.expires_after {
        Some(text) => Some(problems.check(&format!("{path}.expiresAfter"), parse_duration(text))?),
        None => None,
    };
    let set = |names: &Option<Vec<String>>| names.iter().flatten().cloned().collect();
    let from = Approvers { users: set(&gate.users), groups: set(&gate.groups) };
    let allow_author = gate.allow_author.unwrap_or_default();
    Some(weir_core::ApprovalGate { count: count?, from, allow_author, expires_after })
}

fn periods(periods: Option<&[Period]>, path: &str, problems: &mut Problems) -> Vec<weir_core::Period> {
    let each = periods.into_iter().flatten().enumerate();
    each.filter_map(|(position, period)| {
        let path = format!("{path}[{position}]");
        let duration = problems.check(&format!("{path}.duration"), parse_duration(&period.duration))?;
        let zone = period.time_zone.as_deref().unwrap_or("UTC");
        let made = weir_core::Period::new(&period.schedule, duration, zone);
        let field = match &made {
            Err(weir_core::PeriodError::Schedule { .. }) => "schedule",
            Err(weir_core::PeriodError::Zone(_)) => "timeZone",
            Err(weir_core::PeriodError::Duration(_)) | Ok(_) => "duration",
        };
        problems.check(&format!("{path}.{field}"), made)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_server_is_read_from_the_host() {
        for (url, forge) in [
            ("https://github.com/a/b", ForgeKind::GitHub),
            ("git@github.com:a/b.git", ForgeKind::GitHub),
            ("https://user:secret@gitlab.com/a/b.git", ForgeKind::GitLab),
            ("ssh://git@bitbucket.org:22/a/b", ForgeKind::BitbucketCloud),
            ("https://dev.azure.com/o/p/_git/r", ForgeKind::AzureDevOps),
            ("https://git.example.org/github.com/b", ForgeKind::Git),
            ("https://github.com.example.org/a/b", ForgeKind::Git),
            ("http://gitea.example.org:3000/a/b.git", ForgeKind::Gitea),
        ] {
            assert_eq!(guessed_forge(url), forge, "{url}");
        }
    }
}
