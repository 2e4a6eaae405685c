mod common;
use common::{flow, try_run};
fn go(rate: &str, rtt: f64, packets: usize, secs: f64, warm: f64, does: &str) -> tidegate_scenario::RunResult {
    let text = format!("
        duration_s = {secs}
        warmup_s = {warm}
        seed = 1
        down = {{ rate = {rate}, delay_ms = {}, queue = {{ packets = {packets} }} }}
        up = {{ rate = {{ constant_mbps = 50 }}, delay_ms = {} }}
        run = [{{ name = 'linux', congestion_control = 'copa' }}]
        workload = [{{ name = 'one', does = {does} }}]", rtt / 2.0, rtt / 2.0);
    try_run(&text, false).unwrap().runs.remove(0)
}
#[test]
fn copa() {
    for (mbps, rtt, packets) in [(6.0, 50.0, 2000), (12.0, 20.0, 2000), (20.0, 50.0, 2000), (50.0, 40.0, 2000), (100.0, 20.0, 5000), (100.0, 100.0, 5000), (24.0, 300.0, 5000), (42.0, 800.0, 3000)] {
        let r = go(&format!("{{ constant_mbps = {mbps} }}"), rtt, packets, 90.0, 30.0, "{ bulk = {} }");
        let p = 12.0 / mbps;
        println!("C {mbps} {rtt}: use {:.3} mean {:.2} p95 {:.2} max {:.1} drops {}", r.link.utilisation, r.link.queue_delay_ms.mean / p, r.link.queue_delay_ms.p95 / p, r.link.queue_delay_ms.max / p, r.link.drops);
    }
    for (kind, rtt) in [("lte", 50.0), ("lte", 200.0), ("hspa", 50.0), ("evdo", 100.0)] {
        let r = go(&format!("{{ generate = {{ kind = '{kind}', seed = 1 }} }}"), rtt, 2000, 60.0, 5.0, "{ bulk = {} }");
        println!("C {kind} {rtt}: use {:.3} mean ms {:.1} p95 {:.1} drops {}", r.link.utilisation, r.link.queue_delay_ms.mean, r.link.queue_delay_ms.p95, r.link.drops);
    }
}
#[test]
fn sprout() {
    for does in ["{ sprout = {} }", "{ sprout = { forecast = 'ewma' } }"] {
        for mbps in [2.0, 5.0, 10.0] {
            let r = go(&format!("{{ constant_mbps = {mbps} }}"), 40.0, 20000, 60.0, 10.0, does);
            println!("S {does} {mbps}: use {:.3} q95 {:.1} age {:?}", r.link.utilisation, r.link.queue_delay_ms.p95, flow(&r, "one").age_ms.map(|a| (a.p50, a.p95)));
        }
        for kind in ["lte", "hspa", "evdo"] {
            let r = go(&format!("{{ generate = {{ kind = '{kind}', seed = 1 }} }}"), 40.0, 20000, 120.0, 20.0, does);
            println!("S {does} {kind}: use {:.3} q95 {:.1} age {:?}", r.link.utilisation, r.link.queue_delay_ms.p95, flow(&r, "one").age_ms.map(|a| (a.p50, a.p95)));
        }
        for file in ["ATT-LTE-driving.down", "TMobile-UMTS-driving.down", "Verizon-EVDO-driving.down", "TMobile-UMTS-driving.up"] {
            let r = go(&format!("{{ trace = '/work/shared/traces/mahimahi/{file}' }}"), 40.0, 100000, 780.0, 60.0, does);
            println!("S {does} {file}: use {:.3} kbps {:.0} q95 {:.1} age {:?}", r.link.utilisation, r.link.delivered_bps / 1e3, r.link.queue_delay_ms.p95, flow(&r, "one").age_ms.map(|a| (a.p50, a.p95)));
        }
    }
}
