use crate::events::{Degraded, Speed};
use crate::sentinel::*;
use std::sync::atomic::Ordering::SeqCst;

const SECOND: u64 = 1_000_000_000;

fn sampled(of_each: &[&[u64]]) -> &'static [Slot] {
    let made = slots(of_each.len()).unwrap();
    made.iter().zip(of_each).for_each(|(slot, samples)| samples.iter().for_each(|ns| slot.add(*ns)));
    made
}

fn whys(list: Vec<Degraded>) -> Vec<String> {
    list.into_iter().map(|d| d.why).collect()
}

#[test]
fn each_online_cpu_has_a_summary_or_none() {
    let ten: Vec<u64> = (1..=11).rev().map(|n| n * 1000).collect();
    let speed = summarize(&[0, 1, 2, 3], &[3, 1], sampled(&[&[500], &ten]));
    let expected = Speed {
        mean_ns: vec![None, Some(3643), None, Some(500)],
        p10_ns: vec![None, Some(2000), None, Some(500)],
        p90_ns: vec![None, Some(10_000), None, Some(500)],
        n: vec![0, 11, 0, 1],
        cost_ns: 0,
    };
    assert_eq!(speed, expected);
}

#[test]
fn without_samples_there_is_no_speed() {
    let none = summarize(&[0, 1], &[0, 1], sampled(&[&[], &[]]));
    assert_eq!((none.mean_ns, none.n), (vec![None, None], vec![0, 0]));
    assert_eq!(summarize(&[], &[], &[]), Speed::default());
}

#[test]
fn of_a_long_run_samples_are_drawn_from_all_of_it() {
    let n = 3 * MAX_SAMPLES as u64;
    let all: Vec<u64> = (0..n).map(|i| if i < n / 2 { 10_000 } else { 30_000 }).collect();
    let speed = summarize(&[0], &[0], sampled(&[&all]));
    let mean = speed.mean_ns[0].unwrap();
    assert_eq!(speed.n, [n]);
    assert!((14_500..=15_500).contains(&mean), "{mean}");
}

#[test]
fn a_cpu_that_was_left_has_no_speed() {
    let slots = sampled(&[&[40_000, 41_000], &[50_000]]);
    slots[0].has_left.store(1, SeqCst);
    let speed = summarize(&[0, 1], &[0, 1], slots);
    assert_eq!((speed.mean_ns, speed.n), (vec![None, Some(50_000)], vec![0, 1]));
    assert_eq!(whys(missing(&[0, 1], slots, SECOND)), ["CPU 0 went offline during the run"]);
}

#[test]
fn what_is_missing_is_said_once_with_its_reason() {
    let slots = sampled(&[&[], &[], &[], &[]]);
    slots[0].no_cpu.store(libc::EINVAL, SeqCst);
    slots[2].no_policy.store(libc::EPERM, SeqCst);
    slots[2].add(1);
    let said = whys(missing(&[4, 5, 6, 7], slots, SECOND));
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with("no thread on CPU 4: EINVAL") && said[1] == "CPU 5 gave it no time", "{said:?}");
    assert!(said[2].starts_with("no real-time policy") && said[2].contains("EPERM"), "{said:?}");
    let short = whys(missing(&[5], &slots[1..2], SECOND / 100));
    assert_eq!(short, [""; 0], "a run of 10 ms may end before the first sample");
}

#[test]
fn it_is_not_started_for_more_cpus_than_it_is_worth() {
    let mut degraded = Vec::new();
    assert!(Sentinel::start(&(0..65).collect::<Vec<_>>(), &mut degraded).is_none());
    assert_eq!(degraded[0].what, "sentinel");
    assert!(degraded[0].why.contains("65 CPUs"), "{}", degraded[0].why);
}
