//! The columns, and which of them fit on a terminal.

use crate::top::order::Order;
use crate::top::row::{Row, endpoint};
use tidegate_agent::{Direction, Endpoint, Marks};
use tidegate_terminal::units::{bytes, delay, rate, share};
use tidegate_terminal::{cut, shown};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Which way the data go.
    Direction,
    /// The far end.
    Remote,
    /// This machine's end.
    Local,
    /// The device that the flow belongs to, if shares are by device.
    Device,
    /// The interface.
    Interface,
    /// Group that it shares a queue with.
    Group,
    /// Queueing delay.
    Queue,
    /// Round trip.
    Rtt,
    /// Smallest round trip.
    RttMin,
    /// Rate.
    Rate,
    /// Window that the sender is told.
    Window,
    /// Window that the kernel would have advertised.
    Kernel,
    /// Its packets' ECN codepoints.
    Ecn,
    /// Payload bytes so far.
    Bytes,
    /// What limits it, or why it is left alone.
    Why,
}

/// From left to right.
pub const ALL: [Column; 15] = [
    Column::Direction,
    Column::Device,
    Column::Remote,
    Column::Group,
    Column::Queue,
    Column::Rtt,
    Column::RttMin,
    Column::Rate,
    Column::Window,
    Column::Kernel,
    Column::Why,
    Column::Ecn,
    Column::Bytes,
    Column::Interface,
    Column::Local,
];
/// In the order in which columns are left out on a narrow terminal.
const DISPENSABLE: [Column; 12] = [
    Column::Local,
    Column::Interface,
    Column::Bytes,
    Column::Ecn,
    Column::Kernel,
    Column::RttMin,
    Column::Window,
    Column::Rtt,
    Column::Group,
    Column::Device,
    Column::Why,
    Column::Rate,
];
/// Enough for an IPv6 address with a port.
const LONGEST_END: u16 = 47;
/// The longest name in characters, outside of a column.
pub const LONGEST_NAME: u16 = 64;

impl Column {
    /// Its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Direction => "",
            Self::Remote => "REMOTE",
            Self::Local => "LOCAL",
            Self::Device => "DEVICE",
            Self::Interface => "IF",
            Self::Group => "GRP",
            Self::Queue => "QUEUE",
            Self::Rtt => "RTT",
            Self::RttMin => "RTTMIN",
            Self::Rate => "RATE",
            Self::Window => "WINDOW",
            Self::Kernel => "KERNEL",
            Self::Ecn => "ECN",
            Self::Bytes => "BYTES",
            Self::Why => "LIMITED BY",
        }
    }

    /// A sentence that describes it.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Direction => "↓: data that arrive; ↑: data that leave.",
            Self::Remote => {
                "Address and port of the far end; with `--names` its name, once that is known."
            }
            Self::Local => {
                "Address and port of this machine's end, or of that of a device behind it."
            }
            Self::Device => {
                "The device whose flow it is, where shares are by device; –: it is not known."
            }
            Self::Interface => "The interface that it passes.",
            Self::Group => {
                "Number of the group of flows that it shares a queue with; –: it is alone, as far as its delays tell."
            }
            Self::Queue => {
                "Forward queueing delay of its last packet; yellow from 100 ms, red from 250 ms. Of a held flow it is that of its echoes."
            }
            Self::Rtt => "Last round trip.",
            Self::RttMin => "Smallest round trip.",
            Self::Rate => "Payload a second, between the last two looks.",
            Self::Window => "What the data's sender was last told that it may have under way.",
            Self::Kernel => "What the kernel at the data's receiver would have told it.",
            Self::Ecn => {
                "For a flow without a window: the ECN codepoint of most of its packets, or the part that was marked on the way (CE)."
            }
            Self::Bytes => "Payload so far.",
            Self::Why => {
                "What limits it, or why it is left alone; [reasons](../reasons.md) explains each. Enter says it in sentences."
            }
        }
    }

    /// The order that sorts by this column.
    pub const fn order(self) -> Option<Order> {
        Some(match self {
            Self::Remote => Order::Remote,
            Self::Device => Order::Device,
            Self::Group => Order::Group,
            Self::Queue => Order::Queue,
            Self::Rtt => Order::Rtt,
            Self::RttMin => Order::RttMin,
            Self::Rate => Order::Rate,
            Self::Window => Order::Window,
            Self::Kernel => Order::Kernel,
            Self::Bytes => Order::Bytes,
            Self::Why => Order::Why,
            Self::Direction | Self::Local | Self::Interface | Self::Ecn => return None,
        })
    }

    /// Whether it holds numbers, which are aligned right.
    pub const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Group
                | Self::Queue
                | Self::Rtt
                | Self::RttMin
                | Self::Rate
                | Self::Window
                | Self::Kernel
                | Self::Bytes
        )
    }

    /// Its width in characters.
    pub const fn width(self) -> u16 {
        match self {
            Self::Direction => 1,
            Self::Remote | Self::Local => 21,
            Self::Device => 15,
            Self::Interface | Self::Ecn => 8,
            Self::Group => 4,
            Self::Queue | Self::Rtt | Self::RttMin => 6,
            Self::Rate => 8,
            Self::Window | Self::Kernel | Self::Bytes => 7,
            Self::Why => 15,
        }
    }

    /// The cell of a row, in at most `width` characters.
    pub fn cell(self, row: &Row, width: u16) -> String {
        let known = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        match self {
            Self::Direction => match row.key.direction {
                Direction::Down => "↓".into(),
                Direction::Up => "↑".into(),
            },
            Self::Remote => match &row.remote_name {
                Some(name) => fit_name(name, row.key.remote.port, width.into()),
                None => fit(&row.key.remote, width.into()),
            },
            Self::Local => fit(&row.key.local, width.into()),
            Self::Device => known(row.device.as_ref().map(|name| name_in(name, width))),
            Self::Interface => name_in(&row.interface, LONGEST_NAME),
            Self::Group => known(row.group().map(|group| group.to_string())),
            Self::Queue => known(row.queue_us().map(delay)),
            Self::Rtt => known(row.rtt_us().map(delay)),
            Self::RttMin => known(row.rtt_min_us().map(delay)),
            Self::Rate => known(row.rate_bps.map(rate)),
            Self::Window => known(row.window_bytes().map(|n| bytes(n.into()))),
            Self::Kernel => known(row.kernel_bytes().map(|n| bytes(n.into()))),
            Self::Ecn => known(row.marks().map(marks)),
            Self::Bytes => bytes(row.bytes),
            Self::Why => row.why(),
        }
    }
}

/// What most packets' ECN codepoints are, or how many packets were marked.
fn marks(of: Marks) -> String {
    let sum = of.sum();
    if of.ce > 0 {
        return format!("CE {}", share(of.ce as f64, sum as f64));
    }
    match of {
        _ if 2 * of.not_ect >= sum => "Not-ECT",
        _ if of.ect_0 >= of.ect_1 => "ECT(0)",
        _ => "ECT(1)",
    }
    .into()
}

/// The columns for a terminal, each with its width; spare room goes to the addresses. If shares are by device, devices
/// have a column.
pub fn columns(width: u16, by_device: bool) -> Vec<(Column, u16)> {
    let mut columns = ALL.to_vec();
    columns.retain(|c| by_device || *c != Column::Device);
    let needed = |columns: &[Column]| {
        let widths = columns.iter().map(|c| c.width() + 1).sum::<u16>();
        widths.saturating_sub(1)
    };
    for dispensable in DISPENSABLE {
        if needed(&columns) > width {
            columns.retain(|c| *c != dispensable);
        }
    }
    let mut rest = width.saturating_sub(needed(&columns));
    let mut widths: Vec<_> = columns.into_iter().map(|c| (c, c.width())).collect();
    for (column, width) in &mut widths {
        if matches!(column, Column::Remote | Column::Local) {
            let more = rest.min(LONGEST_END - *width);
            *width += more;
            rest -= more;
        }
    }
    widths
}

/// A name that somebody else has chosen, in at most `width` characters.
pub fn name_in(name: &str, width: u16) -> String {
    cut(&shown(name), width.into()).into_owned()
}

/// A far end by its name, in at most `width` characters. A long name loses its beginning, since the owner's domain
/// comes last.
fn fit_name(name: &str, port: u16, width: usize) -> String {
    let text = match port {
        0 => shown(name).into_owned(),
        port => format!("{}:{port}", shown(name)),
    };
    let over = text.chars().count().saturating_sub(width);
    match over {
        0 => text,
        over => std::iter::once('…')
            .chain(text.chars().skip(over + 1))
            .collect(),
    }
}

/// An address and port in at most `width` characters. A long one loses its middle, since the port says most.
fn fit(end: &Endpoint, width: usize) -> String {
    let text = endpoint(end);
    if text.len() <= width {
        return text;
    }
    let tail = text.rfind(']').unwrap_or(text.len());
    let keep = width.saturating_sub(text.len() - tail + 1);
    format!("{}…{}", &text[..keep], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::{Column, columns, fit, fit_name, marks};
    use tidegate_agent::{Endpoint, Marks};

    #[test]
    fn every_width_is_kept_and_what_matters_stays() {
        for width in 30..250 {
            let columns = columns(width, false);
            let used: u16 = columns.iter().map(|(_, w)| w + 1).sum::<u16>() - 1;
            assert!(used <= width, "{used} of {width}");
            let has = |column| columns.iter().any(|(c, _)| *c == column);
            assert!(has(Column::Remote) && has(Column::Queue), "{width}");
            assert!(
                width < 80 || has(Column::Why) && has(Column::Group),
                "{width}"
            );
            assert!(width < 90 || has(Column::Kernel), "{width}");
            let by_device = super::columns(width, true);
            let used: u16 = by_device.iter().map(|(_, w)| w + 1).sum::<u16>() - 1;
            assert!(used <= width, "{used} of {width}");
            assert!(
                width < 72 || by_device.iter().any(|(c, _)| *c == Column::Device),
                "{width}"
            );
        }
    }

    #[test]
    fn a_long_address_keeps_its_head_and_its_port() {
        let end = |address: &str| Endpoint {
            address: address.parse().unwrap(),
            port: 443,
        };
        let long = end("2001:db8:1234:5678:9abc:def0:1234:5678");
        assert_eq!(fit(&long, 21), "[2001:db8:1234:…]:443");
        assert_eq!(
            fit(&long, 47),
            "[2001:db8:1234:5678:9abc:def0:1234:5678]:443"
        );
        assert_eq!(fit(&end("192.0.2.1"), 21), "192.0.2.1:443");
    }

    #[test]
    fn a_long_name_keeps_whose_it_is() {
        let name = "server-7.cache.example.net";
        assert_eq!(fit_name(name, 443, 30), "server-7.cache.example.net:443");
        assert_eq!(fit_name(name, 443, 21), "…ache.example.net:443");
        assert_eq!(fit_name("a\u{1b}[2J", 0, 21), r"a\u{1b}[2J");
    }

    #[test]
    fn marks_say_what_most_packets_do_and_any_congestion_first() {
        let told = [[9, 0, 8, 0], [1, 0, 9, 0], [1, 9, 0, 0], [0, 0, 999, 1]];
        let told = told.map(|packets| marks(Marks::new(packets)));
        assert_eq!(told, ["Not-ECT", "ECT(0)", "ECT(1)", "CE <1 %"]);
    }
}
