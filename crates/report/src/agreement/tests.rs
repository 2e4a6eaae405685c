use super::{grid, grid_with_reasons, reasons, summary};
use tidegate_scenario::Comparison;

fn comparison(scenario: &str, quantity: &str, sim: f64, reason: Option<&str>) -> Comparison {
    Comparison {
        scenario: scenario.into(),
        quantity: quantity.into(),
        kernel: 20e6,
        sim,
        error: (sim / 20e6 - 1.0).abs(),
        allowed: 0.03,
        ok: (sim / 20e6 - 1.0).abs() <= 0.03,
        reason: reason.map(str::to_owned),
    }
}

fn three() -> [Comparison; 3] {
    [
        comparison("loss", "goodput_bps", 19.5e6, None),
        comparison("loss", "up_bps", 22e6, Some("The moon.")),
        comparison("trace", "goodput_bps", 10e6, None),
    ]
}

#[test]
fn each_verdict_is_told_and_counted() {
    let grid = grid(&three());
    let column = |name| {
        let index = grid.heads.iter().position(|h| h.quantity == name).unwrap();
        let cells = grid.rows.iter().map(move |row| row[index].clone());
        cells.map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    assert_eq!(column("verdict"), ["ok", "differs, known", "differs"]);
    assert_eq!(column("scenario"), ["loss", "loss", "trace"]);
    assert_eq!(
        column("sim"),
        ["19.50 Mbit/s", "22.00 Mbit/s", "10.00 Mbit/s"]
    );
    assert_eq!(
        summary(&three()),
        "1 of 3 agree; 1 differ for a known reason, 1 for none."
    );
}

#[test]
fn reasons_stand_below_a_narrow_table_and_inside_a_wide_one() {
    let told: Vec<String> = reasons(&three()).collect();
    assert_eq!(told, ["loss, up_bps: The moon."]);
    let narrow = grid(&three()).heads.len();
    let wide = grid_with_reasons(&three());
    assert_eq!(wide.heads.len(), narrow + 1);
    assert_eq!(wide.rows[1].last().unwrap().as_deref(), Some("The moon."));
}
