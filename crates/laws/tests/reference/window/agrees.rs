use super::{Ack, Window};
use crate::histories;
use proptest::prelude::*;
use tidegate_laws::sys;

/// One acknowledgement to come, relative to what went before.
#[derive(Clone, Debug)]
struct Step {
    /// Bytes by which the acknowledgement advances; negative: it was overtaken.
    advance: i64,
    /// By how many bytes the kernel's right edge moves, and what the kernel would like in addition.
    grow: u64,
    /// The kernel's window is this instead.
    kernel: Option<u64>,
    bare: bool,
    sack: bool,
    wanted: Option<u32>,
    mss: u32,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let advance = prop_oneof![
        3 => Just(0i64),
        6 => (0i64..30).prop_map(|n| n * 1448),
        2 => 0i64..100_000,
        1 => -60_000i64..0,
    ];
    let grow = prop_oneof![4 => Just(0u64), 2 => 0u64..5_000, 1 => 0u64..4_000_000];
    let kernel = prop::option::weighted(0.15, prop_oneof![Just(0u64), 0u64..9_000, 0u64..1 << 24]);
    let wanted = prop_oneof![
        1 => Just(None),
        1 => (0u32..6_000).prop_map(Some),
        4 => (0u32..3_000_000).prop_map(Some),
    ];
    let mss = prop_oneof![4 => Just(1448u32), 1 => 1u32..9_000, 1 => 9_000u32..65_000];
    let step = (
        advance,
        grow,
        kernel,
        any::<bool>(),
        prop::bool::weighted(0.3),
        wanted,
        mss,
    );
    let step = step.prop_map(|(advance, grow, kernel, bare, sack, wanted, mss)| Step {
        advance,
        grow,
        kernel,
        bare,
        sack,
        wanted,
        mss,
    });
    prop::collection::vec(step, 1..120)
}

/// A connection whose kernel acknowledges as `steps` say.
struct Connection {
    c: sys::tg_window,
    formula: Window,
    scale: u8,
    newest: u64,
    kernel_edge: u64,
}

/// An acknowledgement on its way, as the kernel wrote it and as it left.
struct Sent {
    ack: Ack,
    units: u64,
    formula: u64,
    duplicate: bool,
}

impl Connection {
    /// Sequence numbers wrap soon.
    fn new(scale: u8) -> Self {
        let newest = (1 << 32) - 300_000;
        Self {
            c: sys::tg_window::default(),
            formula: Window::new(scale.into()),
            scale,
            newest,
            kernel_edge: newest + 5_000,
        }
    }

    fn unit(&self) -> u64 {
        1 << self.scale
    }

    fn send(&mut self, step: &Step) -> Sent {
        let ack = self.newest.saturating_add_signed(step.advance);
        self.newest = self.newest.max(ack);
        // So far that even an overtaken acknowledgement's window fits its sixteen bits.
        let most = self.newest + 65_000 * self.unit() - 60_000;
        self.kernel_edge = self
            .kernel_edge
            .max(ack)
            .max(most.min(self.kernel_edge + step.grow));
        let units = (self.kernel_edge - ack).div_ceil(self.unit());
        self.kernel_edge = self.kernel_edge.max(ack + units * self.unit());
        let units = step
            .kernel
            .map_or(units, |w| w.div_ceil(self.unit()).min(65_535));
        assert!(units <= 65_535);
        let ack = Ack {
            ack,
            units,
            bare: step.bare,
            sack: step.sack,
        };
        let a = sys::tg_ack {
            ack: ack.ack as u32,
            raw: units as u16,
            scale: self.scale,
            bare: ack.bare.into(),
            sack: ack.sack.into(),
        };
        let wanted = step.wanted.unwrap_or(sys::TG_UNLIMITED);
        // SAFETY: the record is exclusively ours.
        let units = unsafe { sys::tg_window_steer(&mut self.c, &a, wanted, step.mss) };
        let duplicate = self.formula.is_duplicate(&ack);
        let formula = self
            .formula
            .steer(&ack, step.wanted.map(u64::from), step.mss.into());
        Sent {
            ack,
            units: units.into(),
            formula,
            duplicate,
        }
    }
}

proptest! {
    #![proptest_config(histories(400))]

    /// The C follows the rules as they are written with unbounded numbers.
    #[test]
    fn the_rules_are_followed(scale in 0u8..=14, steps in steps()) {
        let mut connection = Connection::new(scale);
        for step in &steps {
            let sent = connection.send(step);
            prop_assert_eq!(sent.units, sent.formula, "{:?} of {:?}", sent.ack, step);
        }
    }

    /// Whatever the kernel writes: never more than it wrote, nor less than two segments if it wrote as much; its zero
    /// stays zero, and the update that ends it is not zero.
    #[test]
    fn never_above_the_kernels_nor_silly(scale in 0u8..=14, steps in steps()) {
        let mut connection = Connection::new(scale);
        for step in &steps {
            let sent = connection.send(step);
            let unit = connection.unit();
            prop_assert!(sent.units <= sent.ack.units);
            prop_assert_eq!(sent.units == 0, sent.ack.units == 0);
            // A duplicate repeats a window that was sound when segments may have been shorter.
            let least = (sent.ack.units * unit).min(2 * u64::from(step.mss));
            prop_assert!(sent.duplicate || sent.units * unit >= least, "{} units", sent.units);
        }
    }

    /// Under a kernel that retracts nothing, nothing is retracted, rounding included, as far as the peer heeds it: it
    /// does not heed an acknowledgement older than one before it (RFC 9293 section 3.10.7.4). And an acknowledgement
    /// that a sender may count as a duplicate carries the window of the last, unless neither was lowered.
    #[test]
    fn no_edge_is_retracted(scale in 0u8..=14, mut steps in steps()) {
        let mut connection = Connection::new(scale);
        let mut edge = 0;
        let mut last: Option<(u64, u64)> = None;
        for step in &mut steps {
            step.kernel = None;
            let sent = connection.send(step);
            if sent.ack.ack < connection.newest {
                continue;
            }
            let right = sent.ack.ack + sent.units * connection.unit();
            prop_assert!(right >= edge, "{edge} to {right} by {:?}", sent.ack);
            let untouched = last.is_some_and(|(units, kernel)| units == kernel)
                && sent.units == sent.ack.units;
            let repeated = last.is_some_and(|(units, _)| units == sent.units);
            prop_assert!(!sent.duplicate || repeated || untouched);
            edge = right;
            last = Some((sent.units, sent.ack.units));
        }
    }

    /// Steering steers: the field sent is the largest of the wanted, the promised and the least sound window, to a
    /// unit.
    #[test]
    fn no_window_is_wider_than_it_must_be(scale in 0u8..=14, steps in steps()) {
        let mut connection = Connection::new(scale);
        let mut edge = None;
        for step in &steps {
            let sent = connection.send(step);
            let unit = connection.unit();
            let right = sent.ack.ack + sent.units * unit;
            if let (Some(edge), Some(wanted), false) = (edge, step.wanted, sent.duplicate) {
                let promised = u64::saturating_sub(edge, sent.ack.ack);
                let most = promised.max(wanted.into()).max(2 * u64::from(step.mss));
                prop_assert!(sent.units * unit < most + unit);
            }
            edge = Some(edge.map_or(right, |e: u64| e.max(right)));
        }
    }
}

/// Without a law every window is the kernel's own.
#[test]
fn nothing_is_changed_that_is_not_steered() {
    let mut c = sys::tg_window::default();
    for (ack, raw, sack) in [
        (0, 500, 0),
        (1_448, 490, 1),
        (1_448, 600, 1),
        (1_448, 20, 1),
    ] {
        let a = sys::tg_ack {
            ack,
            raw,
            scale: 7,
            bare: 1,
            sack,
        };
        // SAFETY: the record is exclusively ours.
        let sent = unsafe { sys::tg_window_steer(&mut c, &a, sys::TG_UNLIMITED, 1448) };
        assert_eq!(sent, raw);
    }
}

/// The kernel closed its window while a hole stood in the stream, and then its reader caught up: the window update
/// still carries SACK blocks, and must not be taken for a duplicate.
#[test]
fn a_zero_window_ends_though_a_hole_stands() {
    let mut c = sys::tg_window::default();
    let mut send = |ack, raw, sack| {
        let a = sys::tg_ack {
            ack,
            raw,
            scale: 7,
            bare: 1,
            sack,
        };
        // SAFETY: the record is exclusively ours.
        unsafe { sys::tg_window_steer(&mut c, &a, 100_000, 1448) }
    };
    send(1_000, 500, 0);
    assert_eq!(send(65_000, 0, 1), 0);
    assert_eq!(send(65_000, 400, 1), 400);
}
