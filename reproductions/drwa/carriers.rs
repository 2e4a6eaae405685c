//! The carriers, derived once from numbers that the paper prints, and used unchanged in every figure.
//!
//! **Static limit.** Table 1. For EVDO it has no row; of the rows there are, only Verizon's UMTS row
//! (196608) and Sprint's default row (110208) give rates that EVDO Rev. A has (3.1 Mbit/s at most).
//! The others give 0.4 (35040) and 4.5 to 6 Mbit/s (484848, 393216).
//!
//! **Window of an untouched phone.** ¾ of the limit: the phones ran Linux 2.6.35, whose
//! `tcp_adv_win_scale` is 2, so a quarter of the buffer is kept back for overhead.
//!
//! **Largest window of a phone with DRWA.** 65535 shifted by the window scale, which Linux derives
//! from `tcp_rmem_max` when it connects and nothing can change later. DRWA removes the limit from the
//! algorithm, not from the handshake. The report does not say so; its Table 3 does: DRWA's throughput
//! there, (window ÷ latency) × (1 + gain), is 96, 95, 87 and 91 % of that largest window ÷ latency on
//! Verizon's LTE from 219 ms on, and 86, 91 and 95 % on Sprint's EVDO from 536 ms on. Nothing else in
//! the report explains why the gain on LTE stops growing with the latency.
//!
//! **Capacity.** The largest throughput with DRWA that Table 3 implies: (window ÷ latency) × (1 + gain)
//! over the rows in which the untouched phone is limited by its window, i.e. with a gain above 20 %.
//!
//! **Round trip to the near server.** Not the first latency of Table 3. DRWA's steady state is λ · RTTmin (section
//! 4.3), so with 265 ms the RTT with DRWA would be 795 ms on AT&T's HSPA+; the untouched phone's is window ÷ capacity
//! = 453 ms, and Fig. 15 reports that DRWA *lowers* it by 48.97 %. Nor could 110208 fill the link near the server
//! (Fig. 3). Table 3's latencies are emulated, including the smallest ("from 131ms to 798ms", IMC paper, section 6.1);
//! Figs 2–4, 6–11 and 15–20 use a nearer server. Its distance follows from Fig. 15 by DRWA's own steady state:
//! (1 − reduction) · window ÷ capacity = λ · RTTmin. The four reductions of Fig. 15 are therefore inputs of the model,
//! and so are one row of Table 3 for each carrier (its capacity) and LTE's gain of Fig. 12: they have no verdict.
//!
//! **Server in Korea.** Table 3 has LTE's gain of Fig. 12, 30.36 %, between 131 ms (−1.27 %) and 219 ms
//! (38.67 %), at 201 ms; less the RTT to the near server that is the way to Korea, the same for both
//! carriers.
//!
//! **Buffers.** The report gives none. Its Fig. 5 finds 655360 on HSPA+ and 917504 on LTE best, and
//! losses beyond: windows of 339 and 475 packets. The only measured buffers with that property are
//! those of "ISP B" in the second paper's Table 4.1: 400 packets on HSPA(+), 600 on LTE. EVDO's is taken
//! to be HSPA's.
//!
//! **Middlebox.** On AT&T's HSPA+, as section 3.2 suspects.

use crate::radio::{self, EVDO_HARQ_MS, HSPA_HARQ_MS, LTE_HARQ_MS};

/// The model in words, for the page.
pub const INTRODUCTION: &str = "Every figure is run in the simulator, from one model of each carrier that is \
     derived from the report's tables (static limits, the throughput that Table 3 implies, the RTT \
     reductions of Fig. 15). The nine numbers from which it is derived are inputs, and have no verdict; it is tuned to no \
     other. Untouched phones offer three quarters of \
     tcp_rmem_max, as Linux 2.6.35 does; DRWA has λ = 3 and α = 7/8, and what the window scale of the \
     phone's handshake can express as its largest window. Servers send with CUBIC as it is in Linux \
     6.18. ± is the 95 % confidence interval over seeds.";

/// λ.
pub const LAMBDA: f64 = 3.0;

/// A row of Table 3: latency in ms, gain in percent.
pub type Row = (f64, f64);

/// A carrier's network and the phone on it, as the report has them.
#[derive(Debug)]
pub struct Carrier {
    /// Its name.
    pub name: &'static str,
    /// `tcp_rmem_max` in bytes.
    pub limit: u64,
    /// Its part of Table 3.
    pub table3: &'static [Row],
    /// RTT reduction by DRWA near the server, Fig. 15, in percent.
    pub fig15: f64,
    /// HARQ's round trip, in ms.
    pub harq_ms: f64,
    /// Packets that its buffer holds.
    pub buffer: usize,
    /// Whether a middlebox holds packets that come out of order.
    pub middlebox: bool,
}

/// AT&T's HSPA+, Samsung Galaxy S2.
pub static ATT: Carrier = Carrier {
    name: "AT&T HSPA+",
    limit: 262_144,
    table3: &[
        (265.0, -1.09),
        (347.0, 0.12),
        (451.0, 5.65),
        (570.0, 25.78),
        (677.0, 40.77),
    ],
    fig15: 48.97,
    harq_ms: HSPA_HARQ_MS,
    buffer: 400,
    middlebox: true,
};

/// Verizon's LTE, Samsung Droid Charge.
pub static LTE: Carrier = Carrier {
    name: "Verizon LTE",
    limit: 484_848,
    table3: &[
        (131.0, -1.27),
        (219.0, 38.67),
        (351.0, 37.08),
        (439.0, 25.64),
        (533.0, 30.62),
    ],
    fig15: 35.41,
    harq_ms: LTE_HARQ_MS,
    buffer: 600,
    middlebox: false,
};

/// Verizon's EVDO, Samsung Droid Charge.
pub static EVDO: Carrier = Carrier {
    name: "Verizon EVDO",
    limit: 196_608,
    table3: &[
        (326.0, -2.85),
        (433.0, -0.31),
        (550.0, 3.58),
        (653.0, 28.65),
        (798.0, 50.51),
    ],
    fig15: 48.56,
    harq_ms: EVDO_HARQ_MS,
    buffer: 400,
    middlebox: false,
};

/// Sprint's EVDO, HTC EVO Shift.
pub static SPRINT: Carrier = Carrier {
    name: "Sprint EVDO",
    limit: 110_208,
    table3: &[
        (312.0, 3.54),
        (448.0, 5.19),
        (536.0, 37.39),
        (625.0, 44.62),
        (754.0, 51.06),
    ],
    fig15: 24.09,
    harq_ms: EVDO_HARQ_MS,
    buffer: 400,
    middlebox: false,
};

/// All four, in the order of Fig. 15.
pub static ALL: [&Carrier; 4] = [&ATT, &LTE, &EVDO, &SPRINT];

/// The RTT between US and Korea, in ms: see the head of this file.
pub fn korea_ms() -> f64 {
    let [(near, low), (far, high)] = [LTE.table3[0], LTE.table3[1]];
    near + (far - near) * (30.36 - low) / (high - low) - LTE.near_ms()
}

/// The largest window that a receive buffer of `limit` bytes offers: Linux 2.6.35's
/// `tcp_win_from_space`.
pub fn window(limit: u64) -> u64 {
    limit - limit / 4
}

impl Carrier {
    /// The untouched phone's largest window, in bytes.
    pub fn window(&self) -> u64 {
        window(self.limit)
    }

    /// The largest window that the phone can express, in bytes: `tcp_select_initial_window` shifts
    /// until the limit fits into 16 bits.
    pub fn largest_window(&self) -> u64 {
        let mut scale = 0;
        while self.limit >> scale > u16::MAX.into() {
            scale += 1;
        }
        u64::from(u16::MAX) << scale
    }

    /// Payload that the link carries, in Mbit/s.
    pub fn capacity_mbps(&self) -> f64 {
        self.implied_mbps(self.capacity_row())
    }

    /// The row of Table 3 that gives the capacity: its gain is an input of the model.
    pub fn capacity_row(&self) -> Row {
        let limited = self.table3.iter().copied().filter(|&(_, gain)| gain > 20.0);
        let largest =
            limited.max_by(|a, b| self.implied_mbps(*a).total_cmp(&self.implied_mbps(*b)));
        largest.expect("a row in which the window is the limit")
    }

    /// DRWA's throughput in a row, in Mbit/s.
    fn implied_mbps(&self, (ms, gain): Row) -> f64 {
        self.window() as f64 * 8.0 / (ms * 1e3) * (1.0 + gain / 100.0)
    }

    /// RTT to the near server without queue, in ms.
    pub fn near_ms(&self) -> f64 {
        let untouched = self.window() as f64 * 8.0 / (self.capacity_mbps() * 1e3);
        untouched * (1.0 - self.fig15 / 100.0) / LAMBDA
    }

    /// Rate of the best modulation and coding scheme, in Mbit/s, such that the link carries
    /// [`Self::capacity_mbps`] in good signal.
    pub fn peak_mbps(&self) -> f64 {
        radio::peak_mbps(self.capacity_mbps())
    }
}
