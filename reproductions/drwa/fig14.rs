//! Fig. 14 with Table 3 (IMC: 17): throughput over the latency.

use super::carriers::{ALL, ATT, Carrier, LTE, Row};
use super::downloads::{DRWA, Download, Phone, gain};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Untouched, with DRWA, and with DRWA without a limit on its window. The last is neither in the table nor run on the
/// kernel.
const PHONES: [Phone; 3] = [Phone::Untouched, DRWA, Phone::WideDrwa];

/// A carrier and the rows of Table 3 that are run.
type Part = (&'static Carrier, Vec<Row>);

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let (parts, phones) = match extent.lab {
        true => ([&ATT, &LTE].map(ends).into(), &PHONES[..2]),
        false => (ALL.map(|c| (c, c.table3.into())).into(), &PHONES[..]),
    };
    build(parts, phones)
}

/// The rows for which the laboratory has time: the shortest latency and the longest.
fn ends(carrier: &'static Carrier) -> Part {
    let [first, .., last] = carrier.table3 else {
        panic!("a table of rows");
    };
    (carrier, vec![*first, *last])
}

fn build(parts: Vec<Part>, phones: &'static [Phone]) -> Figure {
    let rows = || {
        let parts = parts.iter();
        parts.flat_map(|(c, rows)| rows.iter().map(move |&row| (*c, row)))
    };
    let quantities = rows().map(|(carrier, (ms, paper))| {
        let [untouched, drwa] = [Phone::Untouched, DRWA].map(|p| download(carrier, p, ms).name());
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
        let quantity = quantity.input(carrier.capacity_row().0 == ms);
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
            .flat_map(|(c, (ms, _))| phones.iter().map(move |&phone| download(c, phone, ms)))
            .map(Download::case)
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(move |sample| {
            let pictures = parts.iter().map(|part| picture(sample, part, phones));
            pictures.collect()
        }),
    }
}

fn download(carrier: &'static Carrier, phone: Phone, ms: f64) -> Download {
    Download::new(carrier, phone).rtt(ms)
}

/// Why the derived carriers cannot match every row at once.
fn reason(carrier: &Carrier, ms: f64) -> &'static str {
    match (carrier.name, ms as u32) {
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

/// The gains over the first phone of all others.
fn picture(sample: &Sample, (carrier, rows): &Part, phones: &[Phone]) -> plot::Figure {
    let points = |read: &dyn Fn(Row) -> f64| rows.iter().map(|&row| (row.0, read(row))).collect();
    let curve = |label: &str, nth, points| Curve::new(label, Pen::nth(nth), Mark::Line, points);
    let ours = |phone| {
        points(&|(ms, _)| {
            let [of, over] = [phone, phones[0]].map(|p| download(carrier, p, ms).name());
            gain(sample, &of, &over)
        })
    };
    let labels = [("ours", 2), ("ours, any window", 1)];
    let mut curves = vec![curve("paper", 0, points(&|(_, paper)| paper))];
    curves.extend(
        labels
            .iter()
            .zip(&phones[1..])
            .map(|(&(label, nth), &phone)| curve(label, nth, ours(phone))),
    );
    plot::Figure {
        title: carrier.name.into(),
        x: Axis::new("latency, ms", Scale::Linear),
        y: Axis::new("gain, %", Scale::FromZero),
        curves,
        size: plot::Figure::HALF,
    }
}
