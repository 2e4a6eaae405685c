use super::*;
use crate::{Case, Claim, Figure, Quantity, Results, Study, page};
use std::path::Path;
use tidegate_scenario::{FlowResult, Provenance, RunResult, Scenario};

fn study() -> Study {
    let claim = Claim::at_least(7.0, 0.0);
    of(Quantity::new("goodput", "Mbit/s", claim, |sample| {
        sample.goodput("a")
    }))
}

fn of(quantity: Quantity) -> Study {
    let text = "name = \"x\"\nduration_s = 5\n\
         down = { rate = { constant_mbps = 8 }, delay_ms = 10 }\n\
         up = { rate = { constant_mbps = 8 }, delay_ms = 10 }\n\
         [[workload]]\nname = \"download\"\ndoes = { bulk = {} }\n[[run]]\nname = \"r\"\n";
    let case = Case {
        name: "a".into(),
        scenario: Scenario::parse(text, Path::new("x")).unwrap(),
        curves: Vec::new(),
        once: false,
    };
    let figure = Figure {
        id: "fig-1",
        title: "a title",
        claim: "a claim",
        method: "",
        cases: vec![case],
        quantities: vec![quantity],
        draw: Box::new(|_| Vec::new()),
    };
    let left_out = LeftOut {
        figure: "fig-2".into(),
        reason: "it has <hops>".into(),
    };
    Study::new(vec![figure], 1).without(vec![left_out])
}

fn results(mbps: f64, warnings: &[&str]) -> Results {
    let mut run = RunResult {
        flows: vec![FlowResult {
            goodput_bps: mbps * 1e6,
            ..FlowResult::default()
        }],
        ..RunResult::default()
    };
    run.health.warnings = warnings.iter().map(|w| (*w).into()).collect();
    let mut results = Results::default();
    results.add("a", run);
    results
}

/// The cells of the line that begins with `first`.
fn cells(text: &str, first: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.trim().starts_with(first));
    let line = line.unwrap_or_else(|| panic!("no {first} in {text}"));
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn without_the_kernel_the_table_is_paper_and_ours() {
    let text = table(&study().report(&results(7.5, &[]), None)).to_string();
    assert_eq!(cells(&text, "unit"), ["unit", "paper", "ours", "verdict"]);
    let row = ["goodput", "Mbit/s", "at", "least", "7.00", "7.50", "holds"];
    assert_eq!(cells(&text, "goodput"), row);
    assert!(!text.contains("kernel"), "{text}");
}

#[test]
fn the_kernels_number_and_verdict_stand_beside_the_simulators() {
    let (ours, kernels) = (results(7.5, &[]), results(6.0, &["packets were late"]));
    let report = study().report(&ours, Some(&kernels));
    let text = table(&report).to_string();
    let heads = ["unit", "paper", "simulator", "verdict", "kernel", "verdict"];
    assert_eq!(cells(&text, "unit"), heads);
    let row = cells(&text, "goodput");
    assert_eq!(row[5..], ["7.50", "holds", "6.00", "direction"]);
    for words in [
        "fig-2 is left out: it has <hops>",
        "1 of the runs on the kernel should not be counted; a, seed 1: packets were late",
        "on the kernel 0 hold, 1 in direction, 0 do not; the verdict is the simulator's in 0 of 1",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }

    let json = serde_json::to_value(&report).unwrap();
    let kernel = &json["figures"][0]["quantities"][0]["kernel"];
    assert_eq!(kernel["value"], 6.0);
    assert_eq!(kernel["verdict"], "direction");
    assert_eq!(json["figures"][0]["doubtful"][0]["case"], "a");
    assert_eq!(json["left_out"][0]["figure"], "fig-2");
}

#[test]
fn the_page_has_a_column_for_the_kernel_only_where_it_was_asked() {
    let (ours, kernels) = (results(7.5, &[]), results(6.0, &["packets were late"]));
    let page = |kernel| {
        page(
            "a paper",
            "a model",
            &study(),
            &ours,
            kernel,
            &Provenance::default(),
        )
    };
    let with = page(Some(&kernels));
    for part in [
        "<th class=\"number\">simulator</th><th class=\"number\">kernel</th><th>verdict</th>",
        "<td class=\"number\">7.50</td><td class=\"number\">6.00</td>",
        "<b class=\"holds\">holds</b><br/>on the kernel: <b class=\"direction\">",
        "packets were late",
        "it has &lt;hops&gt;",
    ] {
        assert!(with.contains(part), "{part}: {with}");
    }
    assert!(!page(None).contains("kernel"));
}

/// A list of the runs above some goodput, which may be none.
fn listed(above: f64) -> Study {
    let quantity = Quantity::new("runs", "", Claim::at_most(0.0, 1.0), |_| 1.0);
    of(quantity.listing(move |sample| Listing {
        title: "fast <runs>".into(),
        heads: ["run", "flows", "Mbit/s"].map(String::from).into(),
        rows: Some(sample.goodput("a"))
            .filter(|&mbps| mbps > above)
            .map(|mbps| vec!["one".into(), 3.into(), mbps.into()])
            .into_iter()
            .collect(),
    }))
}

#[test]
fn what_stands_behind_a_number_is_listed_below_it() {
    let (ours, kernels) = (results(7.5, &[]), results(6.0, &[]));
    let report = listed(1.0).report(&ours, Some(&kernels));
    let text = table(&report).to_string();
    assert!(text.contains("fast <runs>\n") && text.contains("fast <runs>, on the kernel\n"));
    assert_eq!(cells(&text, "one"), ["one", "3", "7.50"]);
    let json = serde_json::to_value(&report).unwrap();
    let listings = &json["figures"][0]["listings"];
    assert_eq!(listings[0]["rows"], serde_json::json!([["one", 3, 7.5]]));
    assert_eq!(listings[1]["rows"][0][2], 6.0);
    let page = page(
        "a paper",
        "a model",
        &listed(1.0),
        &ours,
        None,
        &Provenance::default(),
    );
    let row = "<tr><td>one</td><td class=\"number\">3</td><td class=\"number\">7.50</td></tr>";
    assert!(
        page.contains("<h3>fast &lt;runs&gt;</h3>") && page.contains(row),
        "{page}"
    );
}

#[test]
fn a_list_of_nothing_is_left_out() {
    let report = listed(100.0).report(&results(7.5, &[]), None);
    assert!(report.figures[0].listings.is_empty());
    assert!(!table(&report).to_string().contains("fast"));
}
