//! `--udp fallback`: a QUIC client is refused at once, and can connect as soon as the agent has ended.

use crate::TIMEOUT;
use crate::agent::Agent;
use crate::testbed::turn;
use quinn::{ConnectionError, Endpoint};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use tidegate_lab::quic_ends::{NAME, endpoint, identity};
use tidegate_lab::{IpVersion, Veth};

/// A client and a server of QUIC.
struct Ends {
    client: Endpoint,
    address: SocketAddr,
    _server: Endpoint,
}

impl Ends {
    fn new(hosts: &Veth) -> Self {
        let (config, trusting) = identity().unwrap();
        let address = (Veth::server_address(IpVersion::V4), 443).into();
        let server = endpoint(&hosts.server, address, Some(config)).unwrap();
        let mut client = endpoint(&hosts.client, (Ipv4Addr::UNSPECIFIED, 0).into(), None).unwrap();
        client.set_default_client_config(trusting);
        tokio::spawn(accept(server.clone()));
        Self {
            client,
            address,
            _server: server,
        }
    }

    /// Whether a connection is established within that time.
    async fn connects(&self, within: Duration) -> Result<(), ConnectionError> {
        let connecting = self.client.connect(self.address, NAME).unwrap();
        let outcome = tokio::time::timeout(within, connecting).await;
        outcome.map_or(Err(ConnectionError::TimedOut), |connected| {
            connected.map(drop)
        })
    }
}

/// Accepts every connection, and keeps it until the client closes it.
async fn accept(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            if let Ok(connection) = incoming.await {
                connection.closed().await;
            }
        });
    }
}

/// The kernel tells a connected socket, as browsers use, of the refusal.
fn is_told(hosts: &Veth) -> bool {
    let client = hosts
        .client
        .run(|| Ok(UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?))
        .unwrap();
    client
        .connect((Veth::server_address(IpVersion::V4), 443))
        .unwrap();
    client.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut initial = [0; 1200];
    initial[..6].copy_from_slice(&[0xc0, 0, 0, 0, 1, 8]);
    let began = Instant::now();
    // Whichever call comes first returns the error.
    let told = client
        .send(&initial)
        .and_then(|_| client.recv(&mut [0; 10]));
    println!("told after {:?}: {told:?}", began.elapsed());
    let known = [ErrorKind::ConnectionRefused, ErrorKind::PermissionDenied];
    told.is_err_and(|error| known.contains(&error.kind()))
        && began.elapsed() < Duration::from_secs(1)
}

#[test]
fn quic_is_turned_away_at_once_until_the_agent_ends() {
    let Some(_turn) = turn() else { return };
    let hosts = Veth::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(1).enable_all().build().unwrap();
    let ends = runtime.block_on(async { Ends::new(&hosts) });
    runtime
        .block_on(ends.connects(TIMEOUT))
        .expect("without an agent");
    for stop in [Agent::stop, Agent::kill] {
        let agent = Agent::start_with(&hosts.client, |command| {
            command.args(["--udp", "fallback"]);
        });
        assert!(is_told(&hosts), "nobody says that it is turned away");
        let tried = runtime.block_on(ends.connects(Duration::from_secs(2)));
        assert!(tried.is_err(), "it connects");
        stop(agent);
        runtime
            .block_on(ends.connects(TIMEOUT))
            .expect("after the agent");
    }
}
