use super::*;

/// One mechanism before one judge, of a rate and a delay: their values with and without it, and the gains.
fn swept(constant: &'static str, judge: &'static str, without: [f64; 2], gains: [f64; 2]) -> Swept {
    let value = |value, measured: [f64; 2], gains: [f64; 2], verdict| Value {
        value,
        measured: measured.into(),
        certain: vec![0.01, 0.02],
        gains: gains.into(),
        verdict,
    };
    let with = [10.0, 50.0];
    Swept {
        constant,
        place: "mechanisms.h",
        says: "does something",
        in_use: 1.0,
        judge,
        measures: vec!["rate".into(), "delay".into()],
        values: vec![
            value(1.0, with, [0.0; 2], Verdict::InUse),
            value(0.0, without, gains, Verdict::Worse),
        ],
    }
}

#[test]
fn a_mechanism_is_worth_what_differs_by_more_than_chance() {
    let all = [
        swept("TG_WITH_FLOORS", "links", [9.0, 51.0], [-2.0, -0.4]),
        swept("TG_WITH_FLOORS", "crowd", [10.0, 40.0], [0.0, 3.0]),
        swept("TG_WITH_TURNS", "links", [10.0, 50.5], [0.0, -0.2]),
    ];
    let told = worth(&all);
    let row = "| `FLOORS` | does something | links: rate -10 ± 1.0 %; crowd: delay -20 ± 2.0 % |";
    assert!(told.contains(row), "{told}");
    assert!(
        told.contains("| `TURNS` | does something | the same |"),
        "{told}"
    );
}
