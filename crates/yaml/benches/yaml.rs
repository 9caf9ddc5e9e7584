//! Finding the markers of a repository: 2,000 files of 2 kB, in memory, on one core.

use std::fmt::Write;

use divan::{Bencher, black_box, counter::BytesCount};
use weir_yaml::{MarkerFilter, Selector, Value, markers, set};

fn main() {
    divan::main();
}

const FILES: usize = 2_000;
const SIZE: usize = 2_000;

fn file(number: usize, marked: bool) -> String {
    let mark = if marked { " # {\"$promotion\": \"apps:podinfo:prod\"}" } else { "" };
    let mut text = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: app-{number}\n  namespace: apps\n\
         spec:\n  interval: 10m\n  chart:\n    spec:\n      chart: podinfo\n      \
         version: 6.2.{number}{mark}\n  values:\n"
    );
    let mut key = 0;
    while text.len() < SIZE {
        key += 1;
        let _ = write!(
            text,
            "    section{key}:\n      # what it is for\n      enabled: true\n      name: \"the name {key}\"\n      \
             ports:\n        - 80\n"
        );
    }
    text
}

fn files(one_in: usize) -> Vec<String> {
    (0..FILES).map(|number| file(number, number % one_in == 0)).collect()
}

fn bench_markers(bencher: Bencher<'_, '_>, files: &[String]) {
    bencher
        .counter(BytesCount::new(files.iter().map(String::len).sum::<usize>()))
        .bench(|| files.iter().map(|file| markers(black_box(file)).map_or(0, |found| found.len())).sum::<usize>());
}

#[divan::bench]
fn no_file_has_a_marker(bencher: Bencher<'_, '_>) {
    let files: Vec<String> = (0..FILES).map(|number| file(number, false)).collect();
    bench_markers(bencher, &files);
}

#[divan::bench]
fn one_file_in_a_hundred_has_a_marker(bencher: Bencher<'_, '_>) {
    bench_markers(bencher, &files(100));
}

#[divan::bench]
fn every_file_has_a_marker(bencher: Bencher<'_, '_>) {
    bench_markers(bencher, &files(1));
}

/// What a file costs that is not plain enough to be read by its lines.
#[divan::bench]
fn every_file_has_a_marker_and_needs_the_parser(bencher: Bencher<'_, '_>) {
    let files: Vec<String> = files(1).into_iter().map(|file| file + "    anchor: &a {}\n").collect();
    bench_markers(bencher, &files);
}

fn bench_set(bencher: Bencher<'_, '_>, environment: &str) {
    let file = file(1, true);
    let filter = MarkerFilter {
        namespace: "apps".to_owned(),
        pipeline: "podinfo".to_owned(),
        environment: environment.to_owned(),
        workload: None,
    };
    let edits = [(Selector::Marker(filter), Value::new("7.0.0"))];
    bencher.bench(|| set(black_box(&file), &edits).is_ok());
}

#[divan::bench]
fn one_value_is_set(bencher: Bencher<'_, '_>) {
    bench_set(bencher, "prod");
}

#[divan::bench]
fn the_value_of_another_environment_is_passed_over(bencher: Bencher<'_, '_>) {
    bench_set(bencher, "dev");
}
