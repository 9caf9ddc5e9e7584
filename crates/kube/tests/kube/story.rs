//! The engine on Kubernetes: a report becomes a proposal, and both are objects.

use std::{fs, path::Path, process::Command, sync::Arc};

use tempfile::TempDir;
use weir_core::{Observation, ObservationKey, Outcome, Report};
use weir_engine::{Engine, Ports, Settings, World};
use weir_forge::Forges;
use weir_git::GitRepos;
use weir_kube::hub::{HubCatalog, HubStore};
use weir_local::SystemClock;
use weir_ports::{Record, Signature, Store};
use weir_testkit::{
    servers::eventually,
    sim::{Sim, SimClusters, SimOwnership},
};

use crate::ground::{ground_alone, parsed};

struct OnKubernetes {
    catalog: HubCatalog,
    store: HubStore,
    repos: GitRepos,
    forge: Forges,
    clusters: SimClusters,
    ownership: SimOwnership,
    clock: SystemClock,
}

impl Ports for OnKubernetes {
    type Catalog = HubCatalog;
    type Store = HubStore;
    type Repos = GitRepos;
    type Forge = Forges;
    type Clusters = SimClusters;
    type Ownership = SimOwnership;
    type Clock = SystemClock;

    fn catalog(&self) -> &HubCatalog {
        &self.catalog
    }

    fn store(&self) -> &HubStore {
        &self.store
    }

    fn repos(&self) -> &GitRepos {
        &self.repos
    }

    fn forge(&self) -> &Forges {
        &self.forge
    }

    fn clusters(&self) -> &SimClusters {
        &self.clusters
    }

    fn ownership(&self) -> &SimOwnership {
        &self.ownership
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=anna", "-c", "user.email=anna@example.org", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").current_dir(folder).args(identity).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

#[tokio::test]
async fn a_release_that_is_reported_healthy_is_proposed_for_the_next_environment() {
    let ground = ground_alone("story").await;
    let (namespace, folder) = (&ground.namespace, TempDir::new().unwrap());
    let config = folder.path().join("config");
    fs::create_dir(&config).unwrap();
    git(&config, &["init", "-q"]);
    let marked = format!("version: 6.1.6 # {{\"$promotion\": \"{namespace}:podinfo:prod\"}}\n");
    fs::write(config.join("prod.yaml"), marked).unwrap();
    git(&config, &["add", "."]);
    git(&config, &["commit", "-q", "-m", "first"]);
    git(folder.path(), &["clone", "-q", "--bare", "config", "config.git"]);
    let url = format!("file://{}", folder.path().join("config.git").display());
    ground
        .hub
        .apply(&format!(
            "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: podinfo, namespace: \
             {namespace}}}, spec: {{appRef: {{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: podinfo}}, \
             environments: [{{name: dev, targets: [{{namespace: dev}}]}}, {{name: prod, targets: [{{namespace: \
             prod}}]}}], promotion: {{strategy: {{pull-request: {{type: git, url: '{url}', baseBranch: main}}}}}}}}}}"
        ))
        .await;
    let store = ground.store();
    let pipeline = parsed(&ground.key("podinfo"));
    for (environment, revision) in [("dev", "6.2.0"), ("prod", "6.1.6")] {
        let key = ObservationKey {
            environment: environment.parse().unwrap(),
            target: None,
            workload: "HelmRelease/podinfo".parse().unwrap(),
        };
        let now = jiff::Timestamp::now();
        let outcome = Outcome::Succeeded(revision.parse().unwrap());
        let seen = Observation::first(Report { at: now, received: now, outcome });
        store.create(Record::Observation(pipeline.clone(), key, Box::new(seen))).await.unwrap();
    }
    let ports = OnKubernetes {
        catalog: HubCatalog::new(ground.client.clone()),
        store,
        repos: GitRepos::open(folder.path().join("cache"), weir_git::Settings::default()).unwrap(),
        forge: Forges::default(),
        clusters: Sim::new(0).clusters,
        ownership: SimOwnership::default(),
        clock: SystemClock,
    };
    let author = Signature::new("Weir", "weir@example.org").unwrap();
    let engine = Engine::new(Arc::new(ports), Arc::new(World::new(1)), Settings::new(author));
    let proposals: kube::Api<weir_api::Proposal> = kube::Api::namespaced(ground.client.clone(), namespace);
    let seen = eventually("there is a proposal", async || match proposals.get_opt("podinfo-prod-1").await {
        Ok(Some(proposal)) if proposal.status.is_some() => Ok(proposal),
        other => Err(format!("{other:?}")),
    });
    let proposal = tokio::select! {
        proposal = seen => proposal,
        () = engine.run(std::future::pending()) => panic!("nobody stopped it"),
    };
    assert_eq!(proposal.spec.release["HelmRelease/podinfo"], "6.2.0");
    assert_eq!(proposal.spec.edits.unwrap()[0].after, "6.2.0");
    let phase = ["get", "promotion", "podinfo-prod-1", "-n", namespace, "-o", "jsonpath={.spec.from} {.status.phase}"];
    let phase = ground.hub.kubectl(&phase).await;
    assert!(phase.starts_with("dev P"), "{phase}");
}
