//! An mPath transfer with the real programs' parts: a registry at the server, proxies in their own namespaces, and the
//! two ends on sockets.

use super::flow::Flow;
use super::pattern::Pattern;
use super::{Applications, TaskContext};
use crate::address::proxy_address;
use crate::site::Place;
use crate::term::Term;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tidegate_link::Instant;
use tidegate_measure::SAMPLE_INTERVAL;
use tidegate_overlay::proxy::{Options, Proxy};
use tidegate_overlay::registry::{Config as Listing, Memory, Server, Service};
use tidegate_overlay::{GrantedRelay, Limits, Rate, ReceiverId, Registry, Secret};
use tidegate_scenario::{MpathSpec, ProxySpec, Workload};
use tidegate_transfer::{
    Config, Connection, Endpoint, Identity, Monitor, PathStatus, Relay, Token,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Bytes written or read at once.
const BUFFER: usize = 64 << 10;

/// The port at which proxies listen.
const PORT: u16 = 7481;

/// How long the receiver and all proxies may take to register.
const LISTING: Duration = Duration::from_secs(10);

/// Longest wait before a look at the time.
const SLICE: Duration = Duration::from_millis(20);

/// The state of a transfer at one time.
#[derive(Clone, Debug)]
pub struct TransferSample {
    /// When.
    pub at: Instant,
    /// All windows together, in packets.
    pub window: f64,
    /// Every path in use.
    pub paths: Vec<PathStatus>,
}

/// The state of a transfer at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferEnd {
    pub usable_proxies: usize,
    pub timeouts: u64,
    pub aggregations: u64,
    /// UDP payload of a packet, in bytes.
    pub packet_bytes: usize,
    /// Most bytes that waited at the receiver.
    pub most_waiting: usize,
}

/// A transfer's records.
#[derive(Debug)]
pub struct TransferLog {
    /// The workload's name.
    pub name: String,
    /// The proxies' names, by where they listen.
    pub proxies: BTreeMap<SocketAddr, String>,
    seen: Mutex<(Vec<TransferSample>, TransferEnd)>,
}

impl TransferLog {
    /// Samples in order of time, and the state at the end.
    pub fn seen(&self) -> (Vec<TransferSample>, TransferEnd) {
        self.locked().clone()
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, (Vec<TransferSample>, TransferEnd)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, monitor: &Monitor, at: Instant) {
        let (info, status) = (monitor.info(), monitor.status());
        let mut seen = self.locked();
        seen.0.push(TransferSample {
            at,
            window: info.window,
            paths: monitor.paths(),
        });
        seen.1 = TransferEnd {
            usable_proxies: info.usable_proxies,
            timeouts: info.timeouts,
            aggregations: info.aggregations,
            packet_bytes: status.packet_bytes,
            most_waiting: seen.1.most_waiting,
        };
    }

    fn note_waiting(&self, bytes: usize) {
        let most = &mut self.locked().1.most_waiting;
        *most = bytes.max(*most);
    }
}

/// What all parts of a transfer know.
struct Plan {
    flow: Arc<Flow>,
    log: Arc<TransferLog>,
    pattern: Pattern,
    identity: Identity,
    secret: Secret,
    registry: SocketAddr,
    /// Where the receiver listens.
    receiver: SocketAddr,
    /// Proxies that answer.
    live: usize,
    config: Config,
}

/// Adds a transfer; its registry listens from now on.
pub fn add(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    spec: &MpathSpec,
) -> Result<()> {
    ensure!(
        context.server_address.is_ipv4(),
        "the laboratory runs mPath transfers over IPv4 only"
    );
    let receiver = spec.receiver();
    let sender = receiver.opposite();
    let secret = Secret::new(rand::random());
    let service = Service::new(
        secret.clone(),
        Box::new(Memory::default()),
        Listing::default(),
    );
    let at = SocketAddr::new(context.server_address, 0);
    let server = Server::start(at, service).context("the registry cannot listen")?;
    let flow = Arc::new(Flow::new(workload.name.clone(), spec.direction));
    let named = spec.proxies.iter().enumerate();
    let log = Arc::new(TransferLog {
        name: workload.name.clone(),
        proxies: named
            .map(|(n, proxy)| (proxy_socket(n), proxy.name.clone()))
            .collect(),
        seen: Mutex::default(),
    });
    applications.flows.push(flow.clone());
    applications.transfers.push(log.clone());
    let live = |(_, proxy): &(usize, &ProxySpec)| !proxy.links.is_empty();
    let plan = Arc::new(Plan {
        pattern: Pattern::new(applications.flows.len() as u64),
        flow,
        log,
        identity: Identity::generate(),
        secret,
        registry: server.address(),
        receiver: SocketAddr::new(context.address(receiver), PORT),
        live: spec.proxies.iter().enumerate().filter(live).count(),
        config: config(spec),
    });
    for (n, _) in spec.proxies.iter().enumerate().filter(live) {
        let plan = plan.clone();
        applications.add_task_at(workload, context, Place::Proxy(n), move |_, term| {
            plan.forward(n, term)
        });
    }
    let at_receiver = plan.clone();
    applications.add_task(workload, context, receiver, move |_, term| {
        runtime()?.block_on(at_receiver.receive(term))
    });
    applications.add_task(workload, context, sender, move |_, term| {
        let _registry = server;
        runtime()?.block_on(plan.send(term))
    });
    Ok(())
}

fn config(spec: &MpathSpec) -> Config {
    Config {
        paths: spec.config(),
        buffer_bytes: spec.buffer_bytes as usize,
        ..Config::default()
    }
}

fn proxy_socket(n: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(proxy_address(n)), PORT)
}

fn runtime() -> Result<Runtime> {
    // On this thread, which is inside the host's namespace; threads of the pool inherit the namespace.
    Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")
}

impl Plan {
    fn registry(&self) -> Result<Registry> {
        Ok(Registry::new([format!("http://{}", self.registry)])?)
    }

    /// The n-th proxy forwards until the term is over.
    fn forward(&self, n: usize, term: &Term) -> Result<()> {
        let plenty = Rate {
            per_second: 1e9,
            burst: 1e7,
        };
        let options = Options {
            listen: proxy_socket(n),
            public: vec![proxy_socket(n)],
            limits: Limits {
                overall: Some(plenty),
                source: Some(plenty),
            },
            allow_private: true,
        };
        let mut proxy = Proxy::start(&self.registry()?, self.secret.clone(), &options)?;
        while !term.is_over() {
            proxy.turn(SLICE);
        }
        Ok(())
    }

    /// Receives and checks everything until the term is over.
    async fn receive(&self, term: &Term<'_>) -> Result<()> {
        let endpoint = Endpoint::bind(self.receiver, Some(self.identity.clone()), self.config)?;
        let (name, key) = (
            ReceiverId(self.identity.name()),
            self.identity.announcement_key(),
        );
        let announcement = self.registry()?.announce(name, key, self.receiver);
        let mut buffer = vec![0; BUFFER];
        let taking = async {
            let mut connection = endpoint.accept().await.context("the socket is gone")?;
            let monitor = connection.monitor();
            loop {
                let length = connection.read(&mut buffer).await?;
                if length == 0 {
                    return anyhow::Ok(());
                }
                self.pattern
                    .check(&buffer[..length], self.flow.received())?;
                self.flow.add_received(length as u64);
                self.log.note_waiting(monitor.status().waiting_bytes);
            }
        };
        let result = until_over(term, taking).await.unwrap_or(Ok(()));
        drop(announcement);
        match result {
            // The sender closes when the term is over.
            Err(_) if term.is_over() => Ok(()),
            other => other,
        }
    }

    /// Sends until the term is over.
    async fn send(&self, term: &Term<'_>) -> Result<()> {
        let Some(relays) = self.relays(term).await? else {
            return Ok(());
        };
        let from = SocketAddr::new(IpAddr::from([0, 0, 0, 0]), 0);
        let endpoint = Endpoint::bind(from, None, self.config)?;
        let token = Token::new(&self.identity, vec![self.receiver], None);
        let (_keep, relays) = watch::channel(relays);
        let _ = self.flow.began.set(term.clock.now());
        let connected = endpoint.connect(&token, self.receiver, Some(relays));
        let Some(connection) = until_over(term, connected).await else {
            return Ok(());
        };
        let connection = connection?;
        let monitor = connection.monitor();
        let watching = self.watch(&monitor, term);
        let sent = tokio::select! {
            sent = self.write(connection) => sent,
            () = watching => Ok(()),
        };
        let _ = self.flow.over.set(term.clock.now());
        self.flow.note_retransmits(monitor.info().retransmits);
        sent
    }

    async fn write(&self, mut connection: Connection) -> Result<()> {
        let mut buffer = vec![0; BUFFER];
        let mut sent = 0;
        loop {
            self.pattern.fill(&mut buffer, sent);
            connection.write_all(&buffer).await?;
            sent += BUFFER as u64;
        }
    }

    /// Samples the transfer from time to time until the term is over.
    async fn watch(&self, monitor: &Monitor, term: &Term<'_>) {
        while !term.is_over() {
            self.log.look(monitor, term.clock.now());
            tokio::time::sleep(SAMPLE_INTERVAL).await;
        }
    }

    /// All proxies, as soon as they and the receiver are registered; none if the term ended first.
    async fn relays(&self, term: &Term<'_>) -> Result<Option<Vec<Relay>>> {
        let (registry, name) = (self.registry()?, ReceiverId(self.identity.name()));
        let began = SystemTime::now();
        while !term.is_over() {
            let asked = registry.clone();
            let answer = tokio::task::spawn_blocking(move || asked.relays(name, &[])).await?;
            match answer {
                Ok(grant) if grant.relays.len() >= self.live => {
                    return Ok(Some(grant.relays.into_iter().map(relay).collect()));
                }
                Ok(_) => {}
                Err(error) if error.is_unknown_receiver() => {}
                Err(error) => return Err(error.into()),
            }
            let patient = began.elapsed().unwrap_or_default() < LISTING;
            ensure!(
                patient,
                "the registry does not list all {} proxies",
                self.live
            );
            tokio::time::sleep(10 * SLICE).await;
        }
        Ok(None)
    }
}

fn relay(granted: GrantedRelay) -> Relay {
    Relay {
        address: granted.address,
        capability: granted.capability,
    }
}

/// What `work` returns; none if the term ended first.
async fn until_over<T>(term: &Term<'_>, work: impl Future<Output = T>) -> Option<T> {
    let over = async {
        while !term.is_over() {
            tokio::time::sleep(SLICE).await;
        }
    };
    tokio::select! {
        result = work => Some(result),
        () = over => None,
    }
}
