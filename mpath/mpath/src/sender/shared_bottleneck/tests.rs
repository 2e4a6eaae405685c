use super::*;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The direct path and one more, of 100 ms and a queue each, which fills by `steps` ms a round and loses at 20.
fn run(steps: [u64; 2], shared: bool) -> (Path, Path) {
    // Windows with room for all halvings.
    let path = |id| Path::new(PathId(id), None, 1e9, Instant::ZERO);
    let (mut direct, mut other) = (path(0), path(1));
    let mut queues = [0, 7];
    for round in 0..400_u64 {
        let mut reduced = Vec::new();
        for n in 0..2 {
            queues[n] += steps[n];
            if queues[n] > 20 {
                queues[n] = 0;
                reduced.push(PathId(n as u32));
            }
        }
        if shared {
            queues[1] = queues[0];
            // Which of them loses is chance.
            reduced.retain(|id| id.0 == 0);
            reduced.iter_mut().for_each(|id| id.0 = (round % 2) as u32);
        }
        // The losses appear together with the round trips of full queues.
        spread(&reduced, &mut direct, std::slice::from_mut(&mut other));
        for (path, queue) in [&mut direct, &mut other].into_iter().zip(queues) {
            path.queueing.sample(Duration::from_millis(100 + queue));
            path.queueing.end_round();
        }
    }
    (direct, other)
}

#[test]
fn who_shares_a_queue_is_found_though_only_one_loses_at_a_time() {
    let (direct, other) = run([1, 1], true);
    assert!(other.evidence.is_certain());
    // The other's losses are the direct path's.
    assert!(direct.window < 1e9);
}

#[test]
fn who_has_a_queue_of_his_own_is_not_taken_for_a_companion() {
    for steps in [[1, 2], [2, 1], [3, 2], [1, 5], [4, 3]] {
        let (direct, other) = run(steps, false);
        assert!(!other.evidence.is_certain(), "{steps:?}");
        assert_eq!((direct.window, other.window), (1e9, 1e9), "{steps:?}");
    }
}

#[test]
fn queues_that_are_never_long_are_evidence_against() {
    let mut evidence = Evidence::default();
    let mut quiet = Queueing::default();
    for _ in 0..20 {
        quiet.sample(Duration::from_millis(100));
        quiet.end_round();
        evidence.add(&quiet);
    }
    assert!(evidence.0 < 0.0 && !evidence.is_certain());
}
