//! The two hosts: a namespace each, its kernel settings, and its end of the link.

use crate::address::{IpVersion, address, proxy_address, server_address};
use crate::netlink::Interface;
use crate::port::Port;
use crate::sysctl;
use crate::transport::{Own, Transport, UserHost};
use crate::tun::Tun;
use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;
use tidegate_linux::netns::Namespace;
use tidegate_scenario::{EcnMode, FlowControl, Hosts, Run, Side};
use tidegate_tcp::cc::Algorithm;
use tidegate_tcp::{Config, ReceiveBuffer};

/// Largest send buffer, in bytes: twice the largest window of Linux 6.16 and later, so that a sender waits only for its
/// congestion window or its peer's receive window, never for its own buffer.
const SEND_BUFFER_MAX: u64 = 64 << 20;

/// `tcp_rmem`'s initial value if the scenario limits only the maximum.
const RECEIVE_BUFFER: u64 = 131_072;

/// The kernel's congestion control opposite an own-TCP host, if the kernel lacks that host's. Every kernel has it.
const FALLBACK: &str = "reno";

/// A run's settings of its hosts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Congestion control of the senders.
    pub congestion_control: String,
    /// `tcp_rmem` maximum in bytes; absent: that of the caller's namespace.
    pub rmem_max: Option<u64>,
    /// Whether TCP timestamps are on.
    pub timestamps: bool,
    /// Whether selective acknowledgements are on.
    pub sack: bool,
    /// Initial congestion window in segments; absent: the kernel's default.
    pub initial_window: Option<u32>,
    /// Whether a pause lowers a sender's congestion window.
    pub slow_start_after_idle: bool,
    /// A fixed receive window in bytes, for our own TCP.
    pub window: Option<u64>,
    /// How our own TCP keeps its receive buffer from overflowing.
    pub flow_control: FlowControl,
    /// Explicit congestion notification; off: the kernel's default, which accepts ECN when a peer asks for it.
    pub ecn: EcnMode,
    /// Hosts whose TCP is our own.
    pub own_tcp: Vec<Side>,
    /// Congestion control of the kernel's senders.
    pub kernel_congestion_control: String,
    /// Random seed of our own TCP.
    pub seed: u64,
}

impl Settings {
    /// The scenario's settings as far as the run does not override them.
    pub fn of(hosts: &Hosts, run: &Run, seed: u64) -> Self {
        let own_tcp = run.own_tcp.as_ref().unwrap_or(&hosts.own_tcp).clone();
        let congestion_control = run
            .congestion_control
            .as_ref()
            .unwrap_or(&hosts.congestion_control)
            .clone();
        Self {
            kernel_congestion_control: of_kernel(&congestion_control, &own_tcp).to_owned(),
            congestion_control,
            rmem_max: run.rmem_max.or(hosts.rmem_max),
            timestamps: hosts.timestamps,
            sack: hosts.sack,
            initial_window: hosts.initial_window,
            slow_start_after_idle: hosts.slow_start_after_idle,
            window: run.window,
            flow_control: run.flow_control,
            ecn: run.ecn,
            own_tcp,
            seed,
        }
    }
}

/// A host at one end of the link.
pub struct Host {
    /// Its network namespace.
    pub namespace: Namespace,
    /// Whether sockets that do not ask for one get the run's congestion control.
    pub congestion_control_is_default: bool,
    congestion_control: String,
    end: End,
}

/// A host's end of the link.
enum End {
    /// The kernel's TCP behind a device.
    Kernel { tun: Tun, interface: Interface },
    /// Our own TCP behind a pair of sockets; `port` is the emulator's end.
    Own { host: Arc<UserHost>, port: Port },
}

impl Host {
    /// Makes the host on `side`. The server has that number of `addresses`, of each version of IP.
    ///
    /// # Errors
    /// Without root, without a TUN driver, or when its TCP lacks the congestion control.
    pub fn new(side: Side, settings: &Settings, addresses: usize) -> Result<Self> {
        let namespace = Namespace::new()?;
        if settings.own_tcp.contains(&side) {
            let (host, port) = UserHost::new(side, config(settings)?, settings.seed)?;
            return Ok(Self {
                namespace,
                congestion_control_is_default: true,
                congestion_control: settings.congestion_control.clone(),
                end: End::Own { host, port },
            });
        }
        Self::with_kernel(namespace, settings, || {
            attach(side, addresses, settings.initial_window)
        })
    }

    /// Makes the n-th proxy of an mPath transfer.
    ///
    /// # Errors
    /// Without root or a TUN driver.
    pub fn proxy(n: usize, settings: &Settings) -> Result<Self> {
        Self::with_kernel(Namespace::new()?, settings, || {
            let (tun, interface) = device()?;
            let address = proxy_address(n).into();
            interface.add_address(address, 32)?;
            interface.add_default_route(address)?;
            Ok((tun, interface))
        })
    }

    fn with_kernel(
        namespace: Namespace,
        settings: &Settings,
        attach: impl FnOnce() -> Result<(Tun, Interface)> + Send,
    ) -> Result<Self> {
        let (congestion_control_is_default, (tun, interface)) = namespace.run(|| {
            // Before the first device, and the first socket, which inherits most settings.
            let is_default = configure(settings)?;
            Interface::named("lo")?.set_up()?;
            Ok((is_default, attach()?))
        })?;
        Ok(Self {
            namespace,
            congestion_control_is_default,
            congestion_control: settings.kernel_congestion_control.clone(),
            end: End::Kernel { tun, interface },
        })
    }

    /// The emulator's side of the host's end of the link.
    pub fn port(&self) -> &Port {
        match &self.end {
            End::Kernel { tun, .. } => tun.port(),
            End::Own { port, .. } => port,
        }
    }

    /// The device in the host's namespace; none for TCP of our own.
    pub fn interface(&self) -> Option<&str> {
        match &self.end {
            End::Kernel { tun, .. } => Some(tun.name()),
            End::Own { .. } => None,
        }
    }

    /// Its TCP, if it is our own.
    pub fn own(&self) -> Option<&UserHost> {
        match &self.end {
            End::Kernel { .. } => None,
            End::Own { host, .. } => Some(host),
        }
    }

    /// The transport of a workload. With the kernel's TCP: whether it uses several paths (MPTCP), and the workload's
    /// congestion control, if it is not the run's. `own` is what the workload has with our own TCP.
    pub fn transport(&self, multipath: bool, in_kernel: Option<&str>, own: Own) -> Transport {
        let in_kernel = in_kernel.unwrap_or(&self.congestion_control).to_owned();
        match &self.end {
            End::Kernel { .. } if multipath => Transport::Multipath(in_kernel),
            End::Kernel { .. } => Transport::Kernel(in_kernel),
            End::Own { host, .. } => Transport::Own(host.clone(), own),
        }
    }

    /// Packets that the host's own end of the link has lost.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn plumbing_losses(&self) -> Result<u64> {
        match &self.end {
            End::Kernel { interface, .. } => interface.losses(),
            End::Own { host, .. } => Ok(host.losses()),
        }
    }
}

/// A TUN device in the calling thread's namespace.
fn device() -> Result<(Tun, Interface)> {
    let tun = Tun::open("tg%d")?;
    let interface = Interface::named(tun.name())?;
    interface.set_up_tun()?;
    Ok((tun, interface))
}

/// Opens and configures the host's TUN device in the calling thread's namespace.
fn attach(side: Side, servers: usize, initial_window: Option<u32>) -> Result<(Tun, Interface)> {
    let (tun, interface) = device()?;
    let mut versions = vec![(IpVersion::V4, 30, 32)];
    if sysctl::has_ipv6() {
        versions.push((IpVersion::V6, 64, 128));
    }
    for (version, shared_prefix, whole) in versions {
        interface.add_address(address(side, version), shared_prefix)?;
        interface.add_default_route(address(side, version))?;
        let peers = match side {
            Side::Client => (0..servers).map(|n| server_address(n, version)).collect(),
            Side::Server => vec![address(Side::Client, version)],
        };
        if side == Side::Server {
            for n in 1..servers {
                interface.add_address(server_address(n, version), whole)?;
            }
        }
        if let Some(segments) = initial_window {
            for peer in peers {
                interface.set_initial_window(peer, segments)?;
            }
        }
    }
    Ok((tun, interface))
}

/// Configures the calling thread's namespace. Returns whether commands, too, use the congestion control.
fn configure(settings: &Settings) -> Result<bool> {
    let is_default = set_congestion_control(&settings.kernel_congestion_control)?;
    // Lets all groups use ping without a capability, which scenarios' commands do not have (icmp(7)).
    sysctl::write("ipv4/ping_group_range", "0 2147483647")?;
    // Otherwise the kernel passes ssthresh from one connection to the next.
    sysctl::write("ipv4/tcp_no_metrics_save", "1")?;
    for (name, on) in [
        ("tcp_timestamps", settings.timestamps),
        ("tcp_sack", settings.sack),
        ("tcp_slow_start_after_idle", settings.slow_start_after_idle),
    ] {
        sysctl::write(&format!("ipv4/{name}"), if on { "1" } else { "0" })?;
    }
    match settings.ecn {
        EcnMode::Off => {}
        EcnMode::Classic => sysctl::write("ipv4/tcp_ecn", "1")?,
        EcnMode::Accurate => sysctl::write("ipv4/tcp_ecn", "3")
            .context("cannot turn on accurate ECN, expected Linux 7.0 or later")?,
    }
    sysctl::write("ipv4/tcp_wmem", &format!("4096 16384 {SEND_BUFFER_MAX}"))?;
    if let Some(max) = settings.rmem_max {
        let [minimum, initial, _] = receive_buffer()?.map(|bytes| bytes.min(max));
        sysctl::write("ipv4/tcp_rmem", &format!("{minimum} {initial} {max}"))?;
    }
    Ok(is_default)
}

/// Makes `name` the default congestion control. Returns whether that worked; the workloads' sockets ask for it anyway.
///
/// Outside the first namespace the kernel allows only those in `tcp_allowed_congestion_control` as the default. Adding
/// to that list would change the machine for good, so commands have to do without.
fn set_congestion_control(name: &str) -> Result<bool> {
    check_congestion_control(name)?;
    probe(name).with_context(|| format!("cannot use congestion control \"{name}\""))?;
    match sysctl::try_write("ipv4/tcp_congestion_control", name) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Ok(false),
        Err(e) => Err(e).with_context(|| format!("cannot choose congestion control \"{name}\"")),
    }
}

/// Refuses a congestion control that this kernel lacks. Whether the caller may use it is found out when it is used.
pub fn check_congestion_control(name: &str) -> Result<()> {
    ensure!(
        probe(name) != Err(Errno::ENOENT),
        "this kernel has no congestion control \"{name}\"; it has: {}",
        sysctl::read("ipv4/tcp_available_congestion_control")?
    );
    Ok(())
}

/// The congestion control of the kernel's senders where that one is asked for. Opposite TCP of our own it may be one that
/// the kernel lacks.
pub fn of_kernel<'a>(name: &'a str, own_tcp: &[Side]) -> &'a str {
    match own_tcp.is_empty() || probe(name).is_ok() {
        true => name,
        false => FALLBACK,
    }
}

/// Whether the kernel has the congestion control. Asking with a socket also loads its module; the kernel's list names
/// only those that are loaded.
fn probe(name: &str) -> Result<(), Errno> {
    let socket = socket(
        AddressFamily::Inet,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(name))
}

fn receive_buffer() -> Result<[u64; 3]> {
    let text = sysctl::read("ipv4/tcp_rmem")?;
    let values: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    values
        .ok()
        .and_then(|v| <[u64; 3]>::try_from(v).ok())
        .with_context(|| format!("tcp_rmem is \"{text}\", expected three numbers"))
}

/// The scenario's settings in the stack's terms.
fn config(settings: &Settings) -> Result<Config> {
    let Config {
        receive_buffer,
        initial_window,
        ..
    } = Config::default();
    Ok(Config {
        congestion_control: settings.congestion_control.parse::<Algorithm>()?.into(),
        timestamps: settings.timestamps,
        sack: settings.sack,
        initial_window: settings.initial_window.unwrap_or(initial_window),
        // As for the kernel's sockets (`socket::prepare`).
        nodelay: true,
        slow_start_after_idle: settings.slow_start_after_idle,
        receive_buffer: match (settings.window, settings.rmem_max) {
            (Some(window), _) => ReceiveBuffer::Fixed(window),
            (None, Some(max)) => ReceiveBuffer::Autotuned {
                initial: RECEIVE_BUFFER.min(max),
                max,
            },
            (None, None) => receive_buffer,
        },
        flow_control: match settings.flow_control {
            FlowControl::Linux => tidegate_tcp::FlowControl::Linux,
            FlowControl::Classic => tidegate_tcp::FlowControl::Classic,
            FlowControl::Adaptive => tidegate_tcp::FlowControl::Adaptive,
        },
        ecn: match settings.ecn {
            EcnMode::Off => tidegate_tcp::EcnMode::Off,
            EcnMode::Classic => tidegate_tcp::EcnMode::Classic,
            EcnMode::Accurate => tidegate_tcp::EcnMode::Accurate,
        },
        ..Config::default()
    })
}
