//! Questions of many that are answered together.
//!
//! Whoever comes while an answer is under way joins the next round. Nothing runs on its own: whoever gets the turn first
//! answers for all who have joined; if it is dropped before that, the next one does.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

/// Rounds of questions, one after the other for each key.
pub(crate) struct Gather<K, Q, A> {
    next: Mutex<HashMap<K, Arc<Round<Q, A>>>>,
}

/// Questions that are answered together.
pub(crate) struct Round<Q, A> {
    questions: Mutex<Vec<Q>>,
    answer: OnceCell<A>,
}

/// A place in a round.
pub(crate) struct Seat<K, Q, A> {
    key: K,
    round: Arc<Round<Q, A>>,
    pub(crate) place: usize,
}

impl<K, Q, A> Default for Gather<K, Q, A> {
    fn default() -> Self {
        Self { next: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash, Q: Clone, A: Clone> Gather<K, Q, A> {
    /// Adds a question to the next round.
    pub(crate) fn join(&self, key: K, question: Q) -> Seat<K, Q, A> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Round { questions: Mutex::default(), answer: OnceCell::new() });
        let round = Arc::clone(next.entry(key).or_insert_with(new));
        let mut questions = round.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.push(question);
        let place = questions.len() - 1;
        drop(questions);
        Seat { key, round, place }
    }

    /// The answer of a round. The caller has the turn, so that there is one answer under way at a time.
    pub(crate) async fn answer(&self, seat: &Seat<K, Q, A>, answer: impl AsyncFnOnce(Vec<Q>) -> A) -> A {
        let given = seat.round.answer.get_or_init(async || answer(self.close(seat)).await);
        given.await.clone()
    }

    /// Closes a round that is about to be answered, so that nobody joins it any more.
    fn close(&self, seat: &Seat<K, Q, A>) -> Vec<Q> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.get(&seat.key).is_some_and(|next| Arc::ptr_eq(next, &seat.round)) {
            next.remove(&seat.key);
        }
        seat.round.questions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
