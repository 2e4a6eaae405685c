use std::time::{Duration, Instant as Wall};
use tidegate_link::*;
use tidegate_probe::emulated::*;
use tidegate_probe::examine::*;
use tidegate_probe::analysis::*;

fn main() {
    let mut args = std::env::args().skip(1);
    let base_seed: u64 = args.next().map_or(1, |s| s.parse().unwrap());
    let only: Option<String> = args.next();
    let rows: Vec<(&str, QueueConfig)> = vec![
        ("4000p tail", q(Some(4000), None, Policy::DropTail)),
        ("800ms aqm", q(None, None, Policy::Codel { target: Duration::from_millis(800), interval: Duration::from_millis(100) })),
        ("400p head", q(Some(400), None, Policy::DropHead)),
        ("600p tail", q(Some(600), None, Policy::DropTail)),
        ("2000p tail", q(Some(2000), None, Policy::DropTail)),
        ("64K tail", q(None, Some(64_000), Policy::DropTail)),
        ("1.5M tail", q(None, Some(1_500_000), Policy::DropTail)),
        ("200K tail", q(None, Some(200_000), Policy::DropTail)),
        ("400K tail", q(None, Some(400_000), Policy::DropTail)),
        ("300p tail", q(Some(300), None, Policy::DropTail)),
        ("1000p tail", q(Some(1000), None, Policy::DropTail)),
        ("5ms codel", q(Some(10000), None, Policy::Codel { target: Duration::from_millis(5), interval: Duration::from_millis(100) })),
        ("pie", q(Some(1000), None, Policy::Pie { target: Duration::from_millis(15) })),
        ("fqcodel", q(Some(10240), None, Policy::FqCodel(FqCodelPolicy::default()))),
        ("2000p head", q(Some(2000), None, Policy::DropHead)),
    ];
    let mut n = 0u64;
    for (name, queue) in rows {
        for (rname, rate) in rates(base_seed) {
            for rtt in [20u64, 80, 200] {
                n += 1;
                if only.is_none() && (n.wrapping_mul(0x9e3779b97f4a7c15) >> 40) % 3 != base_seed % 3 { continue; }
                let label = format!("{name} {rname} {rtt}ms");
                if only.as_ref().is_some_and(|o| !label.contains(o.as_str())) { continue; }
                let seed = base_seed * 1000 + n;
                let config = |rate: Rate, queue| Config {
                    rate, queue, loss: Loss::Random(0.001),
                    delay: Duration::from_micros(rtt * 500).into(),
                    ..Config::default()
                };
                let wall = Wall::now();
                let clock = Clock { ahead: Duration::from_secs(10), drift_ppm: 50.0 };
                let mut e = Emulated::new(config(rate.clone(), queue), config(Rate::Constant(20e6), QueueConfig::default()), clock, seed);
                let f = overflows(&mut e, Side::Server);
                print!("{label:32} {:6.1}MB {:6.1}s wall {:4.1}s ", f.bytes as f64 / 1e6, e.now().as_secs_f64(), wall.elapsed().as_secs_f64());
                match f.buffer { Some(b) => print!("{:?} {:?} {:.3} sp {:.2} n{}", b.unit, b.policy, b.size, b.spread, b.trains), None => print!("NONE") }
                println!(" period {:?}", f.period.map(|p| (p.ms, p.coherence)));
                if only.is_some() {
                    for t in &f.trains {
                        let fl = flights::Flights::of(t);
                        println!("   {} arr {} of {} {:?}", fl.bytes, t.len(), fl.packets.len(), policy::overflow(&fl));
                    }
                }
            }
        }
    }
}
fn q(packets: Option<usize>, bytes: Option<usize>, policy: Policy) -> QueueConfig { QueueConfig { packets, bytes, policy } }
fn rates(seed: u64) -> Vec<(String, Rate)> {
    let mut v: Vec<(String, Rate)> = [0.5e6, 2e6, 7.2e6, 20e6, 50e6].iter().map(|&b| (format!("{}M", b / 1e6), Rate::Constant(b))).collect();
    let flat = |b: f64| RateSeries::steps(&[(Duration::ZERO, b)]).unwrap();
    v.push(("hspa10 5M".into(), Rate::Scheduled(ScheduledSeries::new(flat(5e6), Duration::from_millis(10)).into())));
    v.push(("lte4 18M".into(), Rate::Scheduled(ScheduledSeries::new(flat(18e6), Duration::from_millis(4)).into())));
    for (name, cell) in [("lte", Cell::Lte), ("umts", Cell::Hspa)] {
        let m = CellModel::new(cell, None, seed);
        v.push((format!("trace-{name}"), Rate::Opportunities(m.trace(Duration::from_secs(60)).into())));
    }
    v
}
