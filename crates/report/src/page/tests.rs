use crate::fixture::{flow, full_set, run, series, set};
use roxmltree::{Document, Node, ParsingOptions};
use tidegate_scenario::{Comparison, Provenance, ResultSet};

fn page(sets: &[ResultSet]) -> String {
    super::page(sets, &from())
}

fn from() -> Provenance {
    Provenance {
        command: "tidegate sim bloat.toml".into(),
        ..Provenance::default()
    }
}

fn parsed(html: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(html, options).unwrap_or_else(|error| panic!("{error}\n{html}"))
}

fn elements<'a>(document: &'a Document<'a>, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |node| node.tag_name().name() == tag)
}

fn text(node: &Node<'_, '_>) -> String {
    node.descendants()
        .filter(|n| n.is_text())
        .filter_map(|n| n.text())
        .collect()
}

#[test]
fn a_set_has_its_reading_its_table_and_its_figures() {
    let html = page(&[full_set()]);
    let document = parsed(&html);
    assert_eq!(text(&elements(&document, "h1").next().unwrap()), "bloat");
    assert!(html.contains("tide: 95th percentile of queueing delay 20 ms, 1/50 of linux&#39;s"));
    let runs: Vec<String> = elements(&document, "tbody")
        .next()
        .unwrap()
        .descendants()
        .filter(|node| node.tag_name().name() == "th")
        .map(|node| text(&node))
        .collect();
    assert_eq!(runs, ["linux", "tide"]);
    // Bars, trade-off, two of fetches, five over time.
    assert_eq!(elements(&document, "figure").count(), 9);
    for figure in elements(&document, "figure") {
        assert!(
            ["linux", "tide"]
                .iter()
                .all(|name| text(&figure).contains(name))
        );
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere_and_nothing_runs() {
    let html = page(&[full_set(), set()]);
    for element in [
        "<script", "<link", "<img", "<iframe", "@import", "url(", "src=", "<image",
    ] {
        assert!(!html.contains(element), "{element}");
    }
    let policy = "content=\"default-src 'none'; style-src 'sha256-";
    let (before, after) = html.split_once(policy).expect("a policy");
    assert!(after.contains("base-uri 'none'; form-action 'none'\"/>\n<title>"));
    // But for the hash, which may hold anything.
    let html = before.to_owned() + after.split_once('\'').unwrap().1;
    let rest = html.replace("http://www.w3.org/", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("//"));
}

#[test]
fn whatever_comes_from_outside_is_escaped() {
    let evil = "<script>alert(\"x\")</script>&'";
    let mut set = full_set();
    set.scenario = evil.into();
    set.description = evil.into();
    for run in &mut set.runs {
        run.name = evil.into();
        run.congestion_control = evil.into();
        run.flows.push(flow(evil, 1.0, 50.0));
        run.fetches[0].name = evil.into();
        run.health.warnings = vec![evil.into()];
        run.series
            .extend([series(evil, evil, 3.0), series("rtt_ms", evil, 3.0)]);
    }
    let html = page(&[set.clone(), set]);
    let document = parsed(&html);
    assert_eq!(elements(&document, "script").count(), 0);
    assert_eq!(text(&elements(&document, "h2").next().unwrap()), evil);
}

#[test]
fn the_same_results_are_the_same_bytes() {
    let sets = [full_set(), set()];
    assert_eq!(page(&sets), page(&sets));
}

#[test]
fn several_sets_have_an_overview_with_links_that_lead_somewhere() {
    let mut other = set();
    other.scenario = "other".into();
    other.runs.push(run("drwa", 18.0, 80.0));
    // The same name twice must not give the same anchor twice.
    let html = page(&[set(), other.clone(), other]);
    let document = parsed(&html);
    let links: Vec<&str> = elements(&document, "a")
        .filter_map(|a| a.attribute("href"))
        .collect();
    let ids: Vec<String> = document
        .descendants()
        .filter_map(|n| n.attribute("id"))
        .map(|id| format!("#{id}"))
        .collect();
    assert_eq!(links, ids);
    assert_eq!(links.len(), 3);
    assert!(ids[1] != ids[2]);
    let overview = elements(&document, "tbody").next().unwrap();
    let rows = overview.children().filter(|node| node.is_element()).count();
    assert_eq!(rows, 2 + 3 + 3);
}

#[test]
fn warnings_come_before_the_numbers() {
    let mut doubtful = full_set();
    assert!(!page(&[doubtful.clone()]).contains("class=\"alarm\""));
    doubtful.runs[1].health.warnings = vec!["the machine was busy".into()];
    let html = page(&[doubtful]);
    let alarm = html.find("class=\"alarm\"").unwrap();
    assert!(html[alarm..].contains("<b>tide</b>: the machine was busy"));
    assert!(alarm < html.find("<table>").unwrap());
}

#[test]
fn light_and_dark_define_every_colour_that_is_used() {
    let html = page(&[set()]);
    let (style, _) = html.split_once("</style>").unwrap();
    for used in style
        .split("var(")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap())
    {
        assert_eq!(style.matches(&format!("{used}:")).count(), 2, "{used}");
    }
}

#[test]
fn little_or_nothing_is_a_page_too() {
    let nothing = page(&[]);
    parsed(&nothing);
    assert!(nothing.contains("There are no results."));
    assert!(nothing.contains("<code>tidegate sim bloat.toml</code>"));
    let empty = page(&[ResultSet::default()]);
    parsed(&empty);
    let mut odd = set();
    odd.runs[0].link.queue_delay_ms.p95 = f64::NAN;
    odd.runs[1].flows[0].goodput_bps = f64::INFINITY;
    parsed(&page(&[odd]));
}

#[test]
fn agreement_has_its_table_and_both_curves_in_one_picture() {
    let mut pair = full_set();
    for (run, name) in pair.runs.iter_mut().zip(["kernel", "sim"]) {
        run.name = name.into();
        run.series = vec![series("cwnd_packets", "bulk", 10.0)];
    }
    let comparison = Comparison {
        scenario: "bloat".into(),
        quantity: "goodput_bps".into(),
        kernel: 20e6,
        sim: 10e6,
        error: 0.5,
        allowed: 0.03,
        ok: false,
        reason: Some("Half a <moon>.".into()),
    };
    let html = super::agreement_page(&[comparison], &[pair], &from());
    let document = parsed(&html);
    let first_table = elements(&document, "table").next().unwrap();
    let cells = text(&first_table);
    assert!(cells.contains("20.00 Mbit/s") && cells.contains("Half a <moon>."));
    let windows: Vec<Node> = elements(&document, "figure")
        .filter(|figure| text(figure).contains("Congestion window"))
        .collect();
    assert_eq!(windows.len(), 1);
    assert!(
        ["kernel", "sim"]
            .iter()
            .all(|name| text(&windows[0]).contains(name))
    );
}
