//! A server that never stops sending, and clients that read.

use crate::relay::Relay;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, ServerConfig, TransportConfig};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tidegate_link::Config;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const NAME: &str = "localhost";

/// A connection over its own link, with a stream that never ends.
pub struct Download {
    pub connection: Connection,
    pub stream: RecvStream,
    pub relay: Relay,
    _endpoints: [Endpoint; 2],
}

impl Download {
    /// Begins a download whose client has these settings.
    pub async fn start(link: Config, client: TransportConfig) -> Result<Self> {
        let (server, certificate) = server()?;
        let relay = Relay::start(server.local_addr()?, link).await?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate)?;
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        config.transport_config(Arc::new(client));
        let endpoint = Endpoint::client(anywhere())?;
        let connecting = endpoint.connect_with(config, relay.address, NAME)?;
        let connection = connecting.await?;
        let stream = connection.accept_uni().await?;
        Ok(Self {
            connection,
            stream,
            relay,
            _endpoints: [endpoint, server],
        })
    }
}

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Sends [`pattern`] without end to every client.
fn server() -> Result<(Endpoint, CertificateDer<'static>)> {
    let identity = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let certificate = CertificateDer::from(identity.cert);
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let endpoint = Endpoint::server(config, anywhere())?;
    let listener = endpoint.clone();
    tokio::spawn(async move {
        while let Some(incoming) = listener.accept().await {
            tokio::spawn(async move {
                let mut stream = incoming.await?.open_uni().await?;
                let data = pattern(PERIOD * 256);
                loop {
                    stream.write_all(&data).await?;
                }
                #[expect(unreachable_code, reason = "says of what kind errors are")]
                Result::Ok(())
            });
        }
    });
    Ok((endpoint, certificate))
}

/// The pattern's period in bytes: a prime, so that no packet length hides a gap.
pub const PERIOD: usize = 251;

/// The first `bytes` that the server sends.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % PERIOD) as u8).collect()
}

/// Checks that `data` follow the first `position` bytes of the pattern.
pub fn assert_intact(data: &[u8], position: u64) {
    let first = position % PERIOD as u64;
    let expected = |i: usize| ((first as usize + i) % PERIOD) as u8;
    let wrong = (0..data.len()).find(|&i| data[i] != expected(i));
    assert_eq!(wrong, None, "after {position} bytes");
}
