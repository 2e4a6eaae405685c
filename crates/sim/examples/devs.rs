use std::{collections::BTreeMap, fmt::Write, path::Path};
use tidegate_scenario::Scenario;
fn jain(v: &[f64]) -> f64 {
    let s: f64 = v.iter().sum();
    s * s / v.len() as f64 / v.iter().map(|x| x * x).sum::<f64>().max(1e-9)
}
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    // dirs counts(;-separated) gaps fair dur rate delay
    let f = |i: usize, d: &str| a.get(i).cloned().unwrap_or(d.into());
    let dur: f64 = f(4, "40").parse().unwrap();
    for dir in f(0, "up").split(',') {
        for counts in f(1, "8").split(';') {
            for gap in f(2, "0.5").split(',') {
                for fair in f(3, "flow").split(',') {
                    for law in f(7, "tide").split(',') {
                    let (rate, delay) = (f(5, "60"), f(6, "30"));
                    let mut s = format!("name = \"d\"\nduration_s = {dur}\nwarmup_s = {}\ndown = {{ rate = {{ constant_mbps = {rate} }}, delay_ms = {delay} }}\nup = {{ rate = {{ constant_mbps = {rate} }}, delay_ms = {delay} }}\n", dur * 0.4);
                    let mut k = 0.0;
                    let g: f64 = gap.parse().unwrap();
                    for (d, n) in counts.split('+').enumerate() {
                        for i in 0..n.parse::<usize>().unwrap() {
                            write!(s, "[[workload]]\nname = \"d{d}f{i}\"\ndevice = \"d{d}\"\nstart_s = {}\ndoes = {{ bulk = {{ direction = \"{dir}\" }} }}\n", k * g).unwrap();
                            k += 1.0;
                        }
                    }
                    write!(s, "[[run]]\nname = \"x\"\nfair = \"{fair}\"\nlaw = \"{law}\"\n").unwrap();
                    let sc = Scenario::parse(&s, Path::new("x.toml")).unwrap();
                    let set = tidegate_sim::run_scenario(&sc, &sc.link_inputs(Path::new("x.toml")).unwrap(), &Default::default()).unwrap();
                    let r = serde_json::to_value(&set.runs[0]).unwrap();
                    let mut dev: BTreeMap<String, f64> = BTreeMap::new();
                    let mut all = vec![];
                    for fl in r["flows"].as_array().unwrap() {
                        let n = fl["flow"].as_str().or(fl["name"].as_str()).unwrap();
                        let x = fl["goodput_bps"].as_f64().unwrap() / 1e6;
                        all.push(x);
                        *dev.entry(n.split('f').next().unwrap().into()).or_default() += x;
                    }
                    let l = if dir == "down" { &r["link"] } else { &r["uplink"] };
                    let dv: Vec<f64> = dev.values().copied().collect();
                    println!("{law} {dir} {counts} gap {gap} {fair}: total {:.1} Jdev {:.3} Jflow {:.3} min {:.2} max {:.2} q {:.1} p95 {:.1}", all.iter().sum::<f64>(), jain(&dv), jain(&all),
                        all.iter().fold(1e9, |a: f64, b| a.min(*b)), all.iter().fold(0.0, |a: f64, b| a.max(*b)), l["queue_delay_ms"]["mean"].as_f64().unwrap_or(-1.0), l["queue_delay_ms"]["p95"].as_f64().unwrap_or(-1.0));
                }}
            }
        }
    }
}
