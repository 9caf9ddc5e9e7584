//! Many histories with their laws. A failing seed is printed; `WEIR_SEED=n` repeats it, `WEIR_HISTORIES=n` plays more.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use crate::history::play;

const HISTORIES: u64 = 1_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn every_history_keeps_the_laws() {
    let play =
        |seed| play(seed).unwrap_or_else(|broken| panic!("seed {seed}, which WEIR_SEED={seed} repeats: {broken}"));
    if let Some(seed) = number("WEIR_SEED") {
        play(seed);
        return;
    }
    let histories = number("WEIR_HISTORIES").unwrap_or(HISTORIES);
    let next = AtomicU64::new(0);
    let (crashes, pushes) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= histories {
                return;
            }
            let told = play(seed);
            crashes.fetch_add(told.crashes as u64, Ordering::Relaxed);
            pushes.fetch_add(told.pushes as u64, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..thread::available_parallelism().map_or(2, Into::into)).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    // A simulation in which nothing happens keeps every law.
    let (crashes, pushes) = (crashes.into_inner(), pushes.into_inner());
    assert!(
        crashes > histories && pushes > histories * 4,
        "{crashes} crashes, {pushes} pushes in {histories} histories"
    );
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in [1, 2, 3] {
        assert_eq!(play(seed), play(seed));
    }
}
