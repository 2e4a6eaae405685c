//! Section 3: classic flow control as an integral controller, and its response to a sinusoidal reader.

use super::paths::{Path, RTT_S};
use crate::means::mean;
use crate::pictures::lines;
use std::f64::consts::TAU;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Mean read rate and amplitude of its swing, in Mbit/s. The paper uses A0 for both; a rate that falls to 0 would
/// close the window, which its equations do not cover.
const MEAN_MBPS: f64 = 3.0;
const SWING_MBPS: f64 = 1.5;

/// Periods of the reader, T, in round trips.
const PERIODS: [f64; 5] = [4.0, 6.0, 8.0, 16.0, 32.0];

/// A buffer that never empties and never limits the rate (B0 "unbounded").
const BUFFER: u64 = 2_000_000;

/// Length of the start-up, which does not count, in seconds.
const SETTLED_S: f64 = 40.0;

/// Length of a bin of the curve, in seconds, and where the reader begins: with its connection.
const BIN_S: f64 = 0.1;
const BEGINS_S: f64 = RTT_S + 0.001;

fn path(period: f64) -> Path {
    Path::scenario(2)
        .swings(MEAN_MBPS, SWING_MBPS, period * RTT_S)
        .buffer(BUFFER)
}

/// ω · RTT.
fn omega_rtt(period: f64) -> f64 {
    TAU / period
}

/// Response of the arrival rate to the read rate.
struct Response {
    /// Amplitude relative to the reader's.
    amplitude: f64,
    /// Lag in radians.
    lag: f64,
}

/// The first harmonic of what the link delivers, from the curve's bins.
fn response(sample: &Sample, period: f64) -> Response {
    let omega = TAU / (period * RTT_S);
    let curves = sample.curves(&path(period).name(), "delivered_bps");
    let (mut sines, mut cosines) = (Vec::new(), Vec::new());
    for curve in curves {
        // Whole periods only.
        let whole = period * RTT_S;
        let last_s = curve.last().map_or(0.0, |point| point.0);
        let until = SETTLED_S + ((last_s - SETTLED_S) / whole).floor() * whole;
        let settled = curve.iter().filter(|p| p.0 >= SETTLED_S && p.0 < until);
        let turn = |t: f64| omega * (t + BIN_S / 2.0 - BEGINS_S);
        let of = |wave: fn(f64) -> f64| {
            2.0 * mean(settled.clone().map(|&(t, bps)| bps / 1e6 * wave(turn(t))))
        };
        sines.push(of(libm::sin));
        cosines.push(of(libm::cos));
    }
    let [sine, cosine] = [sines, cosines].map(|values| mean(values.into_iter()));
    Response {
        amplitude: libm::hypot(sine, cosine) / SWING_MBPS,
        lag: libm::atan2(-cosine, sine).rem_euclid(TAU),
    }
}

/// The figure.
pub fn figure() -> Figure {
    let mut quantities = Vec::new();
    for period in PERIODS {
        let theta = libm::atan(omega_rtt(period));
        quantities.extend([
            Quantity::new(
                format!("T = {period} RTT: amplitude ÷ the reader's (cos θ)"),
                "",
                Claim::Near {
                    paper: round(libm::cos(theta)),
                    within: 0.05,
                    neutral: 1.0,
                },
                move |sample| response(sample, period).amplitude,
            )
            .because(DELAY_LINE),
            Quantity::new(
                format!("T = {period} RTT: lag (θ)"),
                "rad",
                Claim::Near {
                    paper: round(theta),
                    within: 0.1,
                    neutral: 0.0,
                },
                move |sample| response(sample, period).lag,
            )
            .because(DELAY_LINE),
            Quantity::new(
                format!("T = {period} RTT: lag ÷ ω RTT, a delay of one round trip"),
                "",
                Claim::Near {
                    paper: 1.0,
                    within: 0.1,
                    neutral: 0.0,
                },
                move |sample| response(sample, period).lag / omega_rtt(period),
            ),
        ]);
    }
    Figure {
        id: "eq-27",
        title: "A reader that swings: the integral controller of section 3",
        claim: "The rate of classic flow control is A0 [1 + cos θ sin(ωt − θ)] with θ = atan(ω RTT): it lags behind the reader, the more the \
                faster it swings, and its amplitude is smaller.",
        method: "3 Mbit/s, up and down by half of that, over 15, behind 2 MB: swung to 0 the window would close, which the equations do not \
                 have. What the link delivers, its first harmonic. The rows with ω RTT are ours.",
        cases: PERIODS
            .map(|period| path(period).case_with(&["delivered_bps"]))
            .into(),
        quantities,
        draw: Box::new(|sample| {
            let x = PERIODS.map(|period| 1.0 / period);
            let x = ("RTT ÷ T", x.as_slice());
            let series = ["equation 27", "ours"];
            vec![
                lines("Amplitude ÷ the reader's", x, "", &series, |n, s| match s {
                    0 => libm::cos(libm::atan(omega_rtt(PERIODS[n]))),
                    _ => response(sample, PERIODS[n]).amplitude,
                }),
                lines("Lag", x, "rad", &series, |n, s| match s {
                    0 => libm::atan(omega_rtt(PERIODS[n])),
                    _ => response(sample, PERIODS[n]).lag,
                }),
            ]
        }),
    }
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

const DELAY_LINE: &str = "a window is not emptied in proportion to its size, as equation 11 has it (TCP = W ÷ RTT at every moment): each byte read moves its \
     edge by one, and lets one byte leave half a round trip later, which arrives after another half. That is a delay of one round \
     trip, which damps nothing; the equation's first order agrees with it where ω RTT is small";
