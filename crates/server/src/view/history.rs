//! What ran in an environment, and how it came there.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{FirstSuccess, Phase, Promotion};

use super::{PromotionView, Release};

/// What ran in an environment, as far as that is remembered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryView {
    /// Newest first.
    items: Vec<StayView>,
}

/// A release that ran in an environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StayView {
    /// Which.
    release: Release,
    /// When it was first healthy there, on any target; of one that came back, when its promotion succeeded.
    since: Timestamp,
    /// When the next one was. Missing: none has come since.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// The promotion that brought it. Missing: it came without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<PromotionView>,
}

struct Stay<'a> {
    release: &'a weir_core::Release,
    since: Timestamp,
    promotion: Option<&'a Promotion>,
}

impl HistoryView {
    /// Puts together what was first seen when, and the promotions into the environment. What came back to an environment
    /// is known by its promotion alone.
    pub(crate) fn new(order: &[FirstSuccess], promotions: &[Promotion]) -> Self {
        let first = order.iter().map(|first| Stay {
            release: &first.release,
            since: first.at,
            promotion: promotions.iter().filter(|it| brought(it, first)).max_by_key(|it| it.key.ordinal),
        });
        let mut stays: Vec<_> = first.collect();
        let again =
            promotions.iter().filter(|it| !stays.iter().any(|stay| stay.promotion.is_some_and(|by| by.key == it.key)));
        let again =
            again.filter_map(|it| Some(Stay { release: &it.release, since: arrived(it)?, promotion: Some(it) }));
        stays.extend(again.collect::<Vec<_>>());
        stays.sort_by_key(|stay| stay.since);
        // Asking for what runs already brings nothing.
        stays.dedup_by(|later, earlier| later.release == earlier.release);
        let ends = stays.iter().skip(1).map(|next| Some(next.since)).chain([None]).collect::<Vec<_>>();
        let items = stays.iter().zip(ends).rev().map(|(stay, until)| StayView {
            release: stay.release.into(),
            since: stay.since,
            until,
            promotion: stay.promotion.map(PromotionView::from),
        });
        Self { items: items.collect() }
    }
}

/// Whether a promotion is how a release came when it was first seen.
fn brought(promotion: &Promotion, first: &FirstSuccess) -> bool {
    let reached = promotion.history.iter().any(|turn| matches!(turn.phase, Phase::Delivered | Phase::Succeeded));
    let begun = promotion.history.first().is_some_and(|turn| turn.at <= first.at);
    reached && begun && promotion.release.covers(&first.release)
}

fn arrived(promotion: &Promotion) -> Option<Timestamp> {
    promotion.history.iter().find(|turn| turn.phase == Phase::Succeeded).map(|turn| turn.at)
}

#[cfg(test)]
mod tests {
    use weir_core::{PromotionKey, Turn};

    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    fn release(version: &str) -> weir_core::Release {
        weir_core::Release::of("HelmRelease/app".parse().unwrap(), version.parse().unwrap())
    }

    fn first(version: &str, minute: i64) -> FirstSuccess {
        FirstSuccess { release: release(version), at: at(minute) }
    }

    fn promotion(ordinal: u64, version: &str, turns: &[(Phase, i64)]) -> Promotion {
        let environment = "prod".parse().unwrap();
        let key = PromotionKey { pipeline: "default/app".parse().unwrap(), environment, ordinal };
        let mut promotion = Promotion::new(key, "qa".parse().unwrap(), release(version), None);
        promotion.history =
            turns.iter().map(|(phase, minute)| Turn { phase: *phase, at: at(*minute), note: None }).collect();
        promotion.phase = turns.last().unwrap().0;
        promotion
    }

    /// What ran, newest first: the version, from when to when, and the turn that brought it.
    fn told(order: &[FirstSuccess], promotions: &[Promotion]) -> Vec<String> {
        let minute = |at: Timestamp| at.as_second() / 60;
        let each = HistoryView::new(order, promotions).items;
        let each = each.iter().map(|it| {
            let it = serde_json::to_value(it).unwrap();
            let time = |name: &str| it[name].as_str().map(|text| minute(text.parse().unwrap()));
            let by = &it["promotion"]["ordinal"];
            format!("{} {:?}..{:?} by {by}", it["release"]["name"].as_str().unwrap(), time("since"), time("until"))
        });
        each.collect()
    }

    #[test]
    fn what_ran_before_anything_was_promoted_is_there_too() {
        let order = [first("1.0.0", 0), first("1.1.0", 30)];
        let promotions =
            [promotion(1, "1.1.0", &[(Phase::Pending, 10), (Phase::Delivered, 20), (Phase::Succeeded, 31)])];
        let wanted = ["1.1.0 Some(30)..None by 1", "1.0.0 Some(0)..Some(30) by null"];
        assert_eq!(told(&order, &promotions), wanted);
        assert!(told(&[], &[]).is_empty());
    }

    #[test]
    fn what_was_overtaken_while_it_arrived_came_by_its_promotion_all_the_same() {
        let turns = [(Phase::Pending, 10), (Phase::Delivered, 20), (Phase::Superseded, 40)];
        assert_eq!(told(&[first("1.1.0", 30)], &[promotion(1, "1.1.0", &turns)]), ["1.1.0 Some(30)..None by 1"]);
    }

    #[test]
    fn what_came_back_is_there_again_and_what_came_to_nothing_is_not() {
        let order = [first("1.0.0", 0), first("1.1.0", 30)];
        let back = promotion(4, "1.0.0", &[(Phase::Pending, 50), (Phase::Delivered, 55), (Phase::Succeeded, 60)]);
        let promotions = [
            promotion(1, "1.1.0", &[(Phase::Pending, 10), (Phase::Succeeded, 30)]),
            promotion(2, "1.1.0", &[(Phase::Pending, 32), (Phase::Succeeded, 33)]),
            promotion(3, "1.2.0", &[(Phase::Pending, 40), (Phase::Rejected, 45)]),
            back,
        ];
        let wanted = ["1.0.0 Some(60)..None by 4", "1.1.0 Some(30)..Some(60) by 1", "1.0.0 Some(0)..Some(30) by null"];
        assert_eq!(told(&order, &promotions), wanted);
    }
}
