//! Results as tables. Columns have the names of the results' fields and of the columns of `tidegate sim --out`, with
//! their units.

use crate::results::{Results, Set};
use crate::table::{Table, Values};
use tidegate_report::{METRICS, Measured};
use tidegate_scenario::{ArrivalsResult, FlowClassResult, LinkResult, Quantiles, RunResult};
use toml::Value;

/// A run, with what distinguishes it from the others.
#[derive(Clone, Copy)]
struct Of<'a> {
    set: &'a Set,
    nth: usize,
}

impl<'a> Of<'a> {
    fn run(self) -> &'a RunResult {
        &self.set.results.runs[self.nth]
    }
}

fn all(results: &Results) -> impl Iterator<Item = Of<'_>> {
    let sets = results.sets.iter();
    sets.flat_map(|set| (0..set.results.runs.len()).map(move |nth| Of { set, nth }))
}

/// Rows, each with its run; columns are made from them one after another.
struct Rows<'a, T> {
    rows: Vec<(Of<'a>, T)>,
    columns: Vec<(String, Values)>,
    /// The first columns, which tell the rows apart.
    telling: usize,
}

impl<'a, T> Rows<'a, T> {
    /// The rows that `of` finds in each run, after the variations and the run's name.
    fn new<I>(results: &'a Results, of: impl Fn(&'a RunResult) -> I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let rows =
            all(results).flat_map(|run| of(run.run()).into_iter().map(move |row| (run, row)));
        let rows: Vec<_> = rows.collect();
        let columns = results.columns.iter().enumerate();
        let varied = columns.map(|(nth, name)| {
            let values: Vec<_> = rows.iter().map(|(run, _)| &run.set.values[nth]).collect();
            (name.clone(), varied(&values))
        });
        let columns: Vec<_> = varied.collect();
        let new = Self {
            telling: columns.len(),
            rows,
            columns,
        };
        new.text_of_run("run", |run| run.run().name.clone())
    }

    fn text_of_run(mut self, name: &str, of: impl Fn(Of) -> String) -> Self {
        let values = self.rows.iter().map(|(run, _)| of(*run)).collect();
        self.columns.push((name.into(), Values::Text(values)));
        self.that_tell()
    }

    fn text(mut self, name: &str, of: impl Fn(&T) -> String) -> Self {
        let values = self.rows.iter().map(|(_, row)| of(row)).collect();
        self.columns.push((name.into(), Values::Text(values)));
        self.that_tell()
    }

    /// All columns so far tell the rows apart.
    fn that_tell(mut self) -> Self {
        self.telling = self.columns.len();
        self
    }

    fn int(mut self, name: &str, of: impl Fn(&T) -> u64) -> Self {
        let values = self.rows.iter().map(|(_, row)| of(row) as i64).collect();
        self.columns.push((name.into(), Values::Int(values)));
        self
    }

    fn float(self, name: &str, of: impl Fn(&T) -> f64) -> Self {
        self.maybe(name, |row| Some(of(row)))
    }

    fn maybe(mut self, name: &str, of: impl Fn(&T) -> Option<f64>) -> Self {
        let values = self.rows.iter().map(|(_, row)| of(row)).collect();
        self.columns.push((name.into(), Values::Float(values)));
        self
    }

    /// A distribution's numbers: `rtt_mean_ms`, `rtt_p50_ms`, …
    fn quantiles(self, what: &str, of: impl Fn(&T) -> Quantiles) -> Self {
        self.quantiles_if(what, |row| Some(of(row)))
    }

    /// The same where there is a distribution.
    fn quantiles_if(self, what: &str, of: impl Fn(&T) -> Option<Quantiles>) -> Self {
        let name = |statistic| format!("{what}_{statistic}_ms");
        self.maybe(&name("mean"), |row| Some(of(row)?.mean))
            .maybe(&name("p50"), |row| Some(of(row)?.p50))
            .maybe(&name("p95"), |row| Some(of(row)?.p95))
            .maybe(&name("p99"), |row| Some(of(row)?.p99))
            .maybe(&name("max"), |row| Some(of(row)?.max))
    }

    fn table(self) -> Table {
        Table::new(self.columns, self.telling)
    }
}

/// Values of one setting as a column: numbers if all are numbers, otherwise words.
pub fn varied(values: &[&Value]) -> Values {
    let ints = values.iter().map(|value| value.as_integer());
    if let Some(ints) = ints.collect::<Option<_>>() {
        return Values::Int(ints);
    }
    let bools = values.iter().map(|value| value.as_bool());
    if let Some(bools) = bools.collect::<Option<_>>() {
        return Values::Bool(bools);
    }
    let number = |value: &&Value| match value {
        Value::Integer(number) => Some(Some(*number as f64)),
        other => other.as_float().map(Some),
    };
    if let Some(numbers) = values.iter().map(number).collect::<Option<_>>() {
        return Values::Float(numbers);
    }
    Values::Text(values.iter().map(|value| word(value)).collect())
}

/// A string without its quotes, anything else as in TOML.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The rows of `tidegate sim --out` as it writes them, their header first.
pub fn rows(results: &Results) -> Vec<Vec<String>> {
    let varied = results.columns.iter().cloned();
    let identity = varied.chain(["run".to_owned(), "key".to_owned()]);
    let header = identity.chain(METRICS.iter().map(|metric| metric.name.to_owned()));
    let row = |of: Of| {
        let measured = Measured::new(of.run());
        let varied = of.set.values.iter().map(word);
        let identity = varied.chain([of.run().name.clone(), of.set.keys[of.nth].clone()]);
        let numbers = METRICS.iter().map(|metric| metric.cell(&measured));
        identity.chain(numbers).collect()
    };
    std::iter::once(header.collect())
        .chain(all(results).map(row))
        .collect()
}

/// The columns of `tidegate sim --out`.
pub fn runs(results: &Results) -> Table {
    let rows = Rows::new(results, |run| [Measured::new(run)]);
    let mut rows = rows.text_of_run("key", |run| run.set.keys[run.nth].clone());
    for metric in &METRICS {
        // Adding 0 removes the sign of a negative zero, as in the file.
        rows = rows.maybe(metric.name, |row| metric.value(row).map(|v| v + 0.0));
    }
    rows.table()
}

pub fn flows(results: &Results) -> Table {
    Rows::new(results, |run| &run.flows)
        .text("flow", |flow| flow.name.clone())
        .text("direction", |flow| flow.direction.name().into())
        .float("goodput_bps", |flow| flow.goodput_bps)
        .float("from_s", |flow| flow.from_s)
        .float("to_s", |flow| flow.to_s)
        .quantiles("rtt", |flow| flow.rtt_ms)
        .int("retransmits", |flow| flow.retransmits)
        .maybe("completion_s", |flow| flow.completion_s)
        .table()
}

pub fn links(results: &Results) -> Table {
    Rows::new(results, links_of)
        .text("link", |(name, _)| (*name).to_owned())
        .float("utilisation", |(_, link)| link.utilisation)
        .float("delivered_bps", |(_, link)| link.delivered_bps)
        .quantiles("queue_delay", |(_, link)| link.queue_delay_ms)
        .int("drops", |(_, link)| link.drops)
        .int("losses", |(_, link)| link.losses)
        .table()
}

fn links_of(run: &RunResult) -> impl Iterator<Item = (&str, &LinkResult)> {
    let hops = run.hops.iter().map(|hop| (&*hop.name, &hop.link));
    let main = [("down", &run.link), ("up", &run.uplink)];
    main.into_iter().chain(hops)
}

pub fn fetches(results: &Results) -> Table {
    Rows::new(results, |run| &run.fetches)
        .text("workload", |fetch| fetch.name.clone())
        .int("bytes", |fetch| fetch.bytes)
        .that_tell()
        .int("count", |fetch| fetch.count)
        .quantiles("time", |fetch| fetch.time_ms)
        .table()
}

/// Flows of one size, or of all, and whose they are.
struct SizedFlows<'a> {
    workload: &'a ArrivalsResult,
    flows: &'a FlowClassResult,
    is_all: bool,
}

/// All of a workload's flows, and each class of sizes.
fn sized(workload: &ArrivalsResult) -> impl Iterator<Item = SizedFlows<'_>> {
    let row = move |flows, is_all| SizedFlows {
        workload,
        flows,
        is_all,
    };
    let classes = workload.classes.iter();
    std::iter::once(row(&workload.all, true)).chain(classes.map(move |class| row(class, false)))
}

fn arrivals_of(run: &RunResult) -> impl Iterator<Item = SizedFlows<'_>> {
    run.arrivals.iter().flat_map(sized)
}

/// A row for all of a workload's flows, and one for each class of sizes.
pub fn arrivals(results: &Results) -> Table {
    Rows::new(results, arrivals_of)
        .text("workload", |row| row.workload.name.clone())
        .text("direction", |row| row.workload.direction.name().into())
        .text("sizes", sizes)
        .int("from_bytes", |row| row.flows.from_bytes)
        .maybe("below_bytes", |row| Some(row.flows.below_bytes? as f64))
        .that_tell()
        .int("started", |row| row.flows.started)
        .int("finished", |row| row.flows.finished)
        .quantiles_if("fct", |row| finished(row).map(|flows| flows.fct_ms))
        .maybe("slowdown_mean", |row| Some(finished(row)?.slowdown.mean))
        .maybe("slowdown_p50", |row| Some(finished(row)?.slowdown.p50))
        .maybe("slowdown_p95", |row| Some(finished(row)?.slowdown.p95))
        .maybe("slowdown_p99", |row| Some(finished(row)?.slowdown.p99))
        .maybe("slowdown_max", |row| Some(finished(row)?.slowdown.max))
        .float("offered_bps", |row| row.workload.offered_bps)
        .float("goodput_bps", |row| row.workload.goodput_bps)
        .table()
}

/// The flows, if some have finished: of none nothing is known.
fn finished<'a>(row: &SizedFlows<'a>) -> Option<&'a FlowClassResult> {
    Some(row.flows).filter(|flows| flows.finished > 0)
}

fn sizes(row: &SizedFlows) -> String {
    match row.flows.below_bytes {
        _ if row.is_all => "all".into(),
        Some(below) => format!("{} to {below}", row.flows.from_bytes),
        None => format!("{} and more", row.flows.from_bytes),
    }
}

pub fn videos(results: &Results) -> Table {
    Rows::new(results, |run| &run.videos)
        .text("workload", |video| video.name.clone())
        .maybe("startup_s", |video| video.startup_s)
        .int("stalls", |video| video.stalls)
        .float("stalled_s", |video| video.stalled_s)
        .float("played_s", |video| video.played_s)
        .maybe("segments", |video| Some(video.adaptive?.segments as f64))
        .maybe("bitrate_bps", |video| Some(video.adaptive?.bitrate_bps))
        .maybe("switches", |video| Some(video.adaptive?.switches as f64))
        .maybe("qoe", |video| Some(video.adaptive?.qoe))
        .maybe("qoe_per_segment", |video| {
            Some(video.adaptive?.qoe_per_segment)
        })
        .table()
}

pub fn held(results: &Results) -> Table {
    Rows::new(results, |run| &run.held)
        .text("workload", |held| held.name.clone())
        .int("arrived", |held| held.arrived)
        .int("signalled", |held| held.signalled)
        .int("left", |held| held.left)
        .int("held", |held| held.held)
        .quantiles("wait", |held| held.wait_ms)
        .table()
}

pub fn transfers(results: &Results) -> Table {
    Rows::new(results, |run| &run.transfers)
        .text("workload", |transfer| transfer.name.clone())
        .int("usable_proxies", |transfer| transfer.usable_proxies as u64)
        .int("most_waiting_bytes", |transfer| transfer.most_waiting_bytes)
        .int("timeouts", |transfer| transfer.timeouts)
        .int("aggregations", |transfer| transfer.aggregations)
        .table()
}

pub fn series(results: &Results) -> Table {
    let points = |run: &'_ RunResult| -> Vec<_> {
        let of = |series: &tidegate_scenario::Series| {
            let (quantity, flow) = (series.quantity.clone(), series.flow.clone());
            let points = series.t_s.iter().zip(&series.value);
            let point =
                move |(&t, &value): (&f64, &f64)| (quantity.clone(), flow.clone(), t, value);
            points.map(point).collect::<Vec<_>>()
        };
        run.series.iter().flat_map(of).collect()
    };
    Rows::new(results, points)
        .text("quantity", |(quantity, ..)| quantity.clone())
        .text("flow", |(_, flow, ..)| flow.clone())
        .float("t_s", |&(_, _, t, _)| t)
        .that_tell()
        .float("value", |&(.., value)| value)
        .table()
}
