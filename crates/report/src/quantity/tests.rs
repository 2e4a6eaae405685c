use super::Quantity;
use crate::plot::Scale;

#[test]
fn known_quantities_come_first_and_have_titles() {
    let goodput = Quantity::named("goodput_bps");
    assert_eq!((goodput.unit.as_str(), goodput.factor), ("Mbit/s", 1e-6));
    assert_eq!(goodput.axis().scale, Scale::FromZero);
    assert!(Quantity::rank("queue_delay_ms") < Quantity::rank("goodput_bps"));
    assert!(Quantity::rank("kernel_rtt_ms") < Quantity::rank("anything_else"));
    assert!(goodput.is_main() && !Quantity::named("kernel_rtt_ms").is_main());
}

#[test]
fn unknown_quantities_are_described_by_their_names() {
    let margin = Quantity::named("forecast_margin_bytes");
    assert_eq!(
        (margin.title.as_str(), margin.unit.as_str()),
        ("Forecast margin", "bytes")
    );
    let bare = Quantity::named("state");
    assert_eq!(
        (bare.title.as_str(), bare.unit.as_str(), bare.factor),
        ("State", "", 1.0)
    );
    assert_eq!(Quantity::named("").title, "");
}
