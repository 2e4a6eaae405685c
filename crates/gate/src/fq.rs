//! The queueing discipline `fq`, which sends a packet when its time stamp says so.

use crate::GateError;
use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE, Nla, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use serde::Serialize;
use std::io;
use tidegate_rtnetlink::ask;

/// What orders the packets that leave by an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Qdisc {
    /// `fq`, or several below `mq`: they obey time stamps.
    Fq(Fq),
    /// Another, of that kind: it sends packets as they come. `noqueue` where there is none.
    Other(String),
}

/// The settings of `fq` that what waits depends on; of several the least.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fq {
    /// Packets of one flow that it keeps; more are dropped. 100 unless set.
    pub flow_limit: u32,
    /// Packets of all flows.
    pub limit: u32,
    /// Packets whose time is further away than this, in µs, are dropped or sent at that time; absent
    /// before Linux 5.8, which keeps them for any time.
    pub horizon_us: Option<u32>,
    /// Which of both.
    pub horizon_drop: bool,
    #[serde(skip)]
    leaves: Vec<TcMessageAt>,
}

/// Where one of them is.
type TcMessageAt = (TcHandle, TcHandle);

/// Numbers of its options (linux/pkt_sched.h).
const LIMIT: u16 = 1;
const FLOW_LIMIT: u16 = 2;
const HORIZON: u16 = 14;
const HORIZON_DROP: u16 = 15;

impl Qdisc {
    /// That of the interface of this index, in the calling thread's namespace.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn of(interface: u32) -> Result<Self, GateError> {
        let all = all().map_err(GateError::system("list queueing disciplines"))?;
        let here: Vec<_> = all
            .into_iter()
            .filter(|q| q.header.index as u32 == interface)
            .collect();
        let Some(root) = here.iter().find(|q| q.header.parent == TcHandle::ROOT) else {
            return Ok(Self::Other("noqueue".into()));
        };
        let is_leaf = |q: &&TcMessage| {
            let parent = q.header.parent;
            kind(root) == "mq" && parent.major == root.header.handle.major && parent.minor != 0
        };
        let mut leaves: Vec<_> = here.iter().filter(is_leaf).collect();
        if leaves.is_empty() {
            leaves = vec![root];
        }
        if let Some(other) = leaves.iter().map(|q| kind(q)).find(|kind| *kind != "fq") {
            return Ok(Self::Other(other.to_owned()));
        }
        Ok(Self::Fq(Fq::of(&leaves)))
    }
}

impl Fq {
    fn of(leaves: &[&TcMessage]) -> Self {
        let least = |option| leaves.iter().filter_map(|q| number(q, option)).min();
        Self {
            flow_limit: least(FLOW_LIMIT).unwrap_or(0),
            limit: least(LIMIT).unwrap_or(0),
            horizon_us: least(HORIZON),
            horizon_drop: leaves.iter().any(|q| byte(q, HORIZON_DROP) == Some(1)),
            leaves: leaves
                .iter()
                .map(|q| (q.header.handle, q.header.parent))
                .collect(),
        }
    }

    /// Lets it keep that many packets of one flow, and leaves its other settings. Nothing takes this back:
    /// it is an administrator's setting, to be changed on demand alone.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn set_flow_limit(&self, interface: u32, packets: u32) -> Result<(), GateError> {
        let options = vec![option(FLOW_LIMIT, &packets.to_ne_bytes())];
        for place in &self.leaves {
            change(interface, *place, options.clone(), 0)
                .map_err(GateError::system("change the limit of fq"))?;
        }
        Ok(())
    }

    /// Puts one in the place of whatever orders the interface's packets, on demand alone. It stays until
    /// [`Fq::take_down`], also when the process is killed: without a program that sets time stamps it sends
    /// packets as they come, each flow its share.
    ///
    /// # Errors
    /// If the kernel lacks it or refuses.
    pub fn put_up(interface: u32, flow_limit: u32) -> Result<(), GateError> {
        /// Of all flows, as `fq` has it by itself.
        const USUAL: u32 = 10_000;
        let options = vec![
            option(LIMIT, &USUAL.max(flow_limit).to_ne_bytes()),
            option(FLOW_LIMIT, &flow_limit.to_ne_bytes()),
        ];
        let place = (TcHandle::UNSPEC, TcHandle::ROOT);
        change(interface, place, options, NLM_F_CREATE | NLM_F_REPLACE)
            .map_err(GateError::system("give the interface fq (sch_fq)"))
    }

    /// The interface has again what the kernel gives it by itself.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn take_down(interface: u32) -> Result<(), GateError> {
        let mut message = TcMessage::with_index(interface as i32);
        message.header.parent = TcHandle::ROOT;
        let request = RouteNetlinkMessage::DelQueueDiscipline(message);
        ask(request, NLM_F_ACK, |_| ()).map_err(GateError::system("take fq from the interface"))
    }

    /// Whether the kernel has `fq`, which it may have to load. `interface` is that of a namespace made for
    /// the question: it is asked to make one with settings that make no sense, and refuses.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn is_known(interface: u32) -> Result<bool, GateError> {
        let senseless = vec![option(FLOW_LIMIT, &[0])];
        let place = (TcHandle { major: 1, minor: 0 }, TcHandle::ROOT);
        match change(interface, place, senseless, NLM_F_CREATE | NLM_F_REPLACE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(GateError::system("ask for fq")(error))
            }
            _ => Ok(true),
        }
    }
}

fn kind(qdisc: &TcMessage) -> &str {
    let kind = qdisc.attributes.iter().find_map(|attribute| {
        let TcAttribute::Kind(kind) = attribute else {
            return None;
        };
        Some(kind.as_str())
    });
    kind.unwrap_or_default()
}

/// The bytes of one of its options, which the kernel nests in one attribute.
fn value(qdisc: &TcMessage, option: u16) -> Option<Vec<u8>> {
    let nested = qdisc.attributes.iter().find_map(|attribute| {
        let TcAttribute::Options(options) = attribute else {
            return None;
        };
        options.first()
    })?;
    let mut bytes = vec![0; nested.value_len()];
    nested.emit_value(&mut bytes);
    let mut options = NlasIterator::new(&bytes[..]).filter_map(Result::ok);
    let found = options.find(|found| found.kind() == option)?;
    Some(found.value().to_vec())
}

fn number(qdisc: &TcMessage, option: u16) -> Option<u32> {
    let bytes = value(qdisc, option)?;
    bytes.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

fn byte(qdisc: &TcMessage, option: u16) -> Option<u8> {
    value(qdisc, option)?.first().copied()
}

fn option(kind: u16, value: &[u8]) -> TcOption {
    TcOption::Other(DefaultNla::new(kind, value.to_vec()))
}

/// Makes or changes an `fq`.
fn change(
    interface: u32,
    (handle, parent): TcMessageAt,
    options: Vec<TcOption>,
    flags: u16,
) -> io::Result<()> {
    let mut message = TcMessage::with_index(interface as i32);
    message.header.handle = handle;
    message.header.parent = parent;
    message.attributes = vec![
        TcAttribute::Kind("fq".into()),
        TcAttribute::Options(options),
    ];
    let request = RouteNetlinkMessage::NewQueueDiscipline(message);
    ask(request, flags | NLM_F_ACK, |_| ())
}

/// Every queueing discipline of the calling thread's namespace.
fn all() -> io::Result<Vec<TcMessage>> {
    let mut all = Vec::new();
    let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
    ask(request, NLM_F_DUMP, |message| {
        if let RouteNetlinkMessage::NewQueueDiscipline(qdisc) = message {
            all.push(qdisc);
        }
    })?;
    Ok(all)
}
