//! What real controllers of Flux deployed, as it is seen.

use weir_core::VersionRule;
use weir_ports::{Clusters as _, TreeObject, TreeState};
use weir_testkit::servers::{Chart, shared, unique};

use crate::leaf_ground::{Eye, images, is, quick};

#[tokio::test]
async fn a_release_that_flux_installed_and_upgraded_is_seen_with_its_version_and_images() {
    let (leaf, gitea) = (shared::leaf().await, shared::gitea().await);
    let namespace = leaf.cluster().namespace("podinfo").await;
    let owner = unique("charts");
    gitea.create_organisation(&owner).await;
    for version in ["6.1.0", "6.2.0"] {
        gitea.upload_chart(&owner, &Chart::new("podinfo", version).image("example.org/podinfo", version)).await;
    }
    let charts = gitea.helm_repository_url(&owner);
    let deploy = async |version: &str| {
        let yaml = format!(
            "
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: charts, namespace: {namespace}}}
spec: {{interval: 1m, url: '{charts}'}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: podinfo, namespace: {namespace}}}
spec:
  interval: 1m
  install: {{disableWait: true}}
  upgrade: {{disableWait: true}}
  values: {{message: '{version}'}}
  chart:
    spec: {{chart: podinfo, version: {version}, sourceRef: {{kind: HelmRepository, name: charts}}}}
"
        );
        leaf.cluster().apply(&yaml).await;
    };
    let mut eye = Eye::new(quick());
    eye.directory.define("one", &leaf.cluster().kubeconfig());
    let target = format!("fleet/one/{namespace}");
    eye.want("a/podinfo", "HelmRelease/podinfo", None, &[&target]);
    eye.want("a/image", "HelmRelease/podinfo", Some(VersionRule::Image("podinfo".into())), &[&target]);
    for version in ["6.1.0", "6.2.0"] {
        deploy(version).await;
        eye.until("a/podinfo", &target, is("HelmRelease/podinfo", version)).await;
        let seen = eye.until("a/image", &target, is("HelmRelease/podinfo", version)).await;
        assert_eq!(images(&seen, "HelmRelease/podinfo"), [format!("example.org/podinfo:{version}")]);
    }

    let tree = eye.leaves.behind(&target.parse().unwrap(), &"HelmRelease/podinfo".parse().unwrap()).await.unwrap();
    let chart = format!("{namespace}-podinfo");
    let [chart_object] = &tree.leads_to[..] else { panic!("{tree:#?}") };
    let [release] = &chart_object.leads_to[..] else { panic!("{tree:#?}") };
    let told = |it: &TreeObject| (it.kind.clone(), it.name.clone(), it.state);
    assert_eq!(told(&tree), ("HelmRepository".to_owned(), "charts".to_owned(), TreeState::Healthy));
    assert_eq!(told(chart_object), ("HelmChart".to_owned(), chart, TreeState::Healthy));
    assert_eq!(told(release), ("HelmRelease".to_owned(), "podinfo".to_owned(), TreeState::Healthy));
    assert_eq!((chart_object.version.as_deref(), release.version.as_deref()), (Some("6.2.0"), Some("6.2.0")));
    // Nobody runs it here, so it stays on its way.
    let [settings, deployment] = &release.leads_to[..] else { panic!("{tree:#?}") };
    assert_eq!((settings.kind.as_str(), settings.state), ("ConfigMap", TreeState::Unread));
    assert_eq!(told(deployment), ("Deployment".to_owned(), "podinfo".to_owned(), TreeState::Progressing));
    assert_eq!(deployment.version.as_deref(), Some("example.org/podinfo:6.2.0"));
}
