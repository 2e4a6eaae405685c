use super::*;
use std::collections::HashSet;

/// Each piece of each round is done once, whether the helpers are awake or asleep.
#[test]
fn every_piece_is_done_once_in_every_round() {
    for threads in [1, 2, 5] {
        let done: Arc<[AtomicUsize]> = (0..7).map(|_| AtomicUsize::new(0)).collect();
        let own = Arc::clone(&done);
        let mut pool = Pool::new(threads, done.len(), move |piece| {
            own[piece].fetch_add(1, SeqCst);
        });
        for round in 1..=2000 {
            pool.round();
            assert!(done.iter().all(|count| count.load(SeqCst) == round));
            if round % 500 == 0 {
                thread::sleep(3 * AWAKE);
            }
        }
    }
}

#[test]
fn threads_work_side_by_side_and_end_with_the_pool() {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let own = Arc::clone(&seen);
    let mut pool = Pool::new(2, 2, move |_| {
        own.lock().unwrap().insert(thread::current().id());
        // Neither piece is done before both have been taken.
        let began = Instant::now();
        while own.lock().unwrap().len() < 2 && began.elapsed() < Duration::from_secs(10) {
            thread::yield_now();
        }
    });
    pool.round();
    drop(pool);
    assert_eq!(seen.lock().unwrap().len(), 2);
    let began = Instant::now();
    while Arc::strong_count(&seen) > 1 {
        assert!(began.elapsed() < Duration::from_secs(10), "a thread stays");
        thread::yield_now();
    }
}

#[test]
fn a_panic_is_the_callers_and_the_pool_goes_on() {
    let mut pool = Pool::new(2, 4, |piece| assert_ne!(piece, 2, "two"));
    for _ in 0..3 {
        let panic = catch_unwind(AssertUnwindSafe(|| pool.round())).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("two"));
    }
}
