use super::{Quantity, Reasons};

fn labels() -> Vec<String> {
    vec!["loss".to_owned(), "laws: tide".to_owned()]
}

#[test]
fn a_reason_is_found_by_scenario_and_quantity() {
    let text = "[\"laws: tide\"]\n\"rtt_ms.p50\" = \"Its clock.\"";
    let reasons = Reasons::parse(text, &labels()).unwrap();
    assert_eq!(
        reasons.of("laws: tide", Quantity::MedianRtt),
        Some("Its clock.")
    );
    assert_eq!(reasons.of("laws: tide", Quantity::Goodput), None);
    assert_eq!(reasons.of("loss", Quantity::MedianRtt), None);
}

#[test]
fn a_reason_for_what_does_not_exist_is_refused() {
    let of = |text| Reasons::parse(text, &labels()).unwrap_err();
    assert!(of("[gone]\n\"rtt_ms.p50\" = \"?\"").contains("\"gone\""));
    assert!(of("[loss]\n\"rtt_ms.p99\" = \"?\"").contains("\"rtt_ms.p99\""));
    assert!(of("[loss]\n\"rtt_ms.p50\" = 3").contains("string"));
}
