//! The queueing discipline `fq`, which sends a packet when its time stamp says so.

use crate::GateError;
use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE, Nla, NlasIterator,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};
use serde::Serialize;
use std::io;
use tidegate_linux::rtnetlink::ask;

/// The queueing discipline of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Qdisc {
    /// `fq`, or several below `mq`: they obey time stamps.
    Fq(Fq),
    /// Another, of that kind, which sends packets as they come; `noqueue` if there is none.
    Other(String),
}

/// The settings of `fq` that matter for waiting packets; with several `fq`, the smallest of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fq {
    /// Packets of one flow that it keeps; more are dropped. 100 unless set.
    pub flow_limit: u32,
    /// Packets of all flows.
    pub limit: u32,
    /// Packets whose time stamp is further away than this, in µs, are dropped, or sent after this time; absent before
    /// Linux 5.8, which keeps them for any time.
    pub horizon_us: Option<u32>,
    /// Whether they are dropped.
    pub horizon_drop: bool,
    #[serde(skip)]
    leaves: Vec<TcMessageAt>,
}

/// The handle and the parent of an `fq`.
type TcMessageAt = (TcHandle, TcHandle);

/// Numbers of the options of `fq` (linux/pkt_sched.h).
const LIMIT: u16 = 1;
const FLOW_LIMIT: u16 = 2;
const HORIZON: u16 = 14;
const HORIZON_DROP: u16 = 15;

impl Qdisc {
    /// The queueing discipline of the interface with this index, in the calling thread's namespace.
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

    /// Lets it keep `packets` of one flow, and leaves its other settings. Nothing takes this back: it is the
    /// administrator's setting, so call this only if the administrator asks for it.
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

    /// Replaces the interface's queueing discipline by `fq`; only if the administrator asks for it. It stays until
    /// [`Fq::take_down`], even if the process is killed: without a program that sets time stamps it sends packets as
    /// they come, with fair queueing between flows.
    ///
    /// # Errors
    /// If the kernel lacks it or refuses.
    pub fn put_up(interface: u32, flow_limit: u32) -> Result<(), GateError> {
        /// The default limit of `fq` for all flows.
        const USUAL: u32 = 10_000;
        let options = vec![
            option(LIMIT, &USUAL.max(flow_limit).to_ne_bytes()),
            option(FLOW_LIMIT, &flow_limit.to_ne_bytes()),
        ];
        let place = (TcHandle::UNSPEC, TcHandle::ROOT);
        change(interface, place, options, NLM_F_CREATE | NLM_F_REPLACE).map_err(GateError::system(
            "set the interface's queueing discipline to fq (sch_fq)",
        ))
    }

    /// Gives the interface the kernel's default queueing discipline again.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn take_down(interface: u32) -> Result<(), GateError> {
        let mut message = TcMessage::with_index(interface as i32);
        message.header.parent = TcHandle::ROOT;
        let request = RouteNetlinkMessage::DelQueueDiscipline(message);
        ask(request, NLM_F_ACK, |_| ()).map_err(GateError::system("remove fq from the interface"))
    }

    /// Whether the kernel has `fq`; it may load the module. `interface` belongs to a namespace made for this question:
    /// the kernel is asked for an `fq` with invalid settings, and refuses.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn is_known(interface: u32) -> Result<bool, GateError> {
        let senseless = vec![option(FLOW_LIMIT, &[0])];
        let place = (TcHandle { major: 1, minor: 0 }, TcHandle::ROOT);
        match change(interface, place, senseless, NLM_F_CREATE | NLM_F_REPLACE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(GateError::system("ask whether the kernel has fq")(error))
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

/// The bytes of one option of `fq`; the kernel nests all options in one attribute.
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
