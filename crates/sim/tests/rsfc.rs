//! RSFC (thesis chapter 5) against a phone's buffer, with a real sender behind it.

mod common;

use common::{flow, run};
use tidegate_scenario::RunResult;

/// Two minutes of an upload over `kbps`, 25 ms each way, with the 64 KB of an HTC Desire (Table 4.2)
/// before it. Seen from its receiver, where the law is: the uplink is what comes down.
fn upload(kbps: u32, law: &str, sender: &str) -> RunResult {
    run(&format!(
        "duration_s = 120
         warmup_s = 10
         down = {{ rate = {{ constant_mbps = {} }}, delay_ms = 25, queue = {{ bytes = 65536 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}
         hosts = {{ congestion_control = '{sender}' }}
         run = [{{ name = '{law}', law = '{law}' }}]
         workload = [{{ name = 'upload', does = {{ bulk = {{}} }} }}]\n",
        f64::from(kbps) / 1e3
    ))
}

#[test]
fn explore() {
    for kbps in [50, 100, 200, 400, 1000, 5000] {
        for sender in ["cubic"] {
            for law in ["none", "rsfc"] {
                let r = upload(kbps, law, sender);
                let f = flow(&r, "upload");
                println!(
                    "{kbps} {sender} {law}: {:.1} kbit/s rtt {:?} drops {} util {:.4} p {:?}",
                    f.goodput_bps / 1e3,
                    f.rtt_ms,
                    r.link.drops,
                    r.link.utilisation,
                    r.link.queue_delay_ms.p50
                );
            }
        }
    }
}
