use super::in_order;
use anyhow::{Result, bail};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The results taken of `jobs` on `threads`, and the sweep's own result.
fn taken(
    jobs: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<Option<usize>> + Sync,
) -> (Vec<(usize, usize)>, Result<usize>) {
    let mut order = Vec::new();
    let done = in_order(
        jobs,
        threads,
        work,
        |job, result| {
            order.push((job, result));
            Ok(())
        },
        || {},
    );
    (order, done)
}

#[test]
fn results_come_in_order_of_the_jobs() {
    // Later jobs are faster.
    let work = |job: usize| {
        thread::sleep(Duration::from_millis(20 - job as u64));
        Ok(Some(job * job))
    };
    let (order, done) = taken(20, 4, work);
    assert_eq!(done.unwrap(), 20);
    assert_eq!(order, (0..20).map(|n| (n, n * n)).collect::<Vec<_>>());
}

#[test]
fn threads_work_at_the_same_time() {
    let inside = Mutex::new(0);
    let most = AtomicUsize::new(0);
    let work = |job: usize| {
        let now = {
            let mut inside = inside.lock().unwrap();
            *inside += 1;
            *inside
        };
        most.fetch_max(now, Ordering::Relaxed);
        // Wait until another job is inside too: with one thread this would never end.
        while most.load(Ordering::Relaxed) < 2 {
            thread::yield_now();
        }
        *inside.lock().unwrap() -= 1;
        Ok(Some(job))
    };
    assert_eq!(taken(8, 2, work).1.unwrap(), 8);
}

#[test]
fn what_stops_or_fails_ends_it_after_what_came_before() {
    let (order, done) = taken(10, 2, |job| Ok((job < 3).then_some(job)));
    assert_eq!((order.len(), done.unwrap()), (3, 3));
    let (order, done) = taken(10, 2, |job| {
        if job == 4 {
            bail!("four")
        }
        Ok(Some(job))
    });
    assert_eq!(order.len(), 4);
    assert_eq!(done.unwrap_err().to_string(), "four");
}

#[test]
fn no_jobs_are_done_at_once() {
    assert_eq!(taken(0, 4, |job| Ok(Some(job))).1.unwrap(), 0);
}
