//! Copies that are made while the store is used.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tempfile::TempDir;
use weir_local::{BackupError, LocalStore};
use weir_ports::{Record, Store};
use weir_testkit::records::memory;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_busy_store_opens_and_is_of_one_moment() {
    let folder = TempDir::new().unwrap();
    let store = Arc::new(LocalStore::open(folder.path()).unwrap());
    let written = Arc::new(AtomicU64::new(0));
    // Every round writes `a` and then `b`, so at every moment `a` is `b` or one ahead.
    let writer = {
        let (store, written) = (Arc::clone(&store), Arc::clone(&written));
        tokio::spawn(async move {
            let mut a = store.create(memory("default/a", "prod", 0)).await.unwrap();
            let mut b = store.create(memory("default/b", "prod", 0)).await.unwrap();
            for round in 1..=300 {
                a = store.replace(memory("default/a", "prod", round), a).await.unwrap();
                b = store.replace(memory("default/b", "prod", round), b).await.unwrap();
                written.store(round, Ordering::SeqCst);
            }
        })
    };
    while written.load(Ordering::SeqCst) < 20 {
        assert!(!writer.is_finished());
        tokio::task::yield_now().await;
    }
    let copy = TempDir::new().unwrap();
    let before = written.load(Ordering::SeqCst);
    store.backup(&copy.path().join("weir.db")).await.unwrap();
    writer.await.unwrap();

    let restored = LocalStore::open(copy.path()).unwrap();
    let ordinal = async |pipeline: &str| {
        let found = restored.get(&memory(pipeline, "prod", 0).key()).await.unwrap().unwrap();
        let Record::Environment(_, _, memory) = found.record else { panic!("another record") };
        memory.last_ordinal
    };
    let (a, b) = (ordinal("default/a").await, ordinal("default/b").await);
    assert!(a == b || a == b + 1, "{a} {b}");
    assert!(b >= before);
    assert!(!copy.path().join("weir.db-journal").exists());
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(&folder.path().join("data")).unwrap();
    let file = folder.path().join("kept");
    std::fs::write(&file, "dear").unwrap();
    let refused = store.backup(&file).await.unwrap_err();
    assert!(matches!(refused, BackupError::Exists { .. }));
    let words =
        format!("backing up to `{}` was refused: the file exists; give another name, or move it away", file.display());
    assert_eq!(refused.to_string(), words);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "dear");
    let nowhere = store.backup(&folder.path().join("missing/weir.db")).await;
    assert!(matches!(nowhere, Err(BackupError::Io { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
