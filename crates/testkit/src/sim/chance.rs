//! Chance that repeats itself.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Numbers that look like chance, and are the same for the same seed (splitmix64).
#[derive(Debug, Clone)]
pub struct Chance(Arc<AtomicU64>);

impl Chance {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Whether something happens that happens so many times in a thousand.
    pub fn happens(&self, in_a_thousand: u64) -> bool {
        self.below(1000) < in_a_thousand
    }

    /// One of several.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        let place = usize::try_from(self.below(from.len() as u64)).unwrap_or_default();
        from.get(place)
    }
}
