//! The laws in the packet model, over traces.
mod model;
use model::*;
use std::sync::Arc;
use std::time::Duration;
use tidegate_laws::{Law, Params};
use tidegate_link::*;

fn traces() -> Vec<(String, Rate)> {
    let mut v = vec![];
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    for n in [
        "ATT-LTE-driving-2016",
        "ATT-LTE-driving",
        "TMobile-LTE-driving",
        "TMobile-LTE-short",
        "Verizon-LTE-short",
        "TMobile-UMTS-driving",
        "Verizon-EVDO-driving",
    ] {
        let t = std::fs::read_to_string(dir.join(format!("mahimahi/{n}.down"))).unwrap();
        v.push((
            n.to_string(),
            Rate::Opportunities(Arc::new(Trace::parse(&t).unwrap())),
        ));
    }
    let t = std::fs::read_to_string(dir.join("starlink/leocc-starlink.down")).unwrap();
    v.push((
        "starlink".into(),
        Rate::Opportunities(Arc::new(Trace::parse(&t).unwrap())),
    ));
    v.push((
        "lte-gen".into(),
        Rate::Cell(CellModel::new(Cell::Lte, None, 7)),
    ));
    v.push(("const20".into(), Rate::Constant(20e6)));
    v
}

#[test]
fn table() {
    let laws = [
        (
            "drwa",
            Params {
                law: Law::Drwa,
                ..Params::default()
            },
        ),
        ("tide", Params::default()),
    ];
    let mut sums = vec![(0.0, 0.0, 0.0); laws.len()];
    let mut n = 0.0;
    for (name, rate) in traces() {
        for rtt in [20u64, 50, 100, 250] {
            let mut line = format!("{name:22} {rtt:4}");
            n += 1.0;
            for (k, (_, params)) in laws.iter().enumerate() {
                let m = Model {
                    down: Config {
                        rate: rate.clone(),
                        delay: Duration::from_millis(rtt / 2).into(),
                        queue: QueueConfig {
                            packets: None,
                            bytes: None,
                            policy: Policy::DropTail,
                        },
                        loss: Loss::None,
                    },
                    back: vec![(Duration::ZERO, Duration::from_millis(rtt / 2))],
                    params: *params,
                    sources: vec![Source::bulk(0)],
                    duration: Duration::from_secs(120),
                    warmup: Duration::from_secs(5),
                };
                let o = m.run();
                line += &format!(
                    " | {:5.1}% {:6.1} {:6.1} {:6.0} d{}",
                    o.utilisation * 100.0,
                    o.mean_delay_ms,
                    o.p95_delay_ms,
                    o.peak_delay_ms,
                    o.drains
                );
                sums[k].0 += o.utilisation;
                sums[k].1 += o.mean_delay_ms.ln();
                sums[k].2 += o.p95_delay_ms.ln();
            }
            println!("{line}");
        }
    }
    for (k, (name, _)) in laws.iter().enumerate() {
        println!(
            "{name}: util {:.2} geo mean {:.1} p95 {:.1} ratio {:.3}",
            sums[k].0 / n * 100.0,
            (sums[k].1 / n).exp(),
            (sums[k].2 / n).exp(),
            ((sums[k].1 - sums[0].1) / n).exp()
        );
    }
}
