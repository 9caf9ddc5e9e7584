//! What was seen last of every target, and who has not been told yet.
//!
//! Everything told gets the next number, and stands in the table under its newest number alone. So a follower needs to
//! know nothing but the number up to which it was told, however slow it is.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::watch;
use weir_core::{PipelineKey, Sighting, TargetKey};
use weir_ports::{Interest, Seen};

/// What was seen last.
#[derive(Default)]
pub(super) struct Board {
    table: Arc<Mutex<Table>>,
    news: watch::Sender<u64>,
}

#[derive(Default)]
struct Table {
    interests: BTreeMap<PipelineKey, Arc<Interest>>,
    /// What was seen last, under its number.
    seen: BTreeMap<u64, (PipelineKey, TargetKey, Option<Arc<Sighting>>)>,
    numbers: BTreeMap<(PipelineKey, TargetKey), u64>,
    last: u64,
}

impl Board {
    /// From now on this is asked for; what was seen for something else is forgotten.
    pub(super) fn expect(&self, pipeline: &PipelineKey, interest: Option<Arc<Interest>>) {
        let mut table = lock(&self.table);
        if let Some(before) = table.interests.remove(pipeline) {
            for target in before.targets.keys() {
                if let Some(number) = table.numbers.remove(&(pipeline.clone(), target.clone())) {
                    table.seen.remove(&number);
                }
            }
        }
        if let Some(interest) = interest {
            table.interests.insert(pipeline.clone(), interest);
        }
    }

    /// Takes in what is seen. What is seen for something that is no longer asked for counts for nothing.
    pub(super) fn tell(
        &self,
        pipeline: &PipelineKey,
        interest: &Arc<Interest>,
        target: &TargetKey,
        sighting: Option<Sighting>,
    ) {
        let number = {
            let mut table = lock(&self.table);
            let table = &mut *table;
            let asked = table.interests.get(pipeline);
            if !asked.is_some_and(|asked| Arc::ptr_eq(asked, interest) && asked.targets.contains_key(target)) {
                return;
            }
            let key = (pipeline.clone(), target.clone());
            if let Some(before) = table.numbers.get(&key) {
                if table.seen.get(before).is_some_and(|(_, _, known)| known.as_deref() == sighting.as_ref()) {
                    return;
                }
                table.seen.remove(before);
            }
            table.last += 1;
            table.numbers.insert(key, table.last);
            table.seen.insert(table.last, (pipeline.clone(), target.clone(), sighting.map(Arc::new)));
            table.last
        };
        self.news.send_modify(|newest| *newest = number.max(*newest));
    }

    /// Everything that is known, then whatever changes. It ends when nobody can tell any more.
    pub(super) fn follow(&self) -> impl Stream<Item = Seen> + Send + Unpin + 'static {
        let begin = (Arc::clone(&self.table), self.news.subscribe(), 0);
        stream::unfold(begin, |(table, mut news, told)| async move {
            loop {
                news.mark_unchanged();
                if let Some((number, seen)) = after(&table, told) {
                    return Some((seen, (table, news, number)));
                }
                news.changed().await.ok()?;
            }
        })
        .boxed()
    }
}

/// The first that was told after a number.
fn after(table: &Mutex<Table>, told: u64) -> Option<(u64, Seen)> {
    let table = lock(table);
    let (number, (pipeline, target, sighting)) = table.seen.range(told + 1..).next()?;
    let interest = Arc::clone(table.interests.get(pipeline)?);
    let seen = Seen { pipeline: pipeline.clone(), interest, target: target.clone(), sighting: sighting.clone() };
    Some((*number, seen))
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use weir_core::{Application, Unreachable};

    use super::*;

    fn interest() -> Arc<Interest> {
        let environment: weir_core::EnvironmentName = "e".parse().unwrap();
        let targets = ["dev", "prod"].map(|target| (target.parse().unwrap(), environment.clone())).into();
        Arc::new(Interest { application: Application::Labelled, version: None, targets })
    }

    fn lost(error: &str) -> Sighting {
        let since = "2024-01-01T00:00:00Z".parse().unwrap();
        Sighting { unreachable: Some(Unreachable { error: error.into(), since }), ..Sighting::default() }
    }

    fn told(stream: &mut (impl Stream<Item = Seen> + Unpin)) -> Vec<(String, Option<Sighting>)> {
        let mut all = Vec::new();
        while let Some(Some(seen)) = stream.next().now_or_never() {
            all.push((seen.target.to_string(), seen.sighting.as_deref().cloned()));
        }
        all
    }

    #[test]
    fn a_follower_gets_the_newest_of_everything_once() {
        let (board, pipeline, interest) = (Board::default(), "a/shop".parse().unwrap(), interest());
        let (dev, prod) = ("dev".parse().unwrap(), "prod".parse().unwrap());
        board.expect(&pipeline, Some(Arc::clone(&interest)));
        let mut early = board.follow();
        board.tell(&pipeline, &interest, &dev, Some(lost("one")));
        board.tell(&pipeline, &interest, &prod, None);
        board.tell(&pipeline, &interest, &dev, Some(lost("two")));
        let both = vec![("prod".to_owned(), None), ("dev".to_owned(), Some(lost("two")))];
        assert_eq!(told(&mut early), both);
        board.tell(&pipeline, &interest, &dev, Some(lost("two")));
        assert_eq!(told(&mut early), [], "nothing changed");
        assert_eq!(told(&mut board.follow()), both, "who comes later gets it all");
        board.tell(&pipeline, &interest, &prod, Some(lost("one")));
        assert_eq!(told(&mut early), [("prod".to_owned(), Some(lost("one")))]);
    }

    #[test]
    fn what_is_no_longer_asked_for_is_forgotten() {
        let (board, pipeline, old) = (Board::default(), "a/shop".parse().unwrap(), interest());
        let dev = "dev".parse().unwrap();
        board.expect(&pipeline, Some(Arc::clone(&old)));
        board.tell(&pipeline, &old, &dev, None);
        let new = interest();
        board.expect(&pipeline, Some(Arc::clone(&new)));
        let mut follower = board.follow();
        board.tell(&pipeline, &old, &dev, Some(lost("late")));
        assert_eq!(told(&mut follower), []);
        board.tell(&pipeline, &new, &dev, None);
        assert_eq!(told(&mut follower), [("dev".to_owned(), None)]);
        board.expect(&pipeline, None);
        assert!(lock(&board.table).seen.is_empty() && lock(&board.table).numbers.is_empty());
        drop(board);
        assert!(follower.next().now_or_never().is_some_and(|end| end.is_none()), "nobody can tell any more");
    }
}
