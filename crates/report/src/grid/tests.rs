use super::{Column, Grid, Head};

fn columns() -> Vec<Column<(&'static str, u32)>> {
    vec![
        Head::run().cell(|row| Some(row.0.to_owned())),
        Head::text("empty").cell(|_| None),
        Head::number("small")
            .spare(1)
            .cell(|row| Some(row.1.to_string())),
        Head::number("odd")
            .spare(2)
            .cell(|row| (row.1 % 2 == 1).then(|| "odd".to_owned())),
    ]
}

fn names(grid: &Grid) -> Vec<&str> {
    grid.heads.iter().map(|head| head.quantity).collect()
}

#[test]
fn a_column_goes_only_if_all_its_cells_are_empty() {
    let grid = Grid::new("", &[("a", 1), ("b", 2)], columns());
    assert_eq!(names(&grid), ["run", "small", "odd"]);
    assert_eq!(
        grid.rows[1],
        [Some("b".to_owned()), Some("2".to_owned()), None]
    );
    let even = Grid::new("", &[("a", 4), ("b", 2)], columns());
    assert_eq!(names(&even), ["run", "small"]);
}

#[test]
fn the_easiest_missed_columns_go_first_and_some_never() {
    let grid = Grid::new("", &[("a", 1)], columns());
    let width = |grid: &Grid| grid.heads.len();
    assert_eq!(
        names(&grid.clone().fitted(3, width)),
        ["run", "small", "odd"]
    );
    assert_eq!(names(&grid.clone().fitted(2, width)), ["run", "small"]);
    assert_eq!(names(&grid.fitted(0, width)), ["run"]);
}
