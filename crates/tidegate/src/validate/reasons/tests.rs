use super::{Known, Quantity, Reasons};

fn labels() -> Vec<String> {
    vec!["loss".to_owned(), "laws: tide".to_owned()]
}

#[test]
fn a_reason_is_found_by_scenario_and_quantity() {
    let text = "[\"laws: tide\"]\n\"rtt_ms.p50\" = \"Its clock.\"";
    let reasons = Reasons::parse(text, &labels()).unwrap();
    assert_eq!(
        reasons.of("laws: tide", Quantity::MedianRtt),
        Some(&Known::Miss("Its clock.".into()))
    );
    assert_eq!(reasons.of("laws: tide", Quantity::Goodput), None);
    assert_eq!(reasons.of("loss", Quantity::MedianRtt), None);
}

#[test]
fn a_reason_for_what_does_not_exist_is_refused() {
    let of = |text: &str| Reasons::parse(text, &labels()).unwrap_err();
    assert!(of("[gone]\n\"rtt_ms.p50\" = \"?\"").contains("\"gone\""));
    assert!(of("[loss]\n\"rtt_ms.p99\" = \"?\"").contains("\"rtt_ms.p99\""));
    assert!(of("[loss]\n\"rtt_ms.p50\" = 3").contains("string"));
    let wide =
        |within| format!("[loss]\n\"rtt_ms.p50\" = {{ within = {within}, because = \"?\" }}");
    assert!(Reasons::parse(&wide("0.3"), &labels()).is_ok());
    assert!(of(&wide("30")).contains("within 30"));
}
