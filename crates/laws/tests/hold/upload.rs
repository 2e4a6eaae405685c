//! Uploads: a sender here, a link with a deep buffer, and the packets that wait before it, millisecond by millisecond.

use super::histories;
use proptest::prelude::*;
use std::collections::VecDeque;
use tidegate_laws::{Hold, Path, UploadHold, sys};

const PACKET: u32 = 1_500;
/// Length of a packet that acknowledges two packets.
const ANSWER: u32 = 60;
/// From one echo to the next, in milliseconds.
const ECHO_MS: u64 = 29;

/// What a sender does with an acknowledgement. Bytes.
#[derive(Clone, Copy, Debug)]
enum Sender {
    /// It doubles its window each round trip up to twice what the path holds, then adds a packet; a signal leaves seven
    /// tenths.
    Growing { window: u64, told: bool },
    /// It doubles it up to `most`, whatever is signalled.
    Window { window: u64, most: u64 },
    /// It sends this many packets a second, whatever is acknowledged.
    Rate(u64),
}

impl Sender {
    const fn growing() -> Self {
        Self::Growing {
            window: 15_000,
            told: false,
        }
    }

    const fn up_to(most: u64) -> Self {
        Self::Window {
            window: 15_000,
            most,
        }
    }
}

/// What happened in some seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    /// Share of the link.
    used: f64,
    queue_ms: f64,
    /// Share of the leaving packets that waited, and the longest wait.
    waited: f64,
    longest_ms: u64,
}

/// The sender's edge: the link carries a packet a millisecond.
struct Edge {
    hold: UploadHold,
    path: Path,
    sender: Sender,
    rtt_ms: u64,
    /// The part of a round trip that is another machine's queue on the way back.
    back_ms: u64,
    deaf_ms: u64,
    ms: u64,
    sent: u64,
    acknowledged: u64,
    queued: u64,
    carried: u64,
    /// When each packet's acknowledgement is due.
    answers: VecDeque<u64>,
    echoes: VecDeque<(u64, u64)>,
    /// Waiting packets: since when each waits, and its place.
    waiting: VecDeque<(u64, u64)>,
    /// For each signal: the bytes that had passed, and the sender's window in bytes.
    signals: Vec<[u64; 2]>,
}

impl Edge {
    fn new(sender: Sender) -> Self {
        Self {
            hold: UploadHold::default(),
            path: Path::default(),
            sender,
            rtt_ms: 50,
            back_ms: 0,
            deaf_ms: u64::MAX,
            ms: 0,
            sent: 0,
            acknowledged: 0,
            queued: 0,
            carried: 0,
            answers: VecDeque::new(),
            echoes: VecDeque::new(),
            waiting: VecDeque::new(),
            signals: Vec::new(),
        }
    }

    fn now_us(&self) -> u64 {
        1_000 * (self.ms + 1)
    }

    fn over_s(&mut self, seconds: u64) -> Span {
        let carried = self.carried;
        let (mut left, mut waited, mut queue_ms, mut longest_ms) = (0u64, 0u64, 0, 0);
        for _ in 0..seconds * 1_000 {
            self.ms += 1;
            self.send();
            for wait_ms in self.release() {
                left += 1;
                waited += u64::from(wait_ms > 0);
                longest_ms = longest_ms.max(wait_ms);
            }
            queue_ms += self.queued;
            self.carry();
            self.arrive();
            self.ask();
        }
        let steps = (seconds * 1_000) as f64;
        Span {
            used: (self.carried - carried) as f64 / steps,
            queue_ms: queue_ms as f64 / steps,
            waited: waited as f64 / left.max(1) as f64,
            longest_ms,
        }
    }

    fn send(&mut self) {
        let wanted = match self.sender {
            Sender::Rate(per_s) => self.ms * per_s / 1_000 * u64::from(PACKET),
            Sender::Window { window, .. } | Sender::Growing { window, .. } => {
                self.acknowledged + window
            }
        };
        while self.sent + u64::from(PACKET) <= wanted {
            self.sent += u64::from(PACKET);
            let place = self.hold.comes(PACKET);
            self.waiting.push_back((self.ms, place));
        }
    }

    /// The waits of the packets that leave now.
    fn release(&mut self) -> Vec<u64> {
        let mut waits = Vec::new();
        while let Some(&(since, place)) = self.waiting.front() {
            let wait_ms = self.ms - since;
            if self.hold.wait_us(place) > 0 && 1_000 * wait_ms < Hold::LONGEST.as_micros() as u64 {
                break;
            }
            self.waiting.pop_front();
            waits.push(wait_ms);
            if self.hold.leaves(self.now_us(), PACKET) {
                let raw = self.hold.raw();
                // SAFETY: the record is live.
                let window = unsafe { sys::tg_hold_up_window(raw) };
                self.signals.push([raw.passed, window.into()]);
                if let Sender::Growing { window, told } = &mut self.sender {
                    *window = *window * 7 / 10;
                    *told = true;
                }
            }
            self.queued += 1;
        }
        waits
    }

    fn carry(&mut self) {
        if self.queued > 0 {
            self.queued -= 1;
            self.carried += 1;
            self.answers.push_back(self.ms + self.rtt_ms + self.back_ms);
        }
    }

    /// Every second packet is acknowledged.
    fn arrive(&mut self) {
        while self.answers.len() > 1 && self.answers[1] <= self.ms {
            self.answers.drain(..2);
            let now_us = self.now_us();
            self.hold.arrives(&mut self.path, now_us, ANSWER, 0);
            let new = 2 * u64::from(PACKET);
            self.acknowledged += new;
            let path = self.rtt_ms * u64::from(PACKET);
            match &mut self.sender {
                Sender::Window { window, most } => *window = (*window + new).min(*most),
                Sender::Growing { window, told } if !*told && *window < 2 * path => *window += new,
                Sender::Growing { window, .. } => *window += new * u64::from(PACKET) / *window,
                Sender::Rate(_) => (),
            }
        }
    }

    fn ask(&mut self) {
        if self.ms.is_multiple_of(ECHO_MS) && self.ms < self.deaf_ms {
            let took_ms = self.rtt_ms + self.back_ms + self.queued;
            self.echoes.push_back((self.ms + took_ms, took_ms));
        }
        while self.echoes.front().is_some_and(|&(due, _)| due <= self.ms) {
            let (_, took_ms) = self.echoes.pop_front().expect("it is there");
            let now_us = self.now_us();
            let rtt_us = took_ms as u32 * 1_000;
            self.hold.answered(&mut self.path, now_us, rtt_us, None, 0);
        }
    }
}

#[test]
fn who_grows_waits_here_and_not_in_the_queue() {
    let mut edge = Edge::new(Sender::growing());
    edge.over_s(10);
    let held = edge.over_s(60);
    assert!(held.used > 0.97 && held.queue_ms < 12.0, "{held:?}");
    assert!(held.waited > 0.3, "{held:?}");
    assert!((1..40).contains(&edge.signals.len()), "{:?}", edge.signals);
}

/// The sender keeps eight times what the path holds, whatever is signalled: its window limits what waits.
#[test]
fn a_window_that_answers_no_signal_is_signalled_seldom() {
    let mut edge = Edge::new(Sender::up_to(600_000));
    let held = edge.over_s(120);
    assert!(held.used > 0.97, "{held:?}");
    assert!(
        (2..60).contains(&edge.signals.len()),
        "{}",
        edge.signals.len()
    );
    assert!(held.longest_ms <= 2_000, "{held:?}");
}

#[test]
fn a_window_that_the_path_holds_and_a_rate_below_the_links_never_wait() {
    for sender in [
        Sender::up_to(15_000),
        Sender::up_to(60_000),
        Sender::Rate(200),
        Sender::Rate(900),
    ] {
        let mut edge = Edge::new(sender);
        let all = edge.over_s(60);
        assert_eq!((all.waited, edge.signals.len()), (0.0, 0), "{sender:?}");
    }
}

/// Without echoes we do not know whether anything stands in the queue.
#[test]
fn what_is_not_heard_of_for_three_seconds_is_let_go() {
    let mut edge = Edge::new(Sender::growing());
    edge.deaf_ms = 20_000;
    edge.over_s(24);
    // The packets that waited leave, and none waits after them.
    edge.over_s(1);
    let before = edge.signals.len();
    assert_eq!(edge.over_s(10).waited, 0.0);
    assert_eq!(edge.signals.len(), before);
}

/// Another machine's download fills the way back. The echoes' wait there is no queue of ours, but is taken for it: data
/// that come in clumps, a window a round trip, show no level that could be doubted. So a queue of three round trips
/// costs half of the link.
#[test]
fn a_queue_on_the_way_back_costs_an_upload_little_if_it_is_short() {
    for (back_ms, least) in [(25, 0.97), (50, 0.97), (150, 0.45)] {
        let mut edge = Edge::new(Sender::growing());
        edge.over_s(10);
        edge.back_ms = back_ms;
        edge.over_s(20);
        let held = edge.over_s(60);
        println!("{back_ms} ms: {held:?}");
        assert!(held.used > least, "{back_ms} ms: {held:?}");
    }
}

/// Something happens to a flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrives(u32),
    Leaves(u32),
    Echo(u32),
}

/// Events, each with the microseconds before it.
fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        3 => (40u32..100).prop_map(Event::Arrives),
        6 => (40u32..60_000).prop_map(Event::Leaves),
        1 => (5_000u32..2_000_000).prop_map(Event::Echo),
    ];
    let gap = prop_oneof![8 => 0u64..3_000, 1 => 0u64..300_000];
    prop::collection::vec((gap, event), 100..2_000)
}

/// Plays events on a flow whose waiting packets leave when the law says; `check` sees it before each packet leaves, and
/// whether that packet is signalled.
fn play(events: &[(u64, Event)], mut check: impl FnMut(&UploadHold, u32, bool)) {
    let (mut hold, mut path) = (UploadHold::default(), Path::default());
    let mut waiting: VecDeque<(u64, u32)> = VecDeque::new();
    let mut now_us = 1;
    for &(gap, event) in events {
        now_us += gap;
        match event {
            Event::Arrives(len) => hold.arrives(&mut path, now_us, len, 0),
            Event::Leaves(len) => waiting.push_back((hold.comes(len), len)),
            Event::Echo(rtt_us) => hold.answered(&mut path, now_us, rtt_us, None, 0),
        }
        while let Some(&(place, len)) = waiting.front() {
            let wait_us = hold.wait_us(place);
            check(&hold, wait_us, false);
            if wait_us > 0 {
                break;
            }
            waiting.pop_front();
            let signalled = hold.leaves(now_us, len);
            check(&hold, 0, signalled);
        }
        assert!(hold.raw().passed <= hold.raw().left);
    }
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn what_is_short_never_waits(events in events()) {
        play(&events, |hold, wait_us, signalled| {
            if hold.raw().left < 64 * 1448 {
                assert!(wait_us == 0 && !signalled);
            }
        });
    }

    /// Each packet is answered by at least a seventh of its length, as in a call.
    #[test]
    fn what_receives_as_it_sends_never_waits(events in events(), part in 1u32..=7) {
        let answer = |&(gap, event): &(u64, Event)| match event {
            Event::Leaves(len) => vec![(gap, Event::Arrives(len.div_ceil(part))), (0, event)],
            _ => vec![(gap, event)],
        };
        let talk: Vec<_> = events.iter().flat_map(answer).collect();
        play(&talk, |_, wait_us, signalled| assert!(wait_us == 0 && !signalled));
    }

    /// No more than the window is in flight, and a wait is two seconds at most.
    #[test]
    fn nothing_waits_while_the_window_has_room(events in events()) {
        play(&events, |hold, wait_us, signalled| {
            let raw = hold.raw();
            let wanted = raw.steered.wanted;
            if wanted == sys::TG_UNLIMITED || raw.left + u64::from(raw.waiting) <= raw.passed + u64::from(wanted) {
                assert!(wait_us == 0 && !signalled);
            }
            assert!(wait_us <= sys::TG_HOLD_MAX_US);
        });
    }
}

proptest! {
    #![proptest_config(histories(24))]

    /// Until a signal is answered there is no other, as for downloads.
    #[test]
    fn more_than_a_window_passes_between_two_signals(grows: bool, rtt_ms in 5u64..300) {
        let sender = if grows { Sender::growing() } else { Sender::up_to(8 * rtt_ms * 1_500) };
        let mut edge = Edge::new(sender);
        edge.rtt_ms = rtt_ms;
        edge.over_s(60);
        for pair in edge.signals.windows(2) {
            prop_assert!(pair[1][0] - pair[0][0] >= pair[0][1] / 2 * 3, "{:?}", pair);
        }
    }
}
