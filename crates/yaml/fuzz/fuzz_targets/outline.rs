//! The second law of `weir-yaml` over any text: what lines alone say is what the parser says.
//!
//! Run it in `crates/yaml/fuzz` with `cargo +nightly fuzz run outline corpus/outline seeds/outline -- -dict=yaml.dict`.
#![no_main]

#[path = "../../tests/yaml/agreement.rs"]
mod agreement;
#[path = "../../tests/yaml/law.rs"]
mod law;

use std::panic;

use libfuzzer_sys::fuzz_target;
use weir_yaml::{Selector, Value};

// The judge may panic where it cannot judge, see `law`.
fuzz_target!(init: panic::set_hook(Box::new(|_| {})), |text: &str| {
    let obeyed = agreement::agreed(text).and_then(|found| {
        let edits = |marker| [(Selector::Marker(marker), Value::new("2.0.0"))];
        let found = found.unwrap_or_default();
        found.iter().try_for_each(|one| law::obeyed(text, &edits((&one.marker).into())).map(|_| ()))
    });
    if let Err(broken) = obeyed {
        eprintln!("{broken}\nin {text:?}");
        std::process::abort();
    }
});
