//! What Flux's helm-controller and notification-controller say, as the agents of the demo say it.

use aws_lc_rs::hmac;
use jiff::Timestamp;
use serde_json::{Value, json};

/// How a deployment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

pub(super) fn event(cluster: &str, version: &str, ended: Ended, at: Timestamp) -> Value {
    let (severity, reason, message) = match ended {
        Ended::Well => (
            "info",
            "UpgradeSucceeded",
            format!("Helm upgrade succeeded for release podinfo/podinfo with chart podinfo@{version}"),
        ),
        Ended::Badly => (
            "error",
            "UpgradeFailed",
            format!(
                "Helm upgrade failed for release podinfo/podinfo with chart podinfo@{version}: context deadline exceeded"
            ),
        ),
    };
    json!({
        "involvedObject": {
            "kind": "HelmRelease",
            "namespace": "podinfo",
            "name": "podinfo",
            "uid": format!("00000000-0000-4000-8000-{:0>12}", cluster.bytes().map(u64::from).sum::<u64>()),
            "apiVersion": "helm.toolkit.fluxcd.io/v2",
        },
        "severity": severity,
        "timestamp": at.to_string(),
        "message": message,
        "reason": reason,
        "metadata": { "helm.toolkit.fluxcd.io/revision": version, "cluster": cluster },
        "reportingController": "helm-controller",
        "reportingInstance": format!("helm-controller-{cluster}"),
    })
}

/// The `X-Signature` of a body, as Flux's `generic-hmac` provider makes it.
pub(super) fn signature(key: &str, body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()), body);
    let digits = tag.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256={}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_one_that_others_compute() {
        let expected = "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8";
        assert_eq!(signature("key", b"The quick brown fox jumps over the lazy dog"), expected);
    }
}
