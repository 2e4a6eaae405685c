//! Plans of the shipped scenarios, and scenarios that the machine cannot run.

use super::*;
use std::path::Path;

fn scenario(file: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/script");
    Scenario::load(&folder.join(file)).unwrap()
}

/// The error for the scenario after `change`.
fn complaint(change: impl FnOnce(&mut Scenario)) -> String {
    let mut scenario = scenario("12-6-18.toml");
    change(&mut scenario);
    format!("{:#}", plan(&scenario).unwrap_err())
}

#[test]
fn a_plan_has_the_link_and_the_runs() {
    let plan = plan(&scenario("12-6-18.toml")).unwrap();
    assert_eq!(
        plan.lines().collect::<Vec<_>>(),
        [
            "seconds=120",
            "down=\"0 12000 40 6000 80 18000\"",
            "down_delay_us=20000",
            "down_queue_bytes=1500000",
            "up=\"0 10000\"",
            "up_delay_us=20000",
            "up_queue_bytes=1500000",
            "active_kbit=2000",
            "names=(cake-autorate)",
            "kinds=('autorate 5000 20000 80000 5000 20000 35000')",
        ]
    );
}

/// The script refuses to start otherwise.
#[test]
fn a_connection_counts_as_used_from_the_least_rate_at_most() {
    let plan = plan(&scenario("3-2-4.toml")).unwrap();
    assert!(plan.contains("\nactive_kbit=1500\n"), "{plan}");
    assert!(
        plan.contains("'autorate 1500 3000 4000 1900 1900 1900'"),
        "{plan}"
    );
}

#[test]
fn runs_without_steering_are_in_it() {
    let mut scenario = scenario("12-6-18.toml");
    let mut fixed = scenario.runs[0].clone();
    let shaped = |mbps| ShapedSpec {
        mbps,
        min_mbps: None,
        max_mbps: None,
    };
    fixed.name = "by-hand".into();
    fixed.cake = Some(CakeSpec {
        down: shaped(5.5),
        up: shaped(9.0),
    });
    let mut untouched = fixed.clone();
    untouched.name = "linux".into();
    untouched.cake = None;
    scenario.runs = vec![untouched, fixed];
    let plan = plan(&scenario).unwrap();
    assert!(
        plan.ends_with("names=(linux by-hand)\nkinds=('linux' 'cake 5500 9000')\n"),
        "{plan}"
    );
}

#[test]
fn what_the_machine_has_not_is_named() {
    let of_rate = complaint(|scenario| scenario.down.rate = RateSpec::Trace("lte.down".into()));
    assert!(
        of_rate.starts_with("down: rate: expected constant_mbps or steps"),
        "{of_rate}"
    );
    let of_queue = complaint(|scenario| scenario.up.queue.packets = Some(100));
    assert!(
        of_queue.starts_with("up: queue: expected bytes alone"),
        "{of_queue}"
    );
    let of_name = complaint(|scenario| scenario.runs[0].name = "a b".into());
    assert!(
        of_name.starts_with("run \"a b\": expected a name of letters"),
        "{of_name}"
    );
    let of_hosts = complaint(|scenario| scenario.workloads.truncate(1));
    assert!(
        of_hosts.starts_with("workload: expected a bulk download and a ping"),
        "{of_hosts}"
    );
    let of_length = complaint(|scenario| scenario.duration_s = 1.5);
    assert!(
        of_length.starts_with("duration_s is 1.5, expected a whole number"),
        "{of_length}"
    );
}
