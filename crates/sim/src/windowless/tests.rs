use super::*;
use crate::packet::{Body, Datagram, Packet};
use crate::route::RouteId;
use proptest::prelude::*;
use tidegate_scenario::{Direction, LinkSpec, RateSpec, Workload, WorkloadKind};

/// For that many milliseconds data arrive, one packet each; every second one is answered.
const FOR_MS: u64 = 20_000;
/// After a signal the data come half as fast for that long.
const SLOW_MS: u64 = 3_000;
/// Round trip without a queue, and interval of echoes.
const FLOOR: Duration = Duration::from_millis(50);
const ECHO_MS: u64 = 29;

/// One host's only download, at its edge.
struct Edge {
    windowless: Windowless,
    paths: Paths,
    events: EventQueue,
    /// When each packet that left was made, and how long it had waited.
    left: Vec<(Instant, Duration)>,
}

impl Edge {
    fn new() -> Self {
        let mut download = Workload::new(
            "download",
            WorkloadKind::Bulk {
                direction: Default::default(),
                bytes: None,
                flows: 1,
            },
        );
        download.windowless = true;
        let link = LinkSpec::new(RateSpec::ConstantMbps(12.0), 25.0);
        let run = Run {
            udp: Udp::Hold,
            ..Run::new("hold", Law::Tide)
        };
        let links = [link.clone(), link];
        let scenario = Scenario::new("", 60.0, links, vec![download], vec![run.clone()]);
        Self {
            windowless: Windowless::new(&scenario, &run),
            paths: Paths::default(),
            events: EventQueue::default(),
            left: Vec::new(),
        }
    }

    /// Returns whether congestion is signalled: the packet is not ECN-capable, and so is dropped.
    fn arrives(&mut self, now: Instant) -> bool {
        let packet = Packet::datagram(datagram(now), 1500, RouteId::of(0, Direction::Down));
        !self
            .windowless
            .arrives(&mut self.paths, &mut self.events, now, &packet, 0)
    }

    fn leaves(&mut self, now: Instant) {
        let packet = Packet::datagram(datagram(now), 60, RouteId::of(0, Direction::Up));
        let released = self.windowless.leaves(&mut self.events, now, packet, 0);
        self.note(now, released.and_then(Released::passes));
    }

    /// Releases everything due before `now`.
    fn release(&mut self, now: Instant) {
        while let Some((at, target)) = self.events.pop(now) {
            if target != Timer::Release(0).target() {
                continue;
            }
            while let Some(packet) = self.windowless.release(&mut self.events, at, 0) {
                self.note(at, packet.passes());
            }
        }
    }

    fn note(&mut self, now: Instant, released: Option<Packet>) {
        if let Some(Body::Datagram(Datagram { sent, .. })) = released.map(|packet| packet.body) {
            self.left.push((sent, now - sent));
        }
    }
}

fn datagram(sent: Instant) -> Datagram {
    Datagram { app: 0, sent }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Data come ever faster, half as fast for a while after each signal, and pause once; echoes take `rtt_ms`.
    #[test]
    fn order_is_kept_and_nothing_waits_long(
        rtt_ms in 100u64..800,
        stops_ms in 6_000u64..15_000,
        stop_ms in 0u64..4_000,
    ) {
        let mut edge = Edge::new();
        let mut made = Vec::new();
        let (mut slow_until, mut halvings) = (0, 0);
        for ms in 1..FOR_MS {
            let now = at(ms);
            edge.release(now);
            if (stops_ms..stops_ms + stop_ms).contains(&ms) {
                continue;
            }
            let slow = ms < slow_until;
            let fast = !slow && ms % 10 < (ms / 2_000).min(9);
            let came = match (slow, fast) {
                (true, _) => u64::from(ms % (1 << halvings) == 0),
                (false, fast) => 1 + u64::from(fast),
            };
            for _ in 0..came {
                if edge.arrives(now) {
                    halvings = if slow { halvings + 1 } else { 1 };
                    slow_until = ms + SLOW_MS;
                }
            }
            if ms % ECHO_MS == 0 {
                let rtt = if ms < 500 { FLOOR } else { Duration::from_millis(rtt_ms) };
                edge.windowless.echoed(&mut edge.paths, now, 0, rtt);
            }
            if ms % 2 == 0 {
                made.push(now);
                edge.leaves(now);
            }
        }
        edge.release(at(FOR_MS) + Hold::LONGEST);
        prop_assert_eq!(edge.left.iter().map(|left| left.0).collect::<Vec<_>>(), made);
        let waits = edge.left.iter().map(|left| left.1);
        prop_assert!(waits.clone().all(|wait| wait <= Hold::LONGEST));
        prop_assert!(waits.max() > Some(Duration::from_millis(20)), "nothing waited");
    }
}
