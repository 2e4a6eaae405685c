//! The radio of a phone on a desk.
//!
//! **Signal.** Good (−75 to −87 dBm, section 5.1 of the DRWA report) or weak (−95 to −105, its Fig. 16). At −105 dBm
//! they could still measure, so we place it where the lowest modulation and coding scheme begins, at −6.9 dB; the
//! middles of the two ranges are then 17 and −2 dB. Fading of 4 dB that changes within 150 ms matches the shipped cell
//! models (0.25 to 0.6 nepers of rate). Those models themselves describe phones in moving cars: with them, gains set
//! in 100 ms earlier than in its Table 3.
//!
//! **Link-layer retransmission.** A tenth of the transmissions fails: link adaptation steers to that rate, and the
//! schemes' rates are defined for it. The next try comes after HARQ's round trip: 8 ms in LTE, 12 ms in HSPA (six
//! intervals of 2 ms), 6.7 ms in EVDO (four slots of 5/3 ms).

use std::time::Duration;
use tidegate_link::SignalWalk;
use tidegate_scenario::{ArqSpec, RateSpec, WalkSpec};

/// Signal-to-noise ratios in good and weak signal, in dB.
pub const GOOD_DB: f64 = 17.0;
/// See [`GOOD_DB`].
pub const WEAK_DB: f64 = -2.0;

/// HARQ's round trips, in ms.
pub const HSPA_HARQ_MS: f64 = 12.0;
/// See [`HSPA_HARQ_MS`].
pub const LTE_HARQ_MS: f64 = 8.0;
/// See [`HSPA_HARQ_MS`].
pub const EVDO_HARQ_MS: f64 = 20.0 / 3.0;

/// Fading: its deviation in dB, and its time in ms.
const FADING_DB: f64 = 4.0;
const COHERENCE_MS: f64 = 150.0;

/// Share of transmissions that fail.
const BLOCK_ERRORS: f64 = 0.1;

/// Largest number of transmissions of a packet: a loss in 10⁸.
const TRIES: u32 = 8;

/// Bits on the link for each bit of payload.
pub const HEADERS: f64 = 1500.0 / 1448.0;

/// Rate of the best modulation and coding scheme, in Mbit/s, with which the link carries that much payload in good
/// signal.
pub fn peak_mbps(payload_mbps: f64) -> f64 {
    let still = SignalWalk::new(&[(Duration::ZERO, GOOD_DB)], 1e9, None, 0);
    let share = still.expect("a signal").mean_bps() / 1e9;
    payload_mbps * HEADERS / share
}

/// A rate that follows the signal: seconds and dB.
pub fn rate(peak_mbps: f64, points: Vec<[f64; 2]>) -> RateSpec {
    RateSpec::Walk(WalkSpec {
        peak_mbps,
        points,
        fading_db: FADING_DB,
        coherence_ms: COHERENCE_MS,
        seed: None,
    })
}

/// Failed transmissions, tried again after HARQ's round trip in ms.
pub fn arq(retry_ms: f64) -> ArqSpec {
    ArqSpec {
        error: Some(BLOCK_ERRORS),
        error_by_db: None,
        retry_ms,
        tries: TRIES,
    }
}
