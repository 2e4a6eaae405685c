//! A video, fetched in chunks ahead of its playback.

use super::exchange::Exchange;
use super::{Application, Context, Fetches, Flow};
use crate::abr::{Abr, Played};
use crate::hosts::Hosts;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Player, Window};
use tidegate_scenario::{AdaptiveVideoSpec, Direction, QoeSpec, RunResult, Side};
use tidegate_tcp::Connection;

/// A player and its server.
pub struct Video {
    flow: Flow,
    log: Fetches,
    exchange: Exchange,
    player: Option<Player>,
    source: Source,
    chunk: Duration,
    buffer: Duration,
    startup: Duration,
    /// When the chunk in hand was asked for, and how large it is.
    asked: Instant,
    chunk_bytes: u64,
}

/// The bit rates that the server offers.
enum Source {
    /// One bit rate, with the bytes of a chunk.
    One(u64),
    /// Several bit rates.
    Several(Box<Several>),
}

/// Bit rates; the player chooses one for each chunk.
struct Several {
    abr: Abr,
    /// The rates in Mbit/s, with the bytes of a chunk.
    ladder: Vec<(f64, u64)>,
    /// The step of the chunk requested last.
    step: Option<usize>,
    played: Played,
    weights: QoeSpec,
}

impl Video {
    /// A video of `mbps`. `seconds` are the length of a chunk, of the player's buffer, and of what it buffers before
    /// it begins to play.
    pub fn new(name: &str, mbps: f64, seconds: [f64; 3], window: Window) -> Self {
        let source = Source::One(chunk_bytes(mbps, seconds[0]));
        Self::playing(name, source, seconds, window)
    }

    /// A video in several bit rates.
    pub fn adaptive(name: &str, spec: &AdaptiveVideoSpec, window: Window) -> Self {
        let rates = spec.ladder_mbps().into_iter();
        let source = Source::Several(Box::new(Several {
            abr: Abr::new(spec),
            ladder: rates
                .map(|mbps| (mbps, chunk_bytes(mbps, spec.segment_s)))
                .collect(),
            step: None,
            played: Played::default(),
            weights: spec.qoe,
        }));
        let seconds = [spec.segment_s, spec.buffer_s, spec.startup_s];
        Self::playing(name, source, seconds, window)
    }

    fn playing(
        name: &str,
        source: Source,
        [chunk, buffer, startup]: [f64; 3],
        window: Window,
    ) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), Direction::Down, window),
            log: Fetches::new(name.to_owned(), window),
            exchange: Exchange::default(),
            player: None,
            source,
            chunk_bytes: 0,
            chunk: Duration::from_secs_f64(chunk),
            buffer: Duration::from_secs_f64(buffer),
            startup: Duration::from_secs_f64(startup),
            asked: Instant::ZERO,
        }
    }

    /// Requests the next chunk if the buffer has room. Returns when there will be room, if there is none yet.
    fn ask(&mut self, now: Instant) -> Option<Instant> {
        let player = self.player.as_ref()?;
        let room_at = player.room_at(now, self.chunk, self.buffer);
        if room_at > now {
            return Some(room_at);
        }
        self.asked = now;
        self.chunk_bytes = self.source.choose(player.buffered(now));
        self.exchange.ask(self.chunk_bytes);
        None
    }
}

impl Application for Video {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        let Some(connection) = self.flow.connection else {
            self.player = Some(Player::new(now, self.startup));
            self.ask(now);
            self.flow.began = Some(now);
            self.flow.connection = Some(context.open(0));
            return None;
        };
        if !self.exchange.is_idle() {
            return None;
        }
        let next = self.ask(now);
        context.with(connection, Side::Client, |end| {
            self.exchange.client(now, end)
        });
        next
    }

    fn progress(
        &mut self,
        now: Instant,
        _tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        if side == Side::Server {
            self.exchange.server(now, end);
            return None;
        }
        self.flow.received += end.readable();
        if !self.exchange.client(now, end) {
            return None;
        }
        self.log.push(self.chunk_bytes, self.asked, now);
        self.source.came(now - self.asked);
        self.player.as_mut()?.arrived(now, self.chunk);
        let next = self.ask(now);
        self.exchange.client(now, end);
        next
    }

    fn stop(&mut self, context: &mut Context) {
        self.flow.stop(context);
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn report(&mut self, hosts: &Hosts, end: Instant, result: &mut RunResult) {
        self.flow.report(hosts, end, result);
        result.fetches.extend(self.log.results());
        let (Some(player), Some(began)) = (&self.player, self.flow.began) else {
            return;
        };
        let mut video = player.result(&self.flow.name, end);
        if let Source::Several(several) = &self.source {
            let waited_s = (end - began).as_secs_f64();
            video.adaptive = Some(several.played.result(&several.weights, &video, waited_s));
        }
        result.videos.push(video);
    }
}

impl Source {
    /// Bytes of the next chunk, with that much video buffered.
    fn choose(&mut self, buffered: Duration) -> u64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Several(several) => {
                let step = several.abr.choose(buffered.as_secs_f64(), several.step);
                several.step = Some(step);
                several.ladder[step].1
            }
        }
    }

    /// The chunk requested last has arrived, after that time.
    fn came(&mut self, took: Duration) {
        if let Self::Several(several) = self
            && let Some(step) = several.step
        {
            let (mbps, bytes) = several.ladder[step];
            several.played.push(mbps);
            let seconds = took.as_secs_f64().max(1e-9);
            several.abr.observe(bytes as f64 * 8e-6 / seconds);
        }
    }
}

fn chunk_bytes(mbps: f64, seconds: f64) -> u64 {
    ((mbps * 1e6 / 8.0 * seconds) as u64).max(1)
}
