//! Smaller scenarios: without a part, or with a simpler number.

use tidegate_basics::random::digits;
use toml::{Table, Value};

/// The shortest run that we try, in seconds.
const SHORTEST_S: f64 = 3.0;

/// Scenarios that are one step smaller, those that save most first. Some are invalid.
pub fn candidates(table: &Table) -> Vec<Table> {
    let mut all = Vec::new();
    all.extend(shorter(table));
    let mut paths = Vec::new();
    walk(&Value::Table(table.clone()), &mut Vec::new(), &mut paths);
    // Larger parts first: a whole workload or table before its keys.
    paths.sort_by_key(Vec::len);
    all.extend(paths.iter().filter_map(|path| without(table, path)));
    all.extend(paths.iter().filter_map(|path| simpler(table, path)));
    all
}

/// A step into a table or a list.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Nth(usize),
}

/// Collects the paths to all values below.
fn walk(value: &Value, at: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let steps: Vec<(Step, &Value)> = match value {
        Value::Table(table) => table
            .iter()
            .map(|(key, value)| (Step::Key(key.clone()), value))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(n, value)| (Step::Nth(n), value))
            .collect(),
        _ => Vec::new(),
    };
    for (step, value) in steps {
        at.push(step);
        paths.push(at.clone());
        walk(value, at, paths);
        at.pop();
    }
}

/// The value that a step leads to.
fn at<'a>(value: &'a mut Value, step: &Step) -> Option<&'a mut Value> {
    match (value, step) {
        (Value::Table(table), Step::Key(key)) => table.get_mut(key),
        (Value::Array(list), Step::Nth(n)) => list.get_mut(*n),
        _ => None,
    }
}

/// A copy in which `change` has changed the value at the end of the path; none if it changed nothing.
fn changed(
    table: &Table,
    path: &[Step],
    change: impl FnOnce(&mut Value, &Step) -> bool,
) -> Option<Table> {
    let (last, way) = path.split_last()?;
    let mut root = Value::Table(table.clone());
    let holder = way.iter().try_fold(&mut root, at)?;
    if !change(holder, last) {
        return None;
    }
    match root {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// A copy without this key or list item.
fn without(table: &Table, path: &[Step]) -> Option<Table> {
    changed(table, path, |holder, last| match (holder, last) {
        (Value::Table(table), Step::Key(key)) => table.remove(key).is_some(),
        (Value::Array(list), Step::Nth(n)) if list.len() > 1 => {
            list.remove(*n);
            true
        }
        _ => false,
    })
}

/// A copy with a simpler number: one flow instead of several, then half as many; else a number of one digit.
fn simpler(table: &Table, path: &[Step]) -> Option<Table> {
    changed(table, path, |holder, last| {
        let is_flows = matches!(last, Step::Key(key) if key == "flows");
        let Some(value) = at(holder, last) else {
            return false;
        };
        let simple = match value {
            Value::Integer(flows) if is_flows => Value::Integer(*flows / 2),
            Value::Integer(number) if *number > 9 => {
                Value::Integer(digits(*number as f64, 1) as i64)
            }
            Value::Float(number) if *number > 0.0 => Value::Float(digits(*number, 1)),
            _ => return false,
        };
        let is_other = simple != *value;
        *value = simple;
        is_other
    })
}

/// A copy that lasts two thirds of the time.
fn shorter(table: &Table) -> Option<Table> {
    let duration_s = table.get("duration_s")?.as_float()?;
    let less = digits(duration_s * 2.0 / 3.0, 1);
    (SHORTEST_S..duration_s).contains(&less).then(|| {
        let mut shorter = table.clone();
        shorter.insert("duration_s".into(), less.into());
        shorter
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let table = toml::from_str(text).unwrap();
        let text = |table| toml::to_string(&table).unwrap();
        candidates(&table).into_iter().map(text).collect()
    }

    #[test]
    fn each_is_smaller_by_one_step() {
        let candidates = of(
            "duration_s = 12.0\nup = { loss = { random = 0.037 } }\nworkload = [{ flows = 6 }, {}]",
        );
        let has = |text: &str| {
            assert!(
                candidates.iter().any(|c| c == text),
                "{text}\n{candidates:?}"
            );
        };
        has(
            "duration_s = 8.0\n\n[up.loss]\nrandom = 0.037\n\n[[workload]]\nflows = 6\n\n[[workload]]\n",
        );
        has("duration_s = 12.0\n\n[up]\n\n[[workload]]\nflows = 6\n\n[[workload]]\n");
        has(
            "duration_s = 12.0\n\n[up.loss]\nrandom = 0.04\n\n[[workload]]\nflows = 6\n\n[[workload]]\n",
        );
        has(
            "duration_s = 12.0\n\n[up.loss]\nrandom = 0.037\n\n[[workload]]\nflows = 3\n\n[[workload]]\n",
        );
        has("duration_s = 12.0\n\n[up.loss]\nrandom = 0.037\n\n[[workload]]\n");
    }

    /// Otherwise the reduction would never end.
    #[test]
    fn what_has_no_smaller_one_has_none() {
        assert_eq!(of("a = 3\nb = 0.5\nworkload = [{ flows = 1 }]").len(), 5);
        assert!(of("").is_empty());
        assert!(of("duration_s = 3.0").iter().all(|c| c.is_empty()));
    }
}
