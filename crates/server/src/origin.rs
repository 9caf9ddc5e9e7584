//! Keeps pages of other origins away from a listener that lets everybody in.
//!
//! A browser sends requests wherever a page tells it to, and a page may make its own name lead to this machine. So a
//! request has to name the loopback host and the port that it came for, and must not come from another origin.

use axum::http::{HeaderMap, header};

use crate::problem::Problem;

/// Checks the host that a request names, and where it comes from.
pub(crate) fn check(headers: &HeaderMap, authority: Option<&str>, port: u16) -> Result<(), Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let named = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, None) => authority,
        _ => None,
    };
    let host = named.filter(|host| is_loopback(host, port)).ok_or_else(|| {
        Problem::forbidden(format!("only requests to `localhost:{port}` are served here, by that name or its address"))
    })?;
    let foreign = || Problem::forbidden("requests that pages of another origin make are not served");
    for origin in headers.get_all(header::ORIGIN) {
        let same = origin.to_str().is_ok_and(|origin| {
            let place = origin.strip_prefix("http://");
            place.is_some_and(|place| place.eq_ignore_ascii_case(host))
        });
        if !same {
            return Err(foreign());
        }
    }
    // `none` is what a person typed or bookmarked.
    let near = |site: &axum::http::HeaderValue| matches!(site.as_bytes(), b"same-origin" | b"none");
    if !headers.get_all("sec-fetch-site").iter().all(near) {
        return Err(foreign());
    }
    Ok(())
}

fn is_loopback(host: &str, port: u16) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| &host[name.len()..]);
        rest.is_some_and(|rest| match rest.strip_prefix(':') {
            Some(named) => named == port.to_string(),
            None => rest.is_empty() && port == 80,
        })
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn allowed(headers: &[(&'static str, &'static str)]) -> bool {
        let each = headers.iter();
        let headers = each.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        check(&map, None, 8082).is_ok()
    }

    #[test]
    fn only_the_loopback_host_and_its_port_are_served() {
        for good in ["localhost:8082", "LOCALHOST:8082", "127.0.0.1:8082", "[::1]:8082"] {
            assert!(allowed(&[("host", good)]), "{good}");
        }
        let bad =
            ["localhost", "localhost:80", "evil.example", "localhost.evil.example:8082", "127.0.0.1:8082.evil", ""];
        for bad in bad {
            assert!(!allowed(&[("host", bad)]), "{bad}");
        }
        assert!(!allowed(&[]) && !allowed(&[("host", "localhost:8082"), ("host", "evil.example")]));
    }

    #[test]
    fn a_page_of_another_origin_is_kept_away() {
        let from = |name, value| allowed(&[("host", "localhost:8082"), (name, value)]);
        assert!(from("origin", "http://localhost:8082"));
        for bad in ["http://localhost:3000", "https://localhost:8082", "http://evil.example", "null", ""] {
            assert!(!from("origin", bad), "{bad}");
        }
        assert!(from("sec-fetch-site", "same-origin") && from("sec-fetch-site", "none"));
        assert!(!from("sec-fetch-site", "cross-site") && !from("sec-fetch-site", "same-site"));
    }
}
