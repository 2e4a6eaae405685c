use super::Screen;
use crate::fixture::{flow, full_set, run, set};
use tidegate_scenario::{FlowDirection, ResultSet};

/// As wide as it gets: every optional column, and numbers of many digits.
fn crowded() -> ResultSet {
    let mut set = full_set();
    set.runs.push(run("linux-484848", 1234.5, 12345.6));
    for run in &mut set.runs {
        let upload = tidegate_scenario::FlowResult {
            direction: FlowDirection::Up,
            ..flow("up", 2.0, 90.0)
        };
        run.flows.extend([flow("second", 19.6, 6000.0), upload]);
        run.link.losses = 123_456;
        run.uplink.queue_delay_ms = crate::fixture::quantiles(4321.0);
    }
    set
}

/// For a screen of `width` columns, with colours if `styled`.
fn render(set: &ResultSet, width: usize, styled: bool) -> String {
    super::render(set, &Screen { width, styled }).to_string()
}

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

fn row<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap()
}

#[test]
fn rows_hold_the_runs_in_order() {
    let text = render(&set(), 120, false);
    assert!(text.starts_with("bloat: One download.\n"), "{text}");
    let words: Vec<&str> = row(&text, "tide").split_whitespace().collect();
    assert_eq!(
        words[..5],
        ["tide", "none", "cubic", "19.60", "98.0"],
        "{text}"
    );
    assert!(text.find("\nlinux").unwrap() < text.find("\ntide").unwrap());
}

#[test]
fn numbers_end_where_their_neighbours_end() {
    let text = render(&set(), 120, false);
    let ends = |line: &str, word: &str| -> Vec<usize> {
        let found = line.match_indices(word);
        found
            .map(|(at, _)| line[..at].chars().count() + word.len())
            .collect()
    };
    let (linux, tide) = (row(&text, "linux"), row(&text, "tide"));
    for (above, below) in [("20.00", "19.60"), ("1000.0", "20.0"), ("1200.0", "24.0")] {
        // RTT and delay may share a number: one of them has to be the neighbour.
        let end = ends(linux, above)[0];
        assert!(
            ends(tide, below).contains(&end),
            "{above} over {below}:\n{text}"
        );
    }
}

#[test]
fn no_table_is_wider_than_the_screen_and_no_number_is_broken() {
    let set = crowded();
    for width in [60, 80, 100, 120, 200] {
        let text = render(&set, width, false);
        assert!(widest(&text) <= width, "{width}: {}\n{text}", widest(&text));
        let words: Vec<&str> = row(&text, "linux-484").split_whitespace().collect();
        assert!(
            words.contains(&"1254.10") && words.contains(&"12345.6"),
            "{width}:\n{text}"
        );
    }
}

#[test]
fn what_is_left_out_is_said() {
    let set = crowded();
    assert!(render(&set, 100, false).contains("(no room for: "));
    assert!(!render(&set, 250, false).contains("no room"));
}

#[test]
fn warnings_stand_in_a_box() {
    let mut set = set();
    assert!(!render(&set, 120, false).contains("WARNING"));
    set.runs[1].health.warnings = vec!["the machine was busy".into(), "clock stepped".into()];
    let text = render(&set, 120, false);
    let boxed: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("WARNING"))
        .collect();
    assert_eq!(boxed.len(), 2);
    assert!(
        boxed[0].contains("tide") && boxed[0].contains("the machine was busy"),
        "{text}"
    );
    assert!(
        boxed
            .iter()
            .all(|line| line.starts_with('│') && line.ends_with('│')),
        "{text}"
    );
}

#[test]
fn colours_are_for_terminals() {
    let mut set = set();
    set.runs[0].health.warnings = vec!["busy".into()];
    assert!(!render(&set, 120, false).contains('\u{1b}'));
    assert!(render(&set, 120, true).contains('\u{1b}'));
}

#[test]
fn no_runs_no_rows() {
    assert_eq!(render(&ResultSet::default(), 120, false), "\n");
}

#[test]
fn agreement_fits_the_screen_and_tells_its_reasons() {
    let comparison = tidegate_scenario::Comparison {
        scenario: "a-scenario-of-some-length".into(),
        quantity: "queue_delay_ms.p95".into(),
        kernel: 1234.5,
        sim: 2000.0,
        error: 0.62,
        allowed: 0.1,
        ok: false,
        reason: Some("A sentence that needs more than the width of the screen, ".repeat(3)),
    };
    let screen = super::Screen {
        width: 110,
        styled: false,
    };
    let text = super::render_agreement(&[comparison], &screen).to_string();
    assert!(widest(&text) <= 110, "{text}");
    let line = row(&text, "a-scenario-of-some-length ");
    for cell in ["1234.5 ms", "2000.0 ms", "62.0", "10.0", "differs, known"] {
        assert!(line.contains(cell), "{cell}: {text}");
    }
    assert!(text.contains("0 of 1 agree; 1 differ for a known reason, 0 for none."));
    assert!(text.contains("a-scenario-of-some-length, queue_delay_ms.p95: A sentence"));
}

/// On a terminal, too: its colours are the table's own.
#[test]
fn no_name_controls_the_terminal() {
    const NAME: &str = "\u{1b}[2J\u{202e}run\u{9b}31m";
    let mut set = full_set();
    set.scenario = NAME.into();
    set.description = NAME.into();
    for run in &mut set.runs {
        run.name = NAME.into();
        run.health.warnings = vec![NAME.into()];
        run.flows
            .iter_mut()
            .for_each(|flow| flow.name = NAME.into());
    }
    for styled in [false, true] {
        let text = render(&set, 200, styled);
        assert!(text.contains(r"\u{1b}[2J\u{202e}run"), "{text}");
        let mut own = text.split('\u{1b}');
        let plain = own.next().unwrap().to_owned();
        let after_colours = own.map(|rest| {
            let (colour, rest) = rest.split_once('m').expect("the end of a colour");
            let is_colour = |c: char| c.is_ascii_digit() || c == ';' || c == '[';
            assert!(colour.chars().all(is_colour), "{colour:?}");
            rest
        });
        let all: String = after_colours.fold(plain, |text, rest| text + rest);
        assert_eq!(tidegate_terminal::shown_lines(&all), all);
    }
}
