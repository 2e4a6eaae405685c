//! Explains in sentences what was decided about one flow.

use crate::top::columns::{LONGEST_NAME, name_in};
use crate::top::model::Model;
use crate::top::row::{Row, Seen, endpoint};
use crate::top::sharing;
use tidegate_agent::{
    Direction, FlowView, HoldView, Limit, Marks, Origin, RecordView, WindowlessView,
};
use tidegate_terminal::units::{bytes, delay, duration, rate};

/// Lines about a row.
pub fn lines(model: &Model, row: &Row) -> Vec<String> {
    let mut lines = vec![head(row), why(model, row)];
    match &row.seen {
        Seen::Flow(flow) => {
            lines.extend([delays(flow), windows(model, flow)]);
            if model.about.law.is_on_path() {
                lines.extend(queue(model, row, flow));
            }
        }
        Seen::Left(left) => lines.push(format!(
            "Seen: {} packets with {} of payload since the agent first met it.",
            left.packets,
            bytes(left.bytes)
        )),
        Seen::Windowless(way) => {
            lines.extend(way.hold.iter().flat_map(hold));
            lines.extend(windowless(model, way));
        }
    }
    let age_us = model.at_us.saturating_sub(row.seen_us);
    if age_us > 1_000_000 {
        lines.push(format!("Last packet {} ago.", duration(age_us / 1_000_000)));
    }
    lines
}

fn head(row: &Row) -> String {
    let (from, to, what) = match row.key.direction {
        Direction::Down => (&row.key.remote, &row.key.local, "arrive"),
        Direction::Up => (&row.key.local, &row.key.remote, "leave"),
    };
    let name = row.remote_name.as_ref();
    format!(
        "{} → {}{}, {}{}, data that {what} on {}; {} so far{}",
        endpoint(from),
        endpoint(to),
        name.map_or(String::new(), |name| format!(
            " (the far end calls itself {})",
            name_in(name, LONGEST_NAME)
        )),
        row.key.protocol(),
        row.device.as_ref().map_or(String::new(), |name| format!(
            ", of {}",
            name_in(name, LONGEST_NAME)
        )),
        name_in(&row.interface, LONGEST_NAME),
        bytes(row.bytes),
        row.rate_bps
            .map_or(String::new(), |bps| format!(", now {}", rate(bps))),
    )
}

fn why(model: &Model, row: &Row) -> String {
    let dry = if model.about.dry_run && row.is_steered() {
        " (Dry run: nothing is changed; this is what would be.)"
    } else {
        ""
    };
    let label = match row.limit {
        Limit::Closed => "Over",
        limit if limit.is_left_alone() => "Left alone",
        _ => "Limited by",
    };
    format!("{label}: {} – {}.{dry}", row.why(), row.limit.words())
}

fn delays(flow: &FlowView) -> String {
    let told = |us: Option<u32>| us.map_or_else(|| "not known".into(), delay);
    format!(
        "Delay: queue {}, round trip {}, the smallest {} ({} samples).",
        told(flow.queue_us),
        told(flow.rtt_us),
        told(flow.rtt_min_us),
        flow.samples
    )
}

fn windows(model: &Model, flow: &FlowView) -> String {
    let law = model.about.law;
    let wanted = match flow.wanted_bytes {
        Some(wanted) => format!("{law} wants {}", bytes(wanted.into())),
        None => format!("{law} wants no other"),
    };
    let scale = match flow.window_scale {
        Some(scale) => format!("steps of {} bytes", 1u32 << scale.min(14)),
        None => "window scale not known".into(),
    };
    format!(
        "Window: {} told; {wanted}; the kernel's is {}; lowered in {} segments; {scale}, segments of {} bytes.",
        bytes(flow.window_bytes.into()),
        bytes(flow.kernel_bytes.into()),
        flow.rewritten,
        flow.mss_bytes
    )
}

/// How a flow is held, and by which law; nothing without a record.
fn hold(hold: &HoldView) -> Vec<String> {
    let Some(sender) = hold.sender else {
        return Vec::new();
    };
    let told = |us: Option<u32>| us.map_or_else(|| "not known".into(), delay);
    let size = |of: Option<u32>| of.map_or_else(|| "not known".into(), |n| bytes(n.into()));
    vec![
        format!(
            "Delay by echoes: queue {}, round trip {}, without a queue {}.",
            told(hold.queue_us),
            told(hold.rtt_us),
            told(hold.rtt_min_us)
        ),
        format!(
            "Hold: {} of the sender's window of {} wait here, the law allows {} in flight; a packet that leaves now waits {}; {} packets wait, {} have waited; {} signalled.",
            bytes(hold.here_bytes.into()),
            size(hold.sender_bytes),
            size(hold.wanted_bytes),
            delay(hold.wait_us),
            hold.waiting,
            hold.held,
            hold.signalled
        ),
        format!("Its sender ({}): {}.", sender.name(), sender.about()),
    ]
}

fn windowless(model: &Model, way: &WindowlessView) -> [String; 2] {
    let known_us = model.at_us.saturating_sub(way.first_us);
    let whose = match way.origin {
        Origin::Unknown => "nothing of it has left here".into(),
        origin => format!("its packets are {}", origin.about()),
    };
    let Marks {
        not_ect,
        ect_0,
        ect_1,
        ce,
    } = way.packets;
    [
        format!(
            "Seen: {} packets with {} of payload, the flow's first {} ago; {whose}.",
            way.packets.sum(),
            bytes(way.bytes),
            duration(known_us / 1_000_000)
        ),
        format!(
            "ECN: {not_ect} packets Not-ECT, {ect_0} ECT(0), {ect_1} ECT(1), {ce} marked (CE)."
        ),
    ]
}

/// Which flows share its queue, and how the law sees the queue.
fn queue(model: &Model, row: &Row, flow: &FlowView) -> Option<String> {
    let group = model.path_of(row).and_then(|path| {
        let mut groups = path.groups.iter();
        groups.find(|g| Some(g.view.group) == flow.group)
    });
    let record = flow.record.as_ref().or(group.map(|g| &g.view.record))?;
    let whose = match group {
        Some(group) => format!("that of group {}", group.view.group),
        None => "its own".into(),
    };
    let because = sharing::because(flow, group.map_or(1, |g| g.view.flows));
    Some(format!(
        "Queue: {whose}, for {because}. {}{}",
        learned(record),
        competing(record, model.at_us)
    ))
}

/// How long it has competed with others, if it does.
fn competing(record: &RecordView, now_us: u64) -> String {
    record
        .competing_since_us
        .map_or_else(String::new, |since_us| {
            let seconds = now_us.saturating_sub(since_us) / 1_000_000;
            format!(
                " For {} another machine has filled the link, or the path has been longer: it competes for an even share.",
                duration(seconds)
            )
        })
}

fn learned(record: &RecordView) -> String {
    let [near, far] = record.error_bytes;
    format!(
        "It is {}; lag {}; in one lag it carries {}, give or take {} of late and {} in the long run; {} flows want more; asked {} times whose it is.",
        record.state,
        delay(record.lag_us),
        bytes(record.forecast_bytes),
        bytes(near),
        bytes(far),
        record.bottlenecked_flows,
        record.questions
    )
}

#[cfg(test)]
mod tests {
    use super::competing;
    use crate::fixtures::RECORD;
    use tidegate_agent::RecordView;

    #[test]
    fn for_how_long_it_competes_is_said() {
        assert_eq!(competing(&RECORD, 9_000_000), "");
        let record = RecordView {
            competing_since_us: Some(2_000_000),
            ..RECORD
        };
        assert_eq!(
            competing(&record, 9_900_000),
            " For 7 s another machine has filled the link, or the path has been longer: it competes for an even share."
        );
    }
}
