//! What is measured of a process, and how it is printed.

use std::{fmt::Display, fs, time::Duration};

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

pub(crate) fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}

pub(crate) fn row(what: &str, value: impl Display) {
    println!("  {what:<66} {value}");
}

/// The resident memory of a process, in MB.
pub(crate) fn memory(process: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    };
    format!("{:.1} (at most {:.1}; {:.1} of it the program itself)", of("VmRSS"), of("VmHWM"), of("RssFile"))
}

/// The processor time of a process, and of those it started and waited for.
pub(crate) fn cpu(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(4).map(|number| number.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
