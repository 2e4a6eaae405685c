//! What makes no sense in a scenario that parses.

use crate::complaints::{Complaint, Complaints};
use crate::cost::Known;
use crate::load::duplicate;
use crate::ranges;
use crate::{Law, Run, Scenario, Step, Workload};

impl Scenario {
    /// All that makes no sense in it.
    pub(crate) fn complaints(&self) -> Vec<Complaint> {
        let mut complaints = Complaints::with(ranges::of_scenario(self));
        self.complain_of_parts(&mut complaints);
        self.complain_of_whole(&mut complaints);
        // What it costs can only be told of what makes sense.
        if complaints.is_empty() {
            self.complain_of_cost(&Known::default(), &mut complaints);
        }
        complaints.found()
    }

    /// All that makes no sense in its parts, each by itself.
    pub(crate) fn complaints_of_parts(&self) -> Vec<Complaint> {
        let mut complaints = Complaints::with(ranges::of_scenario(self));
        self.complain_of_parts(&mut complaints);
        complaints.found()
    }

    fn complain_of_parts(&self, to: &mut Complaints) {
        to.at([Step::Key("down")], "down: ", |to| self.down.complain(to));
        to.at([Step::Key("up")], "up: ", |to| self.up.complain(to));
        for (nth, hop) in self.hops.iter().enumerate() {
            let place = [Step::Key("hop"), Step::Nth(nth), Step::Key("link")];
            to.at(place, &format!("{}: ", hop.name), |to| {
                hop.link.complain(to);
            });
        }
        for (nth, workload) in self.workloads.iter().enumerate() {
            to.at(workload_at(nth), &of_workload(workload), |to| {
                to.inside("does", |to| workload.does.complain(to));
            });
        }
        for (nth, run) in self.runs.iter().enumerate() {
            to.at(run_at(nth), &of_run(run), |to| run.complain(to));
        }
    }

    /// What makes no sense of its parts together.
    fn complain_of_whole(&self, to: &mut Complaints) {
        let (duration, warmup) = (self.duration_s, self.warmup_s);
        to.expect(
            !to.sound(["duration_s", "warmup_s"]) || warmup < duration,
            "warmup_s",
            || format!("warmup_s is {warmup}, expected 0 to less than duration_s = {duration}"),
        );
        to.expect(!self.runs.is_empty(), "run", || {
            "no [[run]], expected at least one".into()
        });
        to.expect(!self.workloads.is_empty(), "workload", || {
            "no [[workload]], expected at least one".into()
        });
        different(to, "run", "runs", self.runs.iter().map(|r| &r.name));
        let workloads = self.workloads.iter();
        different(to, "workload", "workloads", workloads.map(|w| &w.name));
        let main = ["down".to_owned(), "up".to_owned()];
        let links: Vec<_> = main
            .iter()
            .chain(self.hops.iter().map(|h| &h.name))
            .collect();
        different(to, "hop", "links", links.iter().copied());
        for (nth, run) in self.runs.iter().enumerate() {
            let lacks = self.lacks_window(run);
            to.at(run_at(nth), "", |to| {
                to.expect(!lacks, "", || {
                    format!(
                        "run \"{}\" has no window, expected one in bytes: classic and adaptive flow control need a fixed buffer",
                        run.name
                    )
                });
            });
        }
        let lasts = to.sound(["duration_s"]);
        for (nth, workload) in self.workloads.iter().enumerate() {
            to.at(workload_at(nth), &of_workload(workload), |to| {
                self.complain_of_links(workload, &links, to);
                complain_of_law(workload, to);
                if lasts {
                    self.complain_of_term(workload, to);
                }
            });
        }
    }

    /// Of where a workload is.
    fn complain_of_links(&self, workload: &Workload, links: &[&String], to: &mut Complaints) {
        let mut crossed = workload.links.iter().flatten();
        if let Some(unknown) = crossed.find(|name| !links.contains(name)) {
            to.say(
                "links",
                format!("no link is named \"{unknown}\", expected down, up or a hop's name"),
            );
        } else if let Some(complaint) = self.ways_complaint(workload) {
            to.say("links", complaint);
        }
    }

    /// Of when.
    fn complain_of_term(&self, workload: &Workload, to: &mut Complaints) {
        let (start, stop) = (workload.start_s, workload.stop_s);
        let stop = stop.unwrap_or(self.duration_s);
        let ok = start < stop || !to.sound(["start_s", "stop_s"]);
        to.expect(ok, "start_s", || {
            format!("start_s = {start} and stop_s = {stop}, expected start_s < stop_s")
        });
    }

    /// Whether some flow control in the run needs a fixed buffer that it does not have.
    fn lacks_window(&self, run: &Run) -> bool {
        let own = self.workloads.iter().filter_map(|w| w.flow_control);
        let mut all = own.chain([run.flow_control]);
        run.window.is_none() && all.any(|flow_control| !flow_control.is_linux())
    }
}

impl Run {
    fn complain(&self, to: &mut Complaints) {
        if let Some(cake) = self.cake {
            to.inside("cake", |to| cake.complain(to));
        }
        let cannot = self.uploads == Some(true) && !self.law.steers_uploads();
        to.expect(!cannot, "uploads", || {
            format!(
                "uploads = true, but {} cannot steer them, expected {}",
                self.law,
                Law::names(|law| law.steers_uploads()).join(" or ")
            )
        });
    }
}

/// Of a law where none can steer.
fn complain_of_law(workload: &Workload, to: &mut Complaints) {
    let why = match workload {
        Workload { law: None, .. } => return,
        Workload { steered: false, .. } => "steered = false",
        Workload {
            windowless: true, ..
        } => "windowless = true",
        _ => return,
    };
    to.say(
        "law",
        format!("it has a law and {why}, expected one of them: the law lowers windows"),
    );
}

/// Complains of the first name that several have; `list` is where they stand.
fn different<'a>(
    to: &mut Complaints,
    list: &'static str,
    what: &str,
    names: impl Iterator<Item = &'a String>,
) {
    if let Some(name) = duplicate(names) {
        to.at([Step::Key(list), Step::Named(name.clone())], "", |to| {
            to.say(
                "",
                format!("two {what} are named \"{name}\", expected different names"),
            );
        });
    }
}

fn workload_at(nth: usize) -> [Step; 2] {
    [Step::Key("workload"), Step::Nth(nth)]
}

fn run_at(nth: usize) -> [Step; 2] {
    [Step::Key("run"), Step::Nth(nth)]
}

fn of_workload(workload: &Workload) -> String {
    format!("workload \"{}\": ", workload.name)
}

fn of_run(run: &Run) -> String {
    format!("run \"{}\": ", run.name)
}
