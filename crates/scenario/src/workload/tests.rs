use crate::Scenario;
use std::path::Path;

/// Parses a scenario with that workload.
fn parse(does: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = 'x'
         duration_s = 10
         down = {{ rate = {{ constant_mbps = 1 }}, delay_ms = 1 }}
         up = {{ rate = {{ constant_mbps = 1 }}, delay_ms = 1 }}
         workload = [{{ name = 'w', does = {does} }}]
         run = [{{ name = 'r' }}]"
    );
    Scenario::parse(&text, Path::new("x.toml")).map_err(|e| e.to_string())
}

#[test]
fn workloads_that_make_sense_are_taken() {
    for does in [
        "{ bulk = {} }",
        "{ bulk = { bytes = 1, flows = 3 } }",
        "{ web = { object_bytes = [1000] } }",
        "{ chunks = { chunk_bytes = 1, period_s = 0.1 } }",
        "{ constant_rate = { mbps = 0.1 } }",
        "{ ping = { interval_ms = 10 } }",
        "{ command = { run = ['true'] } }",
        "{ adaptive_video = { algorithm = 'rate' } }",
        "{ adaptive_video = { algorithm = 'bba', ladder_kbps = [100], segment_s = 2, buffer_s = 10, startup_s = 2 } }",
        "{ on_off = { mbps = 1, on = { exponential = { mean_s = 1 } }, off = { pareto = { shape = 1.5, mean_s = 1 } } } }",
    ] {
        parse(does).unwrap();
    }
}

#[test]
fn workloads_that_make_none_are_refused_by_name() {
    for (does, complaint) in [
        ("{ bulk = { flows = 0 } }", "bulk.flows is 0"),
        ("{ bulk = { bytes = 0 } }", "bulk.bytes is 0"),
        (
            "{ web = { object_bytes = [] } }",
            "web.object_bytes has 0 items",
        ),
        (
            "{ web = { object_bytes = [1], pause_s = -1.0 } }",
            "web.pause_s is -1",
        ),
        (
            "{ page = { object_bytes = [1], request_bytes = 0 } }",
            "page.request_bytes is 0",
        ),
        (
            "{ chunks = { chunk_bytes = 0, period_s = 1 } }",
            "chunks.chunk_bytes is 0",
        ),
        (
            "{ chunks = { chunk_bytes = 1, period_s = 0 } }",
            "chunks.period_s is 0",
        ),
        (
            "{ constant_rate = { mbps = nan } }",
            "constant_rate.mbps is NaN",
        ),
        ("{ ping = { interval_ms = -5 } }", "ping.interval_ms is -5"),
        ("{ command = { run = [] } }", "command.run is empty"),
        (
            "{ adaptive_video = { algorithm = 'bba', ladder_kbps = [2, 1] } }",
            "adaptive_video.ladder_kbps is [2.0, 1.0], expected each rate above the one before",
        ),
        (
            "{ adaptive_video = { algorithm = 'bba', buffer_s = 3 } }",
            "adaptive_video.buffer_s is 3, expected 4 (segment_s and startup_s) or more",
        ),
        (
            "{ adaptive_video = { algorithm = 'bba', ladder_kbps = [] } }",
            "ladder_kbps has 0 items, expected 1 to 20",
        ),
        (
            "{ on_off = { mbps = 1, on = { constant = { s = 0 } }, off = { constant = { s = 1 } } } }",
            "on_off.on.constant.s is 0",
        ),
    ] {
        let error = parse(does).unwrap_err();
        assert!(error.starts_with("x.toml:5: workload \"w\": "), "{error}");
        assert!(error.contains(complaint), "{error}");
    }
}

/// A law can only lower windows, and not of those that it does not see.
#[test]
fn a_law_of_its_own_needs_a_window_to_lower() {
    for (keys, complaint) in [
        ("steered = false", "it has a law and steered = false"),
        ("windowless = true", "it has a law and windowless = true"),
    ] {
        let error = parse(&format!("{{ bulk = {{}} }}, law = 'tide', {keys}")).unwrap_err();
        assert!(error.contains(complaint), "{error}");
    }
    parse("{ bulk = {} }, law = 'tide'").unwrap();
    let error = parse("{ bulk = {} }, law = 'tied'").unwrap_err();
    assert!(error.contains("tied"), "{error}");
}
