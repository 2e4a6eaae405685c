//! Applications that limit their own reading rate, over a path with capacity to spare: their throughput, and the memory
//! that their connections may need for it.

use crate::TURN;
use crate::endpoints::{Download, Result, assert_intact};
use crate::relay::link;
use quinn::TransportConfig;
use std::time::{Duration, Instant};
use tidegate_quinn::{Law, Settings, Steer};
use tidegate_scenario::{ReadRate, SlowReader};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

const LINK_MBPS: f64 = 20.0;

/// 100 ms there and back.
const DELAY_MS: u64 = 50;

const WARMUP: Duration = Duration::from_secs(3);
const END: Duration = Duration::from_secs(8);

/// A connection's window in bytes.
#[derive(Clone, Copy, Debug)]
enum Window {
    /// A fixed window, quinn's own.
    Fixed(u32),
    /// AFC with that buffer.
    Adaptive(u32),
}

impl Window {
    fn settings(self) -> Settings {
        let (Self::Fixed(buffer) | Self::Adaptive(buffer)) = self;
        Settings::new(Law::Afc { buffer })
    }
}

/// What a reader received and held after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    mbps: f64,
    /// Bytes promised to the peer and not yet read, on average and at most.
    promised: f64,
    peak: u64,
}

impl Outcome {
    fn show(&self, name: &str) {
        let [mean, peak] = [self.promised, self.peak as f64].map(|bytes| bytes / 1024.0);
        eprintln!(
            "{name:>28} {:>6.2} Mbit/s, promised {mean:>5.0} KiB, peak {peak:>5.0}",
            self.mbps
        );
    }
}

/// Reads for a while.
async fn read(reads: ReadRate, window: Window) -> Result<Outcome> {
    let mut transport = TransportConfig::default();
    window.settings().apply(&mut transport);
    let download = Download::start(link(LINK_MBPS, DELAY_MS, 1000), transport).await?;
    let steer = Steer::new(download.connection.clone(), window.settings());
    let mut stream: Box<dyn AsyncRead + Send + Unpin> = match window {
        Window::Fixed(_) => Box::new(download.stream),
        Window::Adaptive(_) => Box::new(steer.reader(download.stream)),
    };
    let promised = || match window {
        Window::Fixed(window) => window.into(),
        Window::Adaptive(_) => steer.promised(),
    };
    let mut reader = SlowReader::new(reads);
    let (start, mut tick) = (Instant::now(), interval(ReadRate::TICK));
    let (mut position, mut before, mut looks) = (0, 0, 0);
    let mut outcome = Outcome::default();
    while start.elapsed() < END {
        tick.tick().await;
        position += take(&mut stream, reader.wants(start.elapsed()), position).await?;
        if start.elapsed() < WARMUP {
            before = position;
            continue;
        }
        looks += 1;
        outcome.promised += promised() as f64;
        outcome.peak = outcome.peak.max(promised());
    }
    outcome.mbps = (position - before) as f64 * 8e-6 / (END - WARMUP).as_secs_f64();
    outcome.promised /= f64::from(looks);
    Ok(outcome)
}

/// Reads up to that many bytes that are there already. Returns how many.
async fn take(
    stream: &mut (impl AsyncRead + Unpin),
    mut wanted: u64,
    position: u64,
) -> Result<u64> {
    let mut buffer = [0; 16 << 10];
    let mut taken = 0;
    while wanted > 0 {
        let most = wanted.min(buffer.len() as u64) as usize;
        let read = stream.read(&mut buffer[..most]);
        // Does not wait: it looks at the stream before it looks at the clock.
        let Ok(read) = timeout(Duration::ZERO, read).await else {
            break;
        };
        let read = read?;
        assert_intact(&buffer[..read], position + taken);
        taken += read as u64;
        wanted -= read as u64;
    }
    Ok(taken)
}

/// A reader like that of the AFC paper's scenario 2, with a fifth of its round trip: it could have 4 Mbit/s. When it
/// stops, promises are already out, so its connection may need the buffer plus what the reader has read in a round
/// trip. A fixed window of that size would serve this reader as well, but would have to be known beforehand.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn afc_lends_a_stalling_reader_what_its_buffer_lacks() -> Result<()> {
    const BUFFER: u32 = 32 << 10;
    let _turn = TURN.lock().await;
    let reads = || ReadRate::Slots {
        mbps: vec![0.0, 6.0, 6.0],
        slot_s: 0.1,
    };
    let (fixed, afc) = tokio::try_join!(
        read(reads(), Window::Fixed(BUFFER)),
        read(reads(), Window::Adaptive(BUFFER)),
    )?;
    fixed.show("stalling, fixed");
    afc.show("stalling, AFC");
    let same = Window::Fixed(afc.promised as u32);
    let same = read(reads(), same).await?;
    same.show("stalling, fixed at AFC's mean");
    assert!(afc.mbps > 1.3 * fixed.mbps, "{afc:?} against {fixed:?}");
    // 6 Mbit/s for 100 ms, and as much again for data that are read at once after a late look.
    assert!(afc.promised < f64::from(BUFFER) + 150e3, "{afc:?}");
    Ok(())
}

/// One reader in four is fast, and it is not known beforehand which: the memory goes to the fast reader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn afc_gives_memory_to_those_who_read() -> Result<()> {
    let _turn = TURN.lock().await;
    let adaptive = together(Window::Adaptive(16 << 10)).await?;
    adaptive.show("four readers, AFC");
    let share = adaptive.promised / RATES_MBPS.len() as f64;
    let fixed = Window::Fixed(share as u32);
    let fixed = together(fixed).await?;
    fixed.show("four readers, fixed");
    assert!(
        adaptive.mbps > 1.5 * fixed.mbps,
        "{adaptive:?} against {fixed:?}"
    );
    Ok(())
}

const RATES_MBPS: [f64; 4] = [0.3, 0.3, 0.3, 9.0];

/// Runs all of them at once, each over its own path. Returns their sums.
async fn together(window: Window) -> Result<Outcome> {
    let mut readers = JoinSet::new();
    for mbps in RATES_MBPS {
        readers.spawn(read(ReadRate::Constant { mbps }, window));
    }
    let mut sum = Outcome::default();
    while let Some(outcome) = readers.join_next().await {
        let Outcome {
            mbps,
            promised,
            peak,
        } = outcome??;
        sum.mbps += mbps;
        sum.promised += promised;
        sum.peak += peak;
    }
    Ok(sum)
}
