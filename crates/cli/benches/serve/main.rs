//! A whole server, in a process of its own, with real repositories on a real disk: how fast, how much, and how little.
//!
//! `cargo bench -p weir --bench serve -- proposal together` runs some parts; without names, all of them. Client and server
//! share the cores of one machine, so what the client takes is missing to the server.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up shall stop")]
#![expect(clippy::print_stdout, reason = "what was measured is the output")]

mod client;
#[path = "../common/measure.rs"]
mod measure;
mod site;

use std::{
    fs,
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    client::{Client, event},
    measure::{cpu, load, median, ms, row},
    site::{APPROVAL, Running, Site, git, until},
};

/// The parts, by the names that choose them.
const PARTS: [(&str, fn()); 6] = [
    ("proposal", proposal),
    ("together", together),
    ("accepts", accepts),
    ("memory", memory),
    ("idle", idle),
    ("restart", restart),
];

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it is there.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let chosen = |name: &str| arguments.iter().all(|it| it.starts_with('-')) || arguments.iter().any(|it| it == name);
    for (name, run) in PARTS.into_iter().filter(|(name, _)| chosen(name)) {
        println!("\n{name} (load average {})", load());
        run();
    }
}

/// From an event to the open proposal, against the bare push of an equal commit, in turns.
fn proposal() {
    const ROUNDS: usize = 30;
    let site = Site::new();
    site.repository();
    site.pipelines(100, "", "");
    let server = site.start();
    let mut client = server.connect();
    let mut promote = |number| {
        let begun = Instant::now();
        let answer = client.report(number, &event(number, 1), "Prefer: wait=30\r\n");
        assert_eq!(answer.0, 201, "{}", answer.1);
        begun.elapsed()
    };
    let first = promote(0);
    let (mut proposals, mut pushes, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    git(&site.path(""), &["clone", "--quiet", "--bare", "config.git", "clone.git"], "");
    for number in 1..=ROUNDS {
        proposals.push(promote(number));
        pushes.push(site.bare_push(number));
    }
    for number in ROUNDS + 1..=2 * ROUNDS {
        site.commit("config.git", "main", number);
        moved.push(promote(number));
    }
    let (proposal, push, moved) = (median(&mut proposals), median(&mut pushes), median(&mut moved));
    row("the first, with an empty cache", ms(first));
    row("event to open proposal, median", ms(proposal));
    row("bare git push, median", ms(push));
    row("more than the bare push", ms(proposal.saturating_sub(push)));
    row("event to open proposal, base branch moved before, median", ms(moved));
}

/// A hundred applications of one repository at once, into an empty cache.
fn together() {
    const COUNT: usize = 100;
    let site = Site::new();
    site.repository();
    site.pipelines(COUNT, "", "");
    site.count_calls();
    let server = site.start();
    let barrier = Barrier::new(COUNT + 1);
    let took = thread::scope(|scope| {
        for number in 0..COUNT {
            let (barrier, mut client, body) = (&barrier, server.connect(), event(number, 1));
            scope.spawn(move || {
                barrier.wait();
                let answer = client.report(number, &body, "");
                assert_eq!(answer.0, 202, "{}", answer.1);
            });
        }
        barrier.wait();
        Instant::now()
    });
    // Only so many may wait for an outcome at the same time; the log tells of all.
    until("all proposals are open", || {
        fs::read_to_string(site.path("log")).unwrap().matches("proposal opened").count() == COUNT
    });
    row("until all proposals are open", ms(took.elapsed()));
    let calls = fs::read_to_string(site.path("calls")).unwrap();
    let count = |verb: &str| calls.lines().filter(|line| line.split(' ').any(|word| word == verb)).count();
    row("fetches", count("fetch"));
    row("pushes that the repository saw", fs::read_to_string(site.path("pushes")).unwrap_or_default().lines().count());
    row("looks", count("ls-remote"));
    row("calls of git", calls.lines().count());
}

/// How many connections report about a thousand pipelines, and for how long.
const CONNECTIONS: u32 = 64;
const FLOOD: Duration = Duration::from_secs(10);

/// Durable accepts: once with nothing to decide, once with a promotion for each that waits for an approval; as many as
/// is the goal, and then as many as there can be: what a flood leaves to be done would be counted to what comes after it.
fn accepts() {
    for (what, spec, gates) in [("suspended", "  suspend: true\n", ""), ("held by an approval", "", APPROVAL)] {
        let site = Site::new();
        site.repository();
        site.pipelines(1_000, spec, gates);
        let server = site.start();
        for rate in [Some(3_000), None] {
            let mut taken = flood(&server, rate);
            taken.times.sort_unstable();
            let asked = rate.map_or_else(|| "at most".to_owned(), |rate| format!("{rate} wanted"));
            let what = format!("{what}, {asked}");
            row(&format!("{what}: accepts a second"), taken.times.len() as u64 / FLOOD.as_secs());
            row(&format!("{what}: p50"), ms(taken.times[taken.times.len() / 2]));
            row(&format!("{what}: p99"), ms(taken.times[taken.times.len() * 99 / 100]));
            row(&format!("{what}: the longest"), ms(taken.times[taken.times.len() - 1]));
            let share = |time: Duration| format!("{:.2}", time.as_secs_f64() / FLOOD.as_secs_f64());
            row(&format!("{what}: cores of the server"), share(taken.server));
            row(&format!("{what}: cores of the client"), share(taken.client));
        }
    }
}

struct Taken {
    times: Vec<Duration>,
    server: Duration,
    client: Duration,
}

/// Posts new versions over kept-open connections: as fast as each is answered, or as many a second as is wanted.
fn flood(server: &Running, rate: Option<u32>) -> Taken {
    let barrier = Barrier::new(CONNECTIONS as usize + 1);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|first| {
                let (barrier, client) = (&barrier, server.connect());
                scope.spawn(move || {
                    barrier.wait();
                    report_for_a_while(client, first, rate)
                })
            })
            .collect();
        barrier.wait();
        let before = (server.cpu(), cpu(std::process::id()));
        thread::sleep(FLOOD);
        let after = (server.cpu(), cpu(std::process::id()));
        let times = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        Taken { times, server: after.0.saturating_sub(before.0), client: after.1.saturating_sub(before.1) }
    })
}

/// What one connection reports, each with pipelines of its own, and how long each report took. At a given rate that is
/// counted from when it was due, so that one which had to wait for the one before it does not look quick.
fn report_for_a_while(mut client: Client, first: u32, rate: Option<u32>) -> Vec<Duration> {
    let pace = rate.map(|rate| Duration::from_secs(1) * CONNECTIONS / rate);
    let begin = Instant::now();
    let mut times = Vec::new();
    for (sent, number) in (0..).zip((first as usize..1_000).step_by(CONNECTIONS as usize).cycle()) {
        let body = event(number, next_version());
        let due = pace.map(|pace| begin + pace * first / CONNECTIONS + pace * sent);
        if let Some(due) = due {
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        let due = due.unwrap_or_else(Instant::now);
        if due >= begin + FLOOD {
            break;
        }
        let answer = client.report(number, &body, "");
        assert_eq!(answer.0, 202, "{}", answer.1);
        times.push(due.elapsed());
    }
    times
}

/// One that nobody has reported yet.
fn next_version() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

fn memory() {
    let site = Site::new();
    site.repository();
    site.pipelines(1_000, "", APPROVAL);
    let server = site.start();
    row("1,000 pipelines, before the first event, MB", server.memory());
    server.one_each(1_000);
    site.rest();
    row("1,000 pipelines, one event each, MB", server.memory());
}

const MANY: usize = 5_000;

fn idle() {
    let site = Site::new();
    site.repository();
    site.pipelines(MANY, "", APPROVAL);
    let server = site.start();
    server.one_each(MANY);
    site.rest();
    let (before, stamps) = (server.cpu(), site.stamps());
    thread::sleep(Duration::from_mins(1));
    let used = server.cpu().saturating_sub(before).as_secs_f64() / 60.0;
    row("5,000 idle pipelines: share of a core over 60 s", format!("{:.2} %", used * 100.0));
    row("5,000 idle pipelines: files of the store written to", if site.stamps() == stamps { "no" } else { "yes" });
    row("5,000 idle pipelines: MB", server.memory());
}

fn restart() {
    let site = Site::new();
    site.repository();
    site.pipelines(MANY + 1, "", APPROVAL);
    let server = site.start();
    server.one_each(MANY);
    site.rest();
    server.stop();
    let begun = Instant::now();
    let server = site.start();
    let ready = begun.elapsed();
    let mut client = server.connect();
    let answer = client.report(MANY, &event(MANY, 1), "");
    assert_eq!(answer.0, 202, "{}", answer.1);
    let place = format!("/api/v1/pipelines/default/app-{MANY}/environments/prod");
    until("the decision", || {
        let (_, body) = client.request("GET", &place, "", "");
        let found: Value = serde_json::from_str(&body).unwrap_or_default();
        found.pointer("/promotion/phase").is_some()
    });
    row("from the start of the process to ready", ms(ready));
    row("from the start of the process to the first decision", ms(begun.elapsed()));
}
