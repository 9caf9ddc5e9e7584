//! Answers that are asked for again and again, kept as long as the forge says that they are still right.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use reqwest::{
    Url,
    header::{ETAG, HeaderMap, HeaderValue},
};

use super::Answer;

/// How many answers are kept, with one set of credentials.
const MOST: usize = 128;

/// Longer ones are read anew.
const LONGEST: usize = 128 << 10;

/// The last answers that carried an `ETag`, the one that was used last at the end.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<Entry>>);

#[derive(Debug)]
struct Entry {
    url: Url,
    tag: HeaderValue,
    answer: Answer,
}

impl Kept {
    /// The tag of what is kept of an address.
    pub(super) fn tag(&self, url: &Url) -> Option<HeaderValue> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().find(|entry| entry.url == *url).map(|entry| entry.tag.clone())
    }

    /// What is kept of an address, after the forge said that it is still right.
    pub(super) fn recall(&self, url: &Url) -> Option<Answer> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = entries.iter().position(|entry| entry.url == *url)?;
        let entry = entries.remove(place)?;
        let answer = entry.answer.clone();
        entries.push_back(entry);
        Some(answer)
    }

    /// Keeps an answer, if it can be asked for again.
    pub(super) fn keep(&self, url: &Url, headers: &HeaderMap, answer: &Answer) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.url != *url);
        let Some(tag) = headers.get(ETAG).filter(|_| answer.body.len() <= LONGEST) else { return };
        if entries.len() == MOST {
            entries.pop_front();
        }
        entries.push_back(Entry { url: url.clone(), tag: tag.clone(), answer: answer.clone() });
    }
}
