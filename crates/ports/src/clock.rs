//! Time and chance.

use jiff::Timestamp;

/// The time, and whatever else differs from one run to the next.
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Timestamp;

    /// Returns when it is that time, at once if it has passed.
    fn sleep_until(&self, moment: Timestamp) -> impl Future<Output = ()> + Send;

    /// A number at random.
    fn random(&self) -> u64;
}
