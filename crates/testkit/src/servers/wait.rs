//! Waiting for a condition.

use std::fmt::Display;
use std::time::{Duration, Instant};

/// How long anything may take here. Generous: the machine may be busy, and who waits for something that comes does not
/// wait longer for it.
pub const PATIENCE: Duration = Duration::from_mins(2);

const PAUSE: Duration = Duration::from_millis(50);

/// Asks again and again until the answer is `Ok`, and panics with the last `Err` if it is not in time.
pub async fn eventually<T, E: Display>(what: &str, mut ask: impl AsyncFnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) if Instant::now() > deadline => {
                panic!("{what}: not so after {} s: {error}", PATIENCE.as_secs())
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
