//! The signature of an event: an HMAC over the body, as it came.

use aws_lc_rs::hmac;
use axum::http::HeaderMap;
use thiserror::Error;

use crate::hex;

/// Why a signature does not count. Holds neither the signature nor the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum SignatureError {
    #[error("the event has no signature; send `X-Signature: sha256=HEX`, or use a Provider of type `generic-hmac`")]
    Missing,
    #[error("`X-Signature` has to be an algorithm, `=`, and hexadecimal digits: `sha256=HEX`")]
    Form,
    #[error("`X-Signature` names an algorithm that is not known; use `sha224`, `sha256`, `sha384` or `sha512`")]
    Algorithm,
    #[error("the signature is wrong; check that the sender's key is the `hmac-key` of the Secret, to the last byte")]
    Wrong,
}

/// Checks the signature of a body. How long that takes does not tell how much of it is right.
pub(super) fn verify(headers: &HeaderMap, body: &[u8], key: &[u8]) -> Result<(), SignatureError> {
    let mut all = headers.get_all("x-signature").iter();
    let value = all.next().ok_or(SignatureError::Missing)?;
    if all.next().is_some() {
        return Err(SignatureError::Form);
    }
    let text = value.to_str().map_err(|_| SignatureError::Form)?;
    let (name, digits) = text.split_once('=').ok_or(SignatureError::Form)?;
    let algorithm = match name {
        "sha224" => hmac::HMAC_SHA224,
        "sha256" => hmac::HMAC_SHA256,
        "sha384" => hmac::HMAC_SHA384,
        "sha512" => hmac::HMAC_SHA512,
        _ => return Err(SignatureError::Algorithm),
    };
    let tag = hex::read(digits).ok_or(SignatureError::Form)?;
    // Compares in constant time, and takes no tag that is cut short.
    hmac::verify(&hmac::Key::new(algorithm, key), body, &tag).map_err(|_| SignatureError::Wrong)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn signed(name: &str, algorithm: hmac::Algorithm, body: &[u8], key: &[u8]) -> String {
        format!("{name}={}", hex::write(hmac::sign(&hmac::Key::new(algorithm, key), body).as_ref()))
    }

    fn check(header: &str) -> Result<(), SignatureError> {
        let mut headers = HeaderMap::new();
        headers.insert("x-signature", HeaderValue::from_str(header).unwrap());
        verify(&headers, b"body", b"key")
    }

    #[test]
    fn every_algorithm_of_the_contract_is_known() {
        let all = [
            ("sha224", hmac::HMAC_SHA224),
            ("sha256", hmac::HMAC_SHA256),
            ("sha384", hmac::HMAC_SHA384),
            ("sha512", hmac::HMAC_SHA512),
        ];
        for (name, algorithm) in all {
            assert_eq!(check(&signed(name, algorithm, b"body", b"key")), Ok(()), "{name}");
            assert_eq!(check(&signed(name, algorithm, b"body", b"other")), Err(SignatureError::Wrong), "{name}");
            assert_eq!(check(&signed(name, algorithm, b"other", b"key")), Err(SignatureError::Wrong), "{name}");
        }
    }

    #[test]
    fn a_signature_that_is_not_whole_does_not_count() {
        let right = signed("sha256", hmac::HMAC_SHA256, b"body", b"key");
        assert_eq!(check(&right[..right.len() - 2]), Err(SignatureError::Wrong));
        assert_eq!(check(&right[..right.len() - 1]), Err(SignatureError::Form));
        assert_eq!(check("sha256="), Err(SignatureError::Wrong));
        assert_eq!(check("sha256"), Err(SignatureError::Form));
        assert_eq!(check("sha256=xx"), Err(SignatureError::Form));
        assert_eq!(check(&right.replace("sha256", "sha1")), Err(SignatureError::Algorithm));
        assert_eq!(verify(&HeaderMap::new(), b"body", b"key"), Err(SignatureError::Missing));
    }
}
