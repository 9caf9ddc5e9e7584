//! What the store of one machine bears: durable changes from tasks that ask at the same time, and the list of everything.
#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up shall stop")]

use std::{cell::Cell, future::poll_fn, pin::Pin, sync::Arc};

use divan::{Bencher, counter::ItemsCount};
use futures_core::Stream;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use weir_core::{Actor, Approval, EnvironmentRecord, Phase, Promotion, PromotionKey, Release, Turn};
use weir_local::LocalStore;
use weir_ports::{Notice, Record, RecordVersion, Store};

/// As many changes a round, however many tasks they are spread over.
const CHANGES: u64 = 1024;

/// 5,000 pipelines of three environments, each with its memory and a promotion.
const PIPELINES: usize = 5_000;

fn main() {
    divan::main();
}

/// On the disk of the target folder: the folder for temporary files may be in memory.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn memory(pipeline: &str, environment: &str, last_ordinal: u64) -> Record {
    let record = EnvironmentRecord { last_ordinal, ..EnvironmentRecord::default() };
    Record::Environment(pipeline.parse().unwrap(), environment.parse().unwrap(), Box::new(record))
}

fn promotion(pipeline: &str, environment: &str) -> Record {
    let key =
        PromotionKey { pipeline: pipeline.parse().unwrap(), environment: environment.parse().unwrap(), ordinal: 1 };
    let release = Release::of("HelmRelease/podinfo".parse().unwrap(), "1.0".parse().unwrap());
    let turn = |phase| Turn { phase, at: Timestamp::UNIX_EPOCH, note: Some("every target of `dev` runs it".into()) };
    let by = Actor { name: "anna".to_owned(), groups: vec!["release".to_owned()] };
    let approval = Approval { by, release: release.clone(), at: Timestamp::UNIX_EPOCH };
    Record::Promotion(Box::new(Promotion {
        phase: Phase::Delivered,
        soaked: Some(Timestamp::UNIX_EPOCH),
        history: vec![turn(Phase::Pending), turn(Phase::Proposed), turn(Phase::Delivered)],
        approvals: vec![approval],
        ..Promotion::new(key, "dev".parse().unwrap(), release, None)
    }))
}

#[divan::bench(args = [1, 64, 256], sample_count = 20, sample_size = 1)]
fn durable_replaces(bencher: Bencher<'_, '_>, tasks: u64) {
    let runtime = Runtime::new().unwrap();
    let folder = folder();
    let store = Arc::new(LocalStore::open(folder.path()).unwrap());
    let names: Vec<_> = (0..tasks).map(|task| format!("default/p{task}")).collect();
    let first = names.iter().map(|name| runtime.block_on(store.create(memory(name, "prod", 0))).unwrap());
    let versions: Cell<Vec<RecordVersion>> = Cell::new(first.collect());
    bencher.counter(ItemsCount::new(CHANGES)).bench_local(|| {
        let each = names.iter().cloned().zip(versions.take()).map(|(name, mut version)| {
            let store = Arc::clone(&store);
            runtime.spawn(async move {
                for number in 0..CHANGES / tasks {
                    version = store.replace(memory(&name, "prod", number), version).await.unwrap();
                }
                version
            })
        });
        let each: Vec<_> = each.collect();
        versions.set(each.into_iter().map(|task| runtime.block_on(task).unwrap()).collect());
    });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn list_30_000_records(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let folder = folder();
    let store = Arc::new(LocalStore::open(folder.path()).unwrap());
    let tasks = (0..PIPELINES).map(|number| {
        let store = Arc::clone(&store);
        runtime.spawn(async move {
            let name = format!("default/p{number}");
            for environment in ["dev", "qa", "prod"] {
                store.create(memory(&name, environment, 1)).await.unwrap();
                store.create(promotion(&name, environment)).await.unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        runtime.block_on(task).unwrap();
    }
    bencher.counter(ItemsCount::new(PIPELINES * 6)).bench_local(|| {
        let mut stream = store.watch();
        runtime.block_on(async {
            let mut count = 0;
            while let Some(Notice::Changed(_)) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await {
                count += 1;
            }
            assert_eq!(count, PIPELINES * 6);
        });
    });
}
