//! What a webhook is signed with.

use std::fmt::Write;

use aws_lc_rs::hmac;

/// The HMAC of a body, as hexadecimal digits.
pub(crate) fn sha256(secret: &str, body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body);
    tag.as_ref().iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").unwrap();
        digits
    })
}
