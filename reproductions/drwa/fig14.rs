//! Fig. 14 with Table 3 (IMC: 17): throughput over the latency.

use super::carriers::{ALL, Carrier};
use super::downloads::{DRWA, Download, Phone, gain};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Claim, Figure, Quantity, Sample};

/// The figure.
pub fn figure() -> Figure {
    let rows = || {
        ALL.into_iter()
            .flat_map(|c| c.table3.iter().map(move |&row| (c, row)))
    };
    let quantities = rows().map(|(carrier, (ms, paper))| {
        let [untouched, drwa, _] = downloads(carrier, ms).map(|d| d.name());
        let quantity = Quantity::new(
            format!("{}, {ms} ms: throughput", carrier.name),
            "%",
            Claim::Near {
                paper,
                within: 8.0,
                neutral: 0.0,
            },
            move |sample| gain(sample, &drwa, &untouched),
        );
        quantity.because(reason(carrier, ms))
    });
    Figure {
        id: "table-3",
        title: "Throughput over the latency (Table 3 and Fig. 14; IMC: Fig. 17)",
        claim: "The longer the latency, the more DRWA gains; where the static window fills the pipe, it loses \
                nothing.",
        method: "\"Any window\" is DRWA with a window scale that can express any window, as if the phone had been told \
                 before it connected: what the report would have measured on LTE and on Sprint's EVDO if \
                 the handshake did not limit DRWA (see the model of the carriers).",
        cases: rows()
            .flat_map(|(c, (ms, _))| downloads(c, ms))
            .map(Download::case)
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(|sample| ALL.map(|carrier| picture(sample, carrier)).into()),
    }
}

/// Untouched, with DRWA, and with DRWA if its window could be any.
fn downloads(carrier: &'static Carrier, ms: f64) -> [Download; 3] {
    [Phone::Untouched, DRWA, Phone::WideDrwa].map(|phone| Download::new(carrier, phone).rtt(ms))
}

/// What the derivation of the carriers cannot have right for every row at once.
fn reason(carrier: &Carrier, ms: f64) -> &'static str {
    match (carrier.name, ms as u32) {
        ("Verizon LTE", 219) => {
            "the capacity is derived from this very row, as if DRWA filled the link; on a link that fades it \
             takes a window larger than the path holds to do so, and the largest that the phone can express \
             is just that (1.04 times)"
        }
        ("Verizon LTE", _) => {
            "untouched and DRWA are both limited by their windows, which are 1 to 1.44; ours makes use of \
             nearly all of it. The report's means are over a day on a live network: hours in which it carries \
             less than the 8 to 10 Mbit/s that the larger window allows would bring them down, and our \
             link has none"
        }
        ("Verizon EVDO" | "Sprint EVDO", _) => {
            "no single capacity fits this row and the next: DRWA's throughput that Table 3 implies is 2.22 and \
             2.32 Mbit/s (Verizon, 550 and 653 ms), 1.55 and 1.69 (Sprint, 448 and 536 ms). A live \
             network does not carry the same in every row, ours does"
        }
        _ => "",
    }
}

fn picture(sample: &Sample, carrier: &'static Carrier) -> plot::Figure {
    let ours = |ms, phone: usize| {
        let names = downloads(carrier, ms).map(|d| d.name());
        gain(sample, &names[phone], &names[0])
    };
    let points = |read: &dyn Fn(f64, f64) -> f64| {
        let rows = carrier.table3.iter();
        rows.map(|&(ms, paper)| (ms, read(ms, paper))).collect()
    };
    plot::Figure {
        title: carrier.name.into(),
        x: Axis::new("latency, ms", Scale::Linear),
        y: Axis::new("gain, %", Scale::FromZero),
        curves: vec![
            Curve::new("paper", Pen::nth(0), Mark::Line, points(&|_, paper| paper)),
            Curve::new(
                "ours",
                Pen::nth(2),
                Mark::Line,
                points(&|ms, _| ours(ms, 1)),
            ),
            Curve::new(
                "ours, any window",
                Pen::nth(1),
                Mark::Line,
                points(&|ms, _| ours(ms, 2)),
            ),
        ],
        size: plot::Figure::HALF,
    }
}
