use super::{anchor, escape, grid};
use crate::colour::{Pen, Pens};
use crate::fixture::{full_set, set};
use crate::tables::tables;

#[test]
fn markup_from_outside_is_text() {
    assert_eq!(
        escape("<b a=\"1\" b='2'>&amp;</b>"),
        "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;"
    );
    assert_eq!(escape("\u{0}\u{1b}[31m"), "\u{fffd}\u{fffd}[31m");
    assert_eq!(anchor("a b<c>/ü1"), "a-b-c--ü1");
}

#[test]
fn both_rows_of_heads_cover_all_columns() {
    let set = full_set();
    for table in tables(&set) {
        let html = grid(&table, &Pens::default());
        let document = roxmltree::Document::parse(&html).unwrap();
        let rows: Vec<usize> = document
            .descendants()
            .filter(|node| node.has_tag_name("tr"))
            .map(|row| {
                let cells = row.children().filter(|node| node.is_element());
                cells
                    .map(|c| c.attribute("colspan").map_or(1, |n| n.parse().unwrap()))
                    .sum()
            })
            .collect();
        assert_eq!(rows.len(), table.rows.len() + 2);
        assert!(
            rows.iter().all(|cells| *cells == table.heads.len()),
            "{rows:?}"
        );
    }
}

#[test]
fn a_run_has_its_colour_beside_its_name() {
    let set = set();
    let pens = Pens::new(["linux", "tide"]);
    let html = grid(&tables(&set)[0], &pens);
    let line = html.lines().find(|line| line.contains("tide")).unwrap();
    assert!(line.contains(&Pen::nth(1).colour.hex()), "{line}");
}
