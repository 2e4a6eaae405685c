//! RSFC (thesis chapter 5) against a phone's buffer, with real senders behind it.

mod common;

use common::{flow, run};
use tidegate_scenario::RunResult;

/// Two minutes of an upload over 100 kbit/s, 25 ms each way, with the 64 KB of an HTC Desire before it
/// (Table 4.2). The law is at the receiver, which the simulator calls the client: the phone's uplink
/// is the link that leads to it.
fn upload(law: &str, sender: &str) -> RunResult {
    run(&format!(
        "duration_s = 120
         warmup_s = 10
         down = {{ rate = {{ constant_mbps = 0.1 }}, delay_ms = 25, queue = {{ bytes = 65536 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}
         hosts = {{ congestion_control = '{sender}' }}
         run = [{{ name = '{law}', law = '{law}' }}]
         workload = [{{ name = 'upload', does = {{ bulk = {{}} }} }}]\n"
    ))
}

/// "TCP Cubic's RTT is greater than 6 s 50% of the time while the RTT with RSFC is close to 1 s more
/// than 90% of the time", "the upload throughput is almost identical" (section 5.2.1). This link is
/// somewhat faster than theirs: the full buffer is 5.2 s.
#[test]
fn an_upload_loses_its_queue_and_keeps_its_throughput() {
    let runs = ["none", "rsfc"].map(|law| upload(law, "cubic"));
    let [cubic, rsfc] = [0, 1].map(|i| flow(&runs[i], "upload"));
    assert!(cubic.rtt_ms.p50 > 5_000.0, "{cubic:?}");
    assert!(rsfc.rtt_ms.p95 < 1_000.0, "{rsfc:?}");
    assert!(
        rsfc.goodput_bps > 0.95 * cubic.goodput_bps,
        "{rsfc:?}, {cubic:?}"
    );
    assert_eq!(runs[1].link.drops, 0);
}

/// With any sender (section 5.2.6).
#[test]
fn every_sender_is_held() {
    for sender in ["reno", "westwood", "vegas", "bbr"] {
        let run = upload("rsfc", sender);
        let upload = flow(&run, "upload");
        assert!(upload.rtt_ms.p95 < 1_000.0, "{sender}: {upload:?}");
        assert!(run.link.utilisation > 0.95, "{sender}: {run:?}");
    }
}
