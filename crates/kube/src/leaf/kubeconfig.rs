//! What a kubeconfig may ask of Weir.
//!
//! Whoever may write a kubeconfig Secret is not thereby somebody who may run programs or read files where Weir runs. No
//! error here shows anything of a kubeconfig but the names of fields, and the host.

use kube::config::{AuthInfo, Cluster, Kubeconfig};

use super::LeafSettings;

/// Reads a kubeconfig, and refuses what is not allowed. What is not of the current context counts for nothing.
pub(super) fn checked(bytes: &[u8], settings: &LeafSettings) -> Result<Kubeconfig, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    // The reason would show what it stumbled on.
    let kubeconfig =
        Kubeconfig::from_yaml(text).map_err(|_| "it is not YAML in the form of a kubeconfig".to_owned())?;
    let (cluster, user) = current(&kubeconfig)?;
    check_cluster(cluster, settings)?;
    check_user(user, settings)?;
    Ok(kubeconfig)
}

fn current(kubeconfig: &Kubeconfig) -> Result<(&Cluster, &AuthInfo), String> {
    let name = kubeconfig.current_context.as_deref().filter(|name| !name.is_empty());
    let name = name.ok_or("it has no `current-context`")?;
    let context = kubeconfig.contexts.iter().find(|it| it.name == name).and_then(|it| it.context.as_ref());
    let context = context.ok_or("its `current-context` is not among its `contexts`")?;
    let cluster = kubeconfig.clusters.iter().find(|it| it.name == context.cluster).and_then(|it| it.cluster.as_ref());
    let cluster = cluster.ok_or("the `cluster` of its current context is not among its `clusters`")?;
    let user = context.user.as_ref().ok_or("its current context has no `user`")?;
    let user = kubeconfig.auth_infos.iter().find(|it| it.name == *user).and_then(|it| it.auth_info.as_ref());
    Ok((cluster, user.ok_or("the `user` of its current context is not among its `users`")?))
}

fn check_cluster(cluster: &Cluster, settings: &LeafSettings) -> Result<(), String> {
    refuse_files(&[("certificate-authority", cluster.certificate_authority.as_ref())], settings)?;
    let server = cluster.server.as_deref().filter(|server| !server.is_empty());
    let server = server.ok_or("its cluster has no `server`")?;
    let insecure = |what: &str| Err(format!("{what}; `weir serve --allow-insecure-tls` allows that"));
    if !settings.allow_insecure_tls && cluster.insecure_skip_tls_verify == Some(true) {
        return insecure("`insecure-skip-tls-verify` leaves open who answers");
    }
    if !settings.allow_insecure_tls && server.starts_with("http://") && !is_loopback(server) {
        return insecure("its `server` is plain http, which everybody on the way can read and change");
    }
    if cluster.proxy_url.as_ref().is_some_and(|url| !url.is_empty()) {
        return Err("`proxy-url` is not supported".to_owned());
    }
    Ok(())
}

fn check_user(user: &AuthInfo, settings: &LeafSettings) -> Result<(), String> {
    let programs = [("exec", user.exec.is_some()), ("auth-provider", user.auth_provider.is_some())];
    if let Some((field, _)) = programs.iter().find(|(_, set)| *set && !settings.allow_exec) {
        return Err(format!(
            "`{field}` starts a program where Weir runs; `weir serve --allow-kubeconfig-exec` allows that"
        ));
    }
    let files = [
        ("client-certificate", user.client_certificate.as_ref()),
        ("client-key", user.client_key.as_ref()),
        ("tokenFile", user.token_file.as_ref()),
    ];
    refuse_files(&files, settings)
}

fn refuse_files(fields: &[(&str, Option<&String>)], settings: &LeafSettings) -> Result<(), String> {
    let set = fields.iter().find(|(_, path)| path.is_some_and(|path| !path.is_empty()));
    match set {
        Some((field, _)) if !settings.allow_files => Err(format!(
            "`{field}` names a file where Weir runs; put its content into the kubeconfig, or allow that with `weir serve \
             --allow-kubeconfig-files`"
        )),
        _ => Ok(()),
    }
}

fn is_loopback(server: &str) -> bool {
    let rest = server.strip_prefix("http://").unwrap_or(server);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cret-v4lue";

    fn kubeconfig(cluster: &str, user: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {SECRET}\ncontexts: [{{name: {SECRET}, context: {{cluster: \
             c, user: u}}}}]\nclusters: [{{name: c, cluster: {{{cluster}}}}}, {{name: other, cluster: {{server: \
             'http://far.example.org', insecure-skip-tls-verify: true}}}}]\nusers: [{{name: u, user: {{{user}}}}}, \
             {{name: other, user: {{exec: {{command: x}}}}}}]\n"
        )
    }

    fn refusal(cluster: &str, user: &str) -> String {
        let text = kubeconfig(cluster, user);
        let error = checked(text.as_bytes(), &LeafSettings::default()).unwrap_err();
        assert!(!error.contains(SECRET), "{error}");
        error
    }

    #[test]
    fn what_is_not_of_the_current_context_counts_for_nothing() {
        let text = kubeconfig("server: 'https://prod.example.org'", "token: t");
        checked(text.as_bytes(), &LeafSettings::default()).unwrap();
    }

    #[test]
    fn what_would_act_on_weirs_machine_is_refused_and_the_flag_named() {
        let server = "server: 'https://prod.example.org'";
        let exec = format!("exec: {{apiVersion: v1, command: {SECRET}}}");
        let provider = format!("auth-provider: {{name: gcp, config: {{cmd-path: {SECRET}}}}}");
        for (user, field) in [(exec.as_str(), "`exec`"), (provider.as_str(), "`auth-provider`")] {
            let error = refusal(server, user);
            assert!(error.contains(field) && error.contains("--allow-kubeconfig-exec"), "{error}");
        }
        for field in ["client-certificate", "client-key", "tokenFile"] {
            let error = refusal(server, &format!("token: t, {field}: /etc/{SECRET}"));
            assert!(error.contains(field) && error.contains("--allow-kubeconfig-files"), "{error}");
        }
        let error = refusal(&format!("{server}, certificate-authority: /etc/{SECRET}"), "token: t");
        assert!(error.contains("`certificate-authority`") && error.contains("--allow-kubeconfig-files"), "{error}");
    }

    #[test]
    fn who_answers_is_checked_except_on_this_very_machine() {
        let error = refusal("server: 'https://prod.example.org', insecure-skip-tls-verify: true", "token: t");
        assert!(error.contains("`insecure-skip-tls-verify`") && error.contains("--allow-insecure-tls"), "{error}");
        for far in ["http://10.0.0.1:80", "http://localhost.example.org", "http://127.0.0.1@far.example.org/"] {
            let error = refusal(&format!("server: '{far}'"), "token: t");
            assert!(error.contains("plain http") && error.contains("--allow-insecure-tls"), "{far}: {error}");
        }
        for near in ["http://127.0.0.1:8001", "http://localhost:8001/x", "http://[::1]:8001"] {
            let text = kubeconfig(&format!("server: '{near}'"), "token: t");
            checked(text.as_bytes(), &LeafSettings::default()).unwrap();
        }
    }

    #[test]
    fn everything_is_allowed_by_its_flag() {
        let user = "exec: {command: x}, client-key: /k, client-certificate: /c, tokenFile: /t";
        let cluster = "server: 'http://far.example.org', insecure-skip-tls-verify: true, certificate-authority: /a";
        let settings =
            LeafSettings { allow_exec: true, allow_files: true, allow_insecure_tls: true, ..LeafSettings::default() };
        checked(kubeconfig(cluster, user).as_bytes(), &settings).unwrap();
    }

    #[test]
    fn what_does_not_resolve_is_named() {
        let settings = LeafSettings::default();
        let cases = [
            ("{}", "no `current-context`"),
            ("current-context: a", "not among its `contexts`"),
            ("{current-context: a, contexts: [{name: a, context: {cluster: c}}]}", "not among its `clusters`"),
            (
                "{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: [{name: c, cluster: \
                 {server: 'https://x'}}]}",
                "has no `user`",
            ),
            (
                "{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, \
                 cluster: {server: 'https://x'}}]}",
                "not among its `users`",
            ),
            ("clusters: s3cret-v4lue", "not YAML in the form"),
        ];
        for (text, words) in cases {
            let error = checked(text.as_bytes(), &settings).unwrap_err();
            assert!(error.contains(words) && !error.contains(SECRET), "{text}: {error}");
        }
        assert!(refusal("certificate-authority-data: x", "token: t").contains("no `server`"));
        assert!(refusal("server: 'https://x', proxy-url: 'http://p:s3cret-v4lue@p'", "token: t").contains("proxy-url"));
    }
}
