//! The law of `weir-yaml` over any text.
//!
//! Run it in `crates/yaml/fuzz` with `cargo +nightly fuzz run law corpus/law seeds -- -dict=yaml.dict`.
#![no_main]

#[path = "../../tests/yaml/law.rs"]
mod law;

use std::panic;

use libfuzzer_sys::fuzz_target;
use weir_yaml::{Location, Marker, MarkerFilter, Path, Selector, Value};

const DIGEST: &str = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// Values that are hard to write, one of which each input chooses.
const VERSIONS: [&str; 16] = [
    "2.0.0", "1.10", "yes", "~", "a: b", "a #b", "it's", "\"q\\", "a,b]", "- x", "ü", " ", "...", "*x", "{{ y }}",
    "a:b",
];

// The judge may panic where it cannot judge. The law catches that; the hook that ends the process would not let it.
fuzz_target!(init: panic::set_hook(Box::new(|_| {})), |input: (u8, &str)| {
    let (choice, text) = input;
    let mut value = Value::new(VERSIONS[usize::from(choice % 16)]);
    if choice & 0x10 != 0 {
        value = value.with_name("ghcr.io/x/y");
    }
    if choice & 0x20 != 0 {
        value = value.with_digest(DIGEST);
    }
    let selector = if choice & 0xc0 == 0 {
        "a".parse::<Path>().map(|path| Selector::Path(Location::from(path))).unwrap()
    } else {
        "a:b:c".parse::<Marker>().map(|marker| Selector::Marker(MarkerFilter::from(&marker))).unwrap()
    };
    if let Err(broken) = law::obeyed(text, &[(selector, value)]) {
        eprintln!("{broken}\nin {text:?}");
        std::process::abort();
    }
});
