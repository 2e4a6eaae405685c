//! A real QUIC stack, quinn, meets the fallback and the gate.

use crate::hosts::hosts;
use crate::laws::{Law, start};
use anyhow::{Context, Result};
use quinn::{Connection, ConnectionError, Endpoint, IdleTimeout, TransportConfig};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidegate_gate::{Choice, Fallback, Flow, Limits};
use tidegate_lab::quic_ends::{NAME, endpoint, identity};
use tidegate_lab::{IpVersion, Veth};

const FILE: usize = 4 << 20;

/// How long quinn waits for an answer.
const TIMEOUT: Duration = Duration::from_millis(1500);

/// A client, and a server that sends a file to each client that opens a stream.
struct Ends {
    client: Endpoint,
    server: SocketAddr,
    interface: u32,
    _server: Endpoint,
}

impl Ends {
    fn new(hosts: &Veth) -> Result<Self> {
        let (config, mut trusting) = identity().unwrap();
        let address = (Veth::server_address(IpVersion::V4), 443).into();
        let server = endpoint(&hosts.server, address, Some(config)).unwrap();
        tokio::spawn(send_files(server.clone()));
        let mut client = endpoint(&hosts.client, (Ipv4Addr::UNSPECIFIED, 0).into(), None).unwrap();
        let mut transport = TransportConfig::default();
        transport.max_idle_timeout(Some(IdleTimeout::try_from(TIMEOUT)?));
        transport.keep_alive_interval(Some(TIMEOUT / 5));
        trusting.transport_config(Arc::new(transport));
        client.set_default_client_config(trusting);
        let index = || Ok(nix::net::if_::if_nametoindex(Veth::INTERFACE)?);
        Ok(Self {
            client,
            server: address,
            interface: hosts.client.run(index)?,
            _server: server,
        })
    }

    async fn connect(&self) -> Result<Result<Connection, ConnectionError>> {
        Ok(self.client.connect(self.server, NAME)?.await)
    }

    fn flow(&self, hosts: &Veth) -> Result<Flow> {
        // The client's socket is bound to any address.
        let probe = || {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            socket.connect(self.server)?;
            Ok(socket.local_addr()?.ip())
        };
        let port = self.client.local_addr()?.port();
        Ok(Flow {
            interface: self.interface,
            local: SocketAddr::new(hosts.client.run(probe)?, port),
            remote: self.server,
        })
    }
}

async fn send_files(server: Endpoint) -> Result<()> {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            let connection = incoming.await?;
            while let Ok((mut stream, _)) = connection.accept_bi().await {
                stream.write_all(&vec![7; FILE]).await?;
                stream.finish()?;
            }
            anyhow::Ok(())
        });
    }
    Ok(())
}

/// Fetches the file. Returns how long that took.
async fn fetch(connection: &Connection) -> Result<Duration> {
    let began = Instant::now();
    let (mut request, mut stream) = connection.open_bi().await?;
    request.write_all(b"file").await?;
    let file = stream.read_to_end(FILE).await?;
    assert_eq!(file.len(), FILE);
    Ok(began.elapsed())
}

fn within_runtime(act: impl AsyncFnOnce(&Veth) -> Result<()>) {
    let Some(hosts) = hosts() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(act(&hosts)).unwrap();
}

/// An established connection goes on; a new one is rejected. quinn does not trust ICMP, which anybody may send, and
/// gives up only after its timeout.
#[test]
fn a_connection_that_stands_is_not_rejected() {
    within_runtime(async |hosts| {
        let ends = Ends::new(hosts)?;
        let standing = ends.connect().await?.context("connect")?;
        fetch(&standing).await?;
        let choice = Choice {
            interface: None,
            remote_ports: 443..=443,
            remote: None,
            rejects: true,
        };
        let fallback = hosts.client.run(|| Ok(Fallback::new(&[choice])?))?;
        let began = Instant::now();
        let refused = ends.connect().await?.err();
        println!("quinn gave up after {:?}: {refused:?}", began.elapsed());
        assert_eq!(refused, Some(ConnectionError::TimedOut));
        fetch(&standing).await?;
        drop(fallback);
        let another = ends.connect().await?.context("connect again")?;
        fetch(&another).await?;
        Ok(())
    });
}

/// Its acknowledgements wait, so its windows need longer to open, and every byte arrives.
#[test]
fn a_download_whose_acknowledgements_wait_arrives() {
    within_runtime(async |hosts| {
        let ends = Ends::new(hosts)?;
        let connection = ends.connect().await?.context("connect")?;
        // The least of three: the first waits for windows to open, and each may wait for a busy machine.
        let mut untouched = fetch(&connection).await?;
        for _ in 0..2 {
            untouched = untouched.min(fetch(&connection).await?);
        }
        let gate = || Ok(start(Law::Wait(50_000), Limits::default())?);
        let mut gate = hosts.client.run(gate)?;
        gate.hold(&[ends.flow(hosts)?])?;
        let held = fetch(&connection).await?;
        let counts = gate.counts()?;
        println!("untouched {untouched:?}, held {held:?}; {counts:?}");
        assert!(counts.waited > 10, "{counts:?}");
        assert!(held > untouched + Duration::from_millis(50));
        let lost = connection.stats().path.lost_packets;
        assert_eq!(lost, 0, "the client's packets");
        Ok(())
    });
}
