//! How several processes come to equal shares: who has less asks, in an annotation of a Lease, who has more to give it up.
//!
//! A wish changes nothing about who holds a Lease. It is answered by a holder that has at least two more than who asks, one
//! Lease at a time, so that shares move towards each other and never past.

use k8s_openapi::api::coordination::v1::Lease;

/// Who wants a Lease, and how many they have: `NAME COUNT`.
const WANTED: &str = "pipelines.weave.works/wanted-by";

/// A process, and how many Leases it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) by: String,
    pub(super) has: usize,
}

impl Wish {
    /// The wish that a Lease carries.
    pub(super) fn of(lease: &Lease) -> Option<Self> {
        let (by, has) = lease.metadata.annotations.as_ref()?.get(WANTED)?.rsplit_once(' ')?;
        Some(Self { by: by.to_owned(), has: has.parse().ok()? })
    }

    /// Puts it on a Lease.
    pub(super) fn put(&self, lease: &mut Lease) {
        let annotations = lease.metadata.annotations.get_or_insert_default();
        annotations.insert(WANTED.to_owned(), format!("{} {}", self.by, self.has));
    }

    /// Takes whatever wish there is off a Lease.
    pub(super) fn clear(lease: &mut Lease) {
        if let Some(annotations) = &mut lease.metadata.annotations {
            annotations.remove(WANTED);
        }
    }
}

/// Whether who has so many shall have one of who has so many more.
pub(super) fn is_unequal(less: usize, more: usize) -> bool {
    more > less + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_read_as_it_was_written() {
        let mut lease = Lease::default();
        assert_eq!(Wish::of(&lease), None);
        let wish = Wish { by: "host-0.0.0.0:8082".to_owned(), has: 3 };
        wish.put(&mut lease);
        assert_eq!(Wish::of(&lease), Some(wish));
        Wish::clear(&mut lease);
        assert_eq!(Wish::of(&lease), None);
    }

    #[test]
    fn shares_that_differ_by_one_are_equal_enough() {
        assert!(is_unequal(0, 2) && is_unequal(1, 4));
        assert!(!is_unequal(0, 1) && !is_unequal(2, 2) && !is_unequal(3, 1));
    }
}
