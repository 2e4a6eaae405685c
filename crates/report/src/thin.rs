//! Thins curves without changing the picture.

/// Thins a curve to what `columns` pixel columns between `low` and `high` can show: of the points
/// that fall into one column it keeps the first, the smallest, the largest and the last, in their
/// order, so that no peak or dip is lost. Points that are not finite are left out.
pub fn thin(points: &[(f64, f64)], (low, high): (f64, f64), columns: usize) -> Vec<(f64, f64)> {
    let finite = points
        .iter()
        .copied()
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    let mut kept = Vec::new();
    let mut column: Vec<(f64, f64)> = Vec::new();
    let mut current = None;
    for point in finite {
        let here = column_of(point.0, low, high, columns);
        if current != Some(here) {
            keep_extremes(&column, &mut kept);
            column.clear();
            current = Some(here);
        }
        column.push(point);
    }
    keep_extremes(&column, &mut kept);
    kept
}

fn column_of(x: f64, low: f64, high: f64, columns: usize) -> i64 {
    let width = (high - low) / columns.max(1) as f64;
    if width > 0.0 {
        ((x - low) / width).floor() as i64
    } else {
        0
    }
}

fn keep_extremes(column: &[(f64, f64)], kept: &mut Vec<(f64, f64)>) {
    if column.is_empty() {
        return;
    }
    let by_y = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
    let all = 0..column.len();
    let smallest = all.clone().min_by(by_y);
    let largest = all.clone().max_by(by_y);
    let mut chosen =
        [Some(0), smallest, largest, Some(column.len() - 1)].map(|index| index.unwrap_or(0));
    chosen.sort_unstable();
    kept.extend(
        chosen
            .iter()
            .enumerate()
            .filter(|(i, index)| *i == 0 || chosen[i - 1] != **index)
            .map(|(_, index)| column[*index]),
    );
}

#[cfg(test)]
mod tests;
