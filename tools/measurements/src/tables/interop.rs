//! Files between our TCP and the kernel's, from the output of a test of the laboratory.

use super::markdown;
use crate::take::Printed;
use anyhow::{Result, bail, ensure};
use std::collections::BTreeMap;

/// Two tables: our sender, and the kernel's; a line for each share of packets lost.
pub fn interop(printed: &[Printed]) -> Result<String> {
    let [Printed::Text(text)] = printed else {
        bail!("expected the output of the tests, which is text");
    };
    let transfers: Vec<Transfer> = text.lines().filter_map(Transfer::parse).collect();
    let [ours, kernels] = ["server", "client"].map(|own| {
        let of = transfers.iter().filter(|transfer| transfer.own == own);
        of.collect::<Vec<_>>()
    });
    ensure!(
        !ours.is_empty() && !kernels.is_empty(),
        "no transfers were told"
    );
    Ok(format!(
        "{}\n{}",
        table("our sender, the kernel's receiver: lost", &ours),
        table("the kernel's sender, our receiver: lost", &kernels)
    ))
}

/// `cubic, server ours, 0.01 lost: 19.3 Mbit/s, done after Some(1.73) s, 5 sent again`.
struct Transfer<'a> {
    congestion_control: &'a str,
    own: &'a str,
    lost: &'a str,
    seconds: &'a str,
}

impl<'a> Transfer<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (congestion_control, rest) = line.split_once(", ")?;
        let (own, rest) = rest.split_once(" ours, ")?;
        let (lost, rest) = rest.split_once(" lost: ")?;
        let (_, rest) = rest.split_once("done after Some(")?;
        let (seconds, _) = rest.split_once(')')?;
        Some(Self {
            congestion_control,
            own,
            lost,
            seconds,
        })
    }
}

fn table(what: &str, transfers: &[&Transfer]) -> String {
    let mut senders: Vec<&str> = Vec::new();
    let mut by_loss: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for transfer in transfers {
        if !senders.contains(&transfer.congestion_control) {
            senders.push(transfer.congestion_control);
        }
        let seconds = transfer.seconds.parse().unwrap_or(f64::NAN);
        let of_loss = by_loss.entry(transfer.lost).or_default();
        of_loss.insert(transfer.congestion_control, seconds);
    }
    senders.sort_unstable();
    let mut head = vec![what];
    head.extend(&senders);
    let rows = by_loss.iter().map(|(lost, seconds)| {
        let share: f64 = lost.parse().unwrap_or(f64::NAN);
        let mut row = vec![format!("{} %", share * 100.0)];
        row.extend(senders.iter().map(|sender| {
            let seconds = seconds.get(sender);
            seconds.map_or("–".into(), |s| format!("{s:.2}"))
        }));
        row
    });
    markdown(&head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_read_from_between_other_lines() {
        let text = "running 2 tests\n\
            reno, server ours, 0 lost: 190.1 Mbit/s, done after Some(0.4412) s, 0 sent again\n\
            cubic, server ours, 0.01 lost: 1.0 Mbit/s, done after Some(1.7) s, 5 sent again\n\
            bbr, client ours, 0.03 lost: 1.0 Mbit/s, done after None s, 5 sent again\n\
            bbr, client ours, 0.03 lost: 1.0 Mbit/s, done after Some(3.0) s, 5 sent again\nok\n";
        let table = interop(&[Printed::Text(text.into())]).unwrap();
        for line in ["| 0 % | – | 0.44 |", "| 1 % | 1.70 | – |", "| 3 % | 3.00 |"] {
            assert!(table.contains(line), "no {line} in\n{table}");
        }
    }
}
