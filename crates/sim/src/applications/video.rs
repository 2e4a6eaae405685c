//! A video, fetched in chunks ahead of its playback.

use super::exchange::Exchange;
use super::{Application, Context, Fetches, Flow};
use crate::hosts::Hosts;
use std::time::Duration;
use tidegate_measure::{Player, Window};
use tidegate_scenario::{Direction, RunResult, Side};
use tidegate_tcp::Connection;
use tidegate_time::Instant;

/// A player and its server.
pub struct Video {
    flow: Flow,
    log: Fetches,
    exchange: Exchange,
    player: Option<Player>,
    chunk_bytes: u64,
    chunk: Duration,
    buffer: Duration,
    startup: Duration,
    /// When the chunk in hand was asked for.
    asked: Instant,
}

impl Video {
    /// A video of `mbps` in chunks of some seconds, of which the player keeps some seconds and begins
    /// with some.
    pub fn new(name: &str, mbps: f64, [chunk, buffer, startup]: [f64; 3], window: Window) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), Direction::Down, window),
            log: Fetches::new(name.to_owned(), window),
            exchange: Exchange::default(),
            player: None,
            chunk_bytes: ((mbps * 1e6 / 8.0 * chunk) as u64).max(1),
            chunk: Duration::from_secs_f64(chunk),
            buffer: Duration::from_secs_f64(buffer),
            startup: Duration::from_secs_f64(startup),
            asked: Instant::ZERO,
        }
    }

    /// Asks for the next chunk if there is room for it; when there will be, if there is none yet.
    fn ask(&mut self, now: Instant) -> Option<Instant> {
        let room_at = self.player.as_ref()?.room_at(now, self.chunk, self.buffer);
        if room_at > now {
            return Some(room_at);
        }
        self.asked = now;
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
        let player = self.player.as_ref();
        result
            .videos
            .extend(player.map(|p| p.result(&self.flow.name, end)));
    }
}
