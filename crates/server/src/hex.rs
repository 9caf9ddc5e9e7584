//! Bytes as hexadecimal digits.

/// Bytes as two digits each.
pub(crate) fn write(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// The bytes that digits stand for. `None`: they stand for nothing.
pub(crate) fn read(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| if let [high, low] = pair { Some(digit(*high)? << 4 | digit(*low)?) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [b"".as_slice(), b"\x00\x0f\xf0\xff", b"default/podinfo"] {
            assert_eq!(read(&write(bytes)).as_deref(), Some(bytes));
        }
        assert_eq!(write(b"\x0f\xa0"), "0fa0");
        assert!(read("abc").is_none() && read("zz").is_none() && read("\u{e4}").is_none());
    }
}
