//! A reader that stops and starts: classic flow control as in the AFC paper, and AFC.

mod common;

use common::{assert_near, flow, run};

/// A path and its reader, as in the paper's Table 3.
struct Case {
    /// Mbit/s of each slot.
    reads: &'static str,
    slot_s: f64,
    delay_ms: f64,
    network_mbps: f64,
    buffer: u64,
    flow_control: &'static str,
}

impl Case {
    /// Scenario 2. The slots last as long as the round trip, including two segments' 0.8 ms each: if they were a
    /// millisecond shorter, classic windows would fall into a rhythm that never meets a closed window, and get 1.9
    /// Mbit/s instead of the 1.33 that the paper computes.
    const STALLING: Self = Self {
        reads: "[0, 6, 6]",
        slot_s: 0.532,
        delay_ms: 265.0,
        network_mbps: 15.0,
        buffer: 256 << 10,
        flow_control: "classic",
    };

    fn adaptive(self) -> Self {
        Self {
            flow_control: "adaptive",
            ..self
        }
    }

    /// Mbit/s that the application reads in 120 s.
    fn goodput_mbps(&self) -> f64 {
        let link = format!(
            "{{ rate = {{ constant_mbps = {} }}, delay_ms = {}, queue = {{ packets = 1000 }} }}",
            self.network_mbps, self.delay_ms,
        );
        let slots = format!("{{ mbps = {}, slot_s = {} }}", self.reads, self.slot_s);
        let result = run(&format!(
            "duration_s = 120
             hosts = {{ congestion_control = 'reno', slow_start_after_idle = false }}
             down = {link}
             up = {link}
             workload = [{{ name = 'reader', does = {{ reader = {{ reads = {{ slots = {slots} }} }} }} }}]
             run = [{{ name = 'r', window = {}, flow_control = '{}' }}]\n",
            self.buffer, self.flow_control,
        ));
        flow(&result, "reader").goodput_bps / 1e6
    }
}

/// Table 3, scenario 2: the ideal is 4 Mbit/s, the paper's classic windows got 1.45. A reader empties its buffer in
/// 0.66 of a round trip: unless refused data are under way again by then, 83 % is the most.
#[test]
fn a_stalling_reader_gets_a_third_from_classic_windows_and_most_from_afc() {
    let classic = Case::STALLING.goodput_mbps();
    let adaptive = Case::STALLING.adaptive().goodput_mbps();
    assert_near(classic, 1.45, 0.1);
    assert!(adaptive > 0.95 * 4.0, "{adaptive} Mbit/s");
    assert!(adaptive > 2.0 * classic, "{adaptive} against {classic}");
}

/// Refused data are no congestion, whatever the slots: a halved window would show for minutes.
#[test]
fn a_buffer_that_overflows_costs_no_congestion_window() {
    for slot_s in [0.5, 0.53, 0.535, 0.8] {
        let other = Case {
            slot_s,
            ..Case::STALLING
        };
        let adaptive = other.adaptive().goodput_mbps();
        assert!(
            adaptive > 0.8 * 4.0,
            "{adaptive} Mbit/s in slots of {slot_s} s"
        );
    }
}

/// A steady reader's buffer is always full (equation 33): data that find no room then are no congestion either.
#[test]
fn a_steady_reader_behind_a_full_buffer_gets_what_it_reads() {
    let steady = Case {
        reads: "[4]",
        ..Case::STALLING
    };
    let adaptive = steady.adaptive().goodput_mbps();
    // The start counts, too.
    assert!(adaptive > 0.95 * 4.0, "{adaptive} Mbit/s");
}

/// Fig. 7(a): 10 ms, behind a buffer of three segments and a half.
#[test]
fn a_short_path_with_a_tiny_buffer_is_used() {
    let short = || Case {
        slot_s: 0.012,
        delay_ms: 5.0,
        buffer: 5000,
        ..Case::STALLING
    };
    let (classic, adaptive) = (short().goodput_mbps(), short().adaptive().goodput_mbps());
    assert!(adaptive > 0.83 * 4.0, "{adaptive} Mbit/s");
    assert!(adaptive > 2.0 * classic, "{adaptive} against {classic}");
}

/// One slot of reading ends before the sender has heard of it (§5.4.5): little is gained.
#[test]
fn a_reader_that_stops_after_one_slot_is_limited_by_its_buffer() {
    let short = || Case {
        reads: "[0, 6]",
        ..Case::STALLING
    };
    let classic = short().goodput_mbps();
    assert_near(short().adaptive().goodput_mbps(), classic, 0.15);
}

/// Scenario 1: the ideal is 2 Mbit/s, what the network carries.
#[test]
fn a_slow_network_is_used_while_the_reader_stalls() {
    let slow = || Case {
        network_mbps: 2.0,
        buffer: 128 << 10,
        ..Case::STALLING
    };
    let (classic, adaptive) = (slow().goodput_mbps(), slow().adaptive().goodput_mbps());
    assert!(classic < 0.6 * 2.0, "{classic} Mbit/s");
    assert!(adaptive > 0.85 * 2.0, "{adaptive} Mbit/s");
    assert!(adaptive > 2.0 * classic, "{adaptive} against {classic}");
}

/// §2.4.1: ⟨2, 6⟩ Mbit/s over 4 Mbit/s and a second, with 500 KB: classic windows get 2.9 to 3 of 4 Mbit/s.
#[test]
fn a_varying_reader_costs_classic_windows_a_quarter() {
    let varying = || Case {
        reads: "[2, 6]",
        slot_s: 1.0,
        delay_ms: 500.0,
        network_mbps: 4.0,
        buffer: 500_000,
        ..Case::STALLING
    };
    let classic = varying().goodput_mbps();
    assert_near(classic, 2.9, 0.05);
    assert!(varying().adaptive().goodput_mbps() > 1.2 * classic);
}

/// Equation 3: three times the buffer has the same effect; the paper prints 3.86 Mbit/s.
#[test]
fn a_threefold_buffer_carries_a_stall() {
    let large = Case {
        buffer: 768 << 10,
        ..Case::STALLING
    };
    assert_near(large.goodput_mbps(), 3.86, 0.02);
}
