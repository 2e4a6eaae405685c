//! A download that is read at once, over a link with a buffer of more than a second.

use crate::TURN;
use crate::endpoints::{Download, Result, assert_intact};
use crate::relay::link;
use quinn::TransportConfig;
use std::time::{Duration, Instant};
use tidegate_quinn::{Law, Settings, Steer};
use tokio::io::{AsyncRead, AsyncReadExt};

const RATE_MBPS: f64 = 10.0;

/// 40 ms there and back. The buffer is as deep as those of the papers' carriers.
const DELAY_MS: u64 = 20;
const PACKETS: usize = 2000;

const WARMUP: Duration = Duration::from_secs(2);
const END: Duration = Duration::from_secs(6);

/// Mbit/s read, and median and 95 % quantile of the queueing delay in ms.
#[derive(Debug)]
struct Outcome {
    mbps: f64,
    queue_ms: [f64; 2],
}

async fn download(name: &str, settings: Option<Settings>) -> Result<Outcome> {
    let mut transport = TransportConfig::default();
    if let Some(settings) = settings {
        settings.apply(&mut transport);
    }
    let download = Download::start(link(RATE_MBPS, DELAY_MS, PACKETS), transport).await?;
    let mut stream: Box<dyn AsyncRead + Unpin> = match settings {
        Some(settings) => {
            let steer = Steer::new(download.connection.clone(), settings);
            Box::new(steer.reader(download.stream))
        }
        None => Box::new(download.stream),
    };
    let (start, mut buffer) = (Instant::now(), vec![0; 64 << 10]);
    let mut position = 0;
    let mut warm = None;
    while start.elapsed() < END {
        let read = stream.read(&mut buffer).await?;
        assert_intact(&buffer[..read], position);
        position += read as u64;
        if warm.is_none() && start.elapsed() >= WARMUP {
            warm = Some((position, download.relay.queued.lock().unwrap().len()));
        }
    }
    let (before, skip) = warm.expect("it reads all the time");
    let outcome = Outcome {
        mbps: (position - before) as f64 * 8e-6 / (END - WARMUP).as_secs_f64(),
        queue_ms: [0.5, 0.95].map(|quantile| download.relay.queue_ms(skip, quantile)),
    };
    let [p50, p95] = outcome.queue_ms;
    eprintln!(
        "{name:>16} {:>6.2} Mbit/s, queue {p50:>6.1} ms, p95 {p95:>6.1} ms",
        outcome.mbps
    );
    Ok(outcome)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drwa_keeps_the_queue_short_that_default_windows_fill() -> Result<()> {
    let _turn = TURN.lock().await;
    let drwa = |lambda| Some(Settings::new(Law::Drwa { lambda }));
    let (default, two, three) = tokio::try_join!(
        download("quinn's windows", None),
        download("DRWA, λ = 2", drwa(2.0)),
        download("DRWA, λ = 3", drwa(3.0)),
    )?;
    for (lambda, drwa) in [(2.0, two), (3.0, three)] {
        // The report's steady state: a round trip of λ times the smallest.
        let settled = (lambda - 1.0) * 2.0 * DELAY_MS as f64;
        assert!(drwa.queue_ms[0] < 1.5 * settled, "{drwa:?}");
        let [ours, theirs] = [drwa.queue_ms[0], default.queue_ms[0]];
        assert!(ours < 0.5 * theirs, "{drwa:?} against {default:?}");
        assert!(
            drwa.mbps > 0.85 * default.mbps,
            "{drwa:?} against {default:?}"
        );
    }
    Ok(())
}
