//! Downloads over QUIC, which the agent holds: long enough to fill the link, from the machine itself and from behind its
//! NAT. Every byte is checked. Now and then a client moves to another port, as behind a NAT that forgets, or as a
//! phone does that roams.

use super::connections::{TIMEOUT, Tally};
use anyhow::{Context, Result, ensure};
use quinn::{
    ClientConfig, Connection, Endpoint, EndpointConfig, IdleTimeout, RecvStream, SendStream,
    ServerConfig, TokioRuntime, TransportConfig,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_lab::quic_ends::{NAME, identity};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, Pattern};
use tokio::runtime::{Builder, Runtime};

/// HTTP/3's port.
const PORT: u16 = 443;

/// Bytes of a download: from a picture to a minute of video. The logarithm is uniformly distributed.
const SMALLEST: f64 = 300e3;
const LARGEST: f64 = 30e6;

/// In one download of this many, the client moves to another port in between.
const MOVES: u32 = 3;

/// Bytes per write and read.
const CHUNK: usize = 64 << 10;

/// What a client asks for: the pattern's seed, and how many bytes of it.
const ORDER: usize = 16;

/// Both ends' configurations, and the server's sockets.
pub struct Quic {
    server: ServerConfig,
    client: ClientConfig,
    sockets: Vec<UdpSocket>,
    addresses: [SocketAddr; 2],
}

impl Quic {
    /// A server on `host` at HTTP/3's port, for IPv4 and IPv6.
    pub fn new(host: &Namespace) -> Result<Self> {
        let (mut server, mut client) = identity()?;
        let mut transport = TransportConfig::default();
        // Silent for longer, a connection is stuck, as TCP's are.
        transport.max_idle_timeout(Some(IdleTimeout::try_from(TIMEOUT)?));
        let transport = Arc::new(transport);
        server.transport_config(transport.clone());
        client.transport_config(transport);
        let addresses = [IpVersion::V4, IpVersion::V6]
            .map(|version| SocketAddr::new(EmulatedHosts::server_address(version), PORT));
        let bind = |address: &SocketAddr| {
            UdpSocket::bind(address).with_context(|| format!("the server cannot use {address}"))
        };
        let sockets = host.run(|| addresses.iter().map(bind).collect())?;
        Ok(Self {
            server,
            client,
            sockets,
            addresses,
        })
    }

    /// Serves downloads until the test is over.
    pub fn serve(&self, tally: &Arc<Tally>, over: &AtomicBool) -> Result<()> {
        let runtime = runtime()?;
        for socket in &self.sockets {
            let _inside = runtime.enter();
            let endpoint = Endpoint::new(
                EndpointConfig::default(),
                Some(self.server.clone()),
                socket.try_clone()?,
                Arc::new(TokioRuntime),
            )?;
            let tally = tally.clone();
            runtime.spawn(async move {
                while let Some(incoming) = endpoint.accept().await {
                    let tally = tally.clone();
                    tokio::spawn(async move {
                        // What a client gives up, it tells itself.
                        if let Ok(connection) = incoming.await
                            && let Err(error) = answer_all(&connection).await
                        {
                            tally.note(&error.context("the QUIC server"));
                        }
                    });
                }
            });
        }
        runtime.block_on(async {
            while !over.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        Ok(())
    }

    /// Downloads one object after another on `host`, until the test is over.
    pub fn be_client(
        &self,
        seed: u64,
        host: &Namespace,
        tally: &Tally,
        over: &AtomicBool,
    ) -> Result<()> {
        host.enter()?;
        let runtime = runtime()?;
        let mut random = Pcg64Mcg::seed_from_u64(!seed);
        for turn in seed.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let to = self.addresses[(turn % 2) as usize];
            let ratio = libm::pow(LARGEST / SMALLEST, random.random::<f64>());
            let order = Order {
                seed: random.random(),
                bytes: (SMALLEST * ratio) as u64,
                moves: random.random_ratio(1, MOVES),
            };
            match runtime.block_on(self.download(to, order)) {
                Ok(()) => {
                    tally.downloads.fetch_add(1, Ordering::Relaxed);
                    tally.bytes.fetch_add(order.bytes, Ordering::Relaxed);
                    tally.moved.fetch_add(order.moves.into(), Ordering::Relaxed);
                }
                Err(error) => tally.note(&error.context("over QUIC")),
            }
        }
        Ok(())
    }

    async fn download(&self, to: SocketAddr, order: Order) -> Result<()> {
        let endpoint = Endpoint::new(
            EndpointConfig::default(),
            None,
            any_port(to)?,
            Arc::new(TokioRuntime),
        )?;
        let connection = endpoint
            .connect_with(self.client.clone(), to, NAME)?
            .await
            .context("cannot connect")?;
        let (mut sends, mut receives) = connection.open_bi().await?;
        sends.write_all(&order.to_bytes()).await?;
        sends.finish()?;
        let move_at = if order.moves {
            order.bytes / 2
        } else {
            u64::MAX
        };
        let (mut received, mut moved) = (0, false);
        while let Some(chunk) = receives.read_chunk(CHUNK, true).await? {
            Pattern::new(order.seed).check(&chunk.bytes, received)?;
            received += chunk.bytes.len() as u64;
            if received >= move_at && !moved {
                moved = true;
                endpoint.rebind(any_port(to)?)?;
            }
        }
        ensure!(
            received == order.bytes,
            "{received} of {} bytes arrived",
            order.bytes
        );
        connection.close(0u32.into(), b"done");
        endpoint.wait_idle().await;
        Ok(())
    }
}

/// A download.
#[derive(Clone, Copy)]
struct Order {
    seed: u64,
    bytes: u64,
    /// Whether the client moves to another port on the way.
    moves: bool,
}

impl Order {
    fn to_bytes(self) -> [u8; ORDER] {
        let words = [self.seed, self.bytes].map(u64::to_le_bytes);
        words.concat().try_into().expect("two words")
    }
}

/// A socket at any port in the calling thread's namespace.
fn any_port(to: SocketAddr) -> Result<UdpSocket> {
    let any = match to {
        SocketAddr::V4(_) => IpAddr::from([0; 4]),
        SocketAddr::V6(_) => IpAddr::from([0; 16]),
    };
    UdpSocket::bind((any, 0)).context("bind a UDP socket")
}

/// A runtime whose sockets belong to the calling thread's namespace.
fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")
}

async fn answer_all(connection: &Connection) -> Result<()> {
    while let Ok((sends, receives)) = connection.accept_bi().await {
        // A client that leaves in the middle, because the test is over or because it has found a fault, says so itself.
        let answered = answer(sends, receives).await;
        if connection.close_reason().is_none() {
            answered?;
        }
    }
    Ok(())
}

async fn answer(mut sends: SendStream, mut receives: RecvStream) -> Result<()> {
    let mut order = [0; ORDER];
    receives.read_exact(&mut order).await?;
    let word = |i: usize| u64::from_le_bytes(order[i..i + 8].try_into().expect("eight bytes"));
    let (pattern, bytes) = (Pattern::new(word(0)), word(8));
    let mut chunk = [0; CHUNK];
    let mut sent = 0;
    while sent < bytes {
        let part = &mut chunk[..CHUNK.min((bytes - sent) as usize)];
        pattern.fill(part, sent);
        sends.write_all(part).await?;
        sent += part.len() as u64;
    }
    Ok(sends.finish()?)
}
