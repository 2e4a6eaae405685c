use super::*;

/// A TCP segment: flow, first number, length and whether it is a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    flow: u64,
    start: u32,
    length: u32,
    syn: bool,
}

impl Packet for Segment {
    fn wire_bytes(&self) -> usize {
        40 + self.length as usize
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn sequence(&self) -> Option<Sequence> {
        (self.length > 0).then(|| Sequence {
            start: self.start,
            end: self.start.wrapping_add(self.length),
            opens: self.syn,
        })
    }
}

/// A script: what goes in and what comes out, by millisecond.
struct Script {
    middlebox: Boxed<Segment>,
    out: VecDeque<Delivery<Segment>>,
}

impl Script {
    fn new(patience_ms: u64) -> Self {
        Self {
            middlebox: Boxed::new(Middlebox {
                patience: Duration::from_millis(patience_ms),
            }),
            out: VecDeque::new(),
        }
    }

    /// Segment `start`..`start` + 100 of flow 1 arrives; which ones leave.
    fn arrives(&mut self, ms: u64, start: u32) -> Vec<u32> {
        self.takes(
            ms,
            Segment {
                flow: 1,
                start,
                length: 100,
                syn: false,
            },
        )
    }

    fn takes(&mut self, ms: u64, packet: Segment) -> Vec<u32> {
        let delivery = Delivery {
            packet,
            due: Instant::from_millis(ms),
            queued: Duration::ZERO,
        };
        self.middlebox.take(delivery, &mut self.out);
        self.leave(ms)
    }

    /// Its patience ends, at that time and no other; which ones leave.
    fn gives_up(&mut self, ms: u64) -> Vec<u32> {
        let at = Instant::from_millis(ms);
        assert_eq!(self.middlebox.next_event(), Some(at));
        self.middlebox.give_up(at, &mut self.out);
        self.leave(ms)
    }

    fn leave(&mut self, ms: u64) -> Vec<u32> {
        let now = Instant::from_millis(ms);
        assert!(self.out.iter().all(|d| d.due == now), "{:?}", self.out);
        self.out.drain(..).map(|d| d.packet.start).collect()
    }
}

#[test]
fn what_is_in_order_passes_at_once() {
    let mut script = Script::new(50);
    for n in 0..10 {
        assert_eq!(script.arrives(n, 100 * n as u32), [100 * n as u32]);
    }
    assert_eq!(script.middlebox.next_event(), None);
}

#[test]
fn a_hole_hold_directions_follows_until_it_is_filled() {
    let mut script = Script::new(50);
    assert_eq!(script.arrives(0, 0), [0]);
    assert_eq!(script.arrives(1, 200), [0; 0]);
    assert_eq!(script.arrives(2, 300), [0; 0]);
    // A second hole, and the filling in between.
    assert_eq!(script.arrives(3, 500), [0; 0]);
    assert_eq!(script.middlebox.len(), 3);
    assert_eq!(script.arrives(20, 100), [100, 200, 300]);
    assert_eq!(script.middlebox.len(), 1);
    assert_eq!(script.arrives(21, 400), [400, 500]);
    assert_eq!(
        (script.middlebox.len(), script.middlebox.next_event()),
        (0, None)
    );
}

/// Each packet is held for 50 ms at most, and takes with it what comes before it or follows without a
/// hole. What fills the hole later passes as it comes.
#[test]
fn patience_ends() {
    let mut script = Script::new(50);
    assert_eq!(script.arrives(0, 0), [0]);
    assert_eq!(script.arrives(1, 400), [0; 0]);
    assert_eq!(script.arrives(2, 200), [0; 0]);
    assert_eq!(script.arrives(3, 500), [0; 0]);
    assert_eq!(script.arrives(4, 700), [0; 0]);
    assert_eq!(script.gives_up(51), [200, 400, 500]);
    // Those at 52 and 53 have left.
    assert_eq!(script.gives_up(52), [0; 0]);
    assert_eq!(script.gives_up(53), [0; 0]);
    assert_eq!(script.arrives(53, 100), [100]);
    assert_eq!(script.gives_up(54), [700]);
    assert_eq!(script.arrives(55, 800), [800]);
}

#[test]
fn flows_do_not_wait_for_each_other() {
    let mut script = Script::new(50);
    let segment = |flow, start| Segment {
        flow,
        start,
        length: 100,
        syn: false,
    };
    assert_eq!(script.takes(0, segment(1, 0)), [0]);
    assert_eq!(script.takes(1, segment(1, 200)), [0; 0]);
    assert_eq!(script.takes(2, segment(2, 900)), [900]);
    assert_eq!(script.takes(3, segment(2, 1100)), [0; 0]);
    assert_eq!(script.takes(4, segment(2, 1000)), [1000, 1100]);
    assert_eq!(script.takes(5, segment(1, 100)), [100, 200]);
}

#[test]
fn what_carries_nothing_and_what_was_seen_passes() {
    let mut script = Script::new(50);
    assert_eq!(script.arrives(0, 1000), [1000]);
    assert_eq!(script.arrives(1, 1200), [0; 0]);
    let ack = Segment {
        flow: 1,
        start: 5000,
        length: 0,
        syn: false,
    };
    assert_eq!(script.takes(2, ack), [5000]);
    assert_eq!(script.arrives(3, 1000), [1000]);
    assert_eq!(script.arrives(4, 1050), [1050]);
    // 1050 to 1150 leaves a hole of 50.
    assert_eq!(script.middlebox.len(), 1);
    assert_eq!(script.arrives(5, 1100), [1100, 1200]);
}

#[test]
fn sequence_numbers_wrap() {
    let mut script = Script::new(50);
    let near = u32::MAX - 149;
    assert_eq!(script.arrives(0, near), [near]);
    assert_eq!(script.arrives(1, 50), [0; 0]);
    assert_eq!(
        script.arrives(2, near.wrapping_add(100)),
        [near.wrapping_add(100), 50]
    );
}

/// A SYN begins anew; what was held of the connection before goes first.
#[test]
fn a_syn_begins_anew() {
    let mut script = Script::new(50);
    assert_eq!(script.arrives(0, 0), [0]);
    assert_eq!(script.arrives(1, 200), [0; 0]);
    let syn = Segment {
        flow: 1,
        start: 3_000_000_000,
        length: 1,
        syn: true,
    };
    assert_eq!(script.takes(2, syn), [200, 3_000_000_000]);
    assert_eq!(script.arrives(3, 3_000_000_001), [3_000_000_001]);
}

/// Connections open one after another for hours: the middlebox remembers no more flows than it has seen lately.
#[test]
fn silent_flows_are_forgotten() {
    let mut script = Script::new(50);
    for flow in 0..100_000 {
        let segment = Segment {
            flow,
            start: 0,
            length: 100,
            syn: false,
        };
        script.takes(flow * 1000, segment);
    }
    assert!(script.middlebox.flows.len() <= MANY_FLOWS);
}
