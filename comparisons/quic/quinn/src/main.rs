//! A download over quinn.

use anyhow::{Context, Result, bail};
use download::{ALPN, CHUNK, Client, End, Meter, NAME, Server, WINDOW};
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::timeout;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match End::from_arguments()? {
        End::Server(server) => serve(&server).await,
        End::Client(client) => fetch(&client).await,
    }
}

fn congestion_control(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>> {
    Ok(match name {
        "cubic" => Arc::new(CubicConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => bail!("congestion control {name}: quinn does not have it"),
    })
}

async fn serve(server: &Server) -> Result<()> {
    let chain = vec![CertificateDer::from_pem_file(server.certificate())?];
    let key = PrivateKeyDer::from_pem_file(server.key())?;
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![ALPN.into()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(congestion_control(&server.control)?);
    transport.send_window(WINDOW.into());
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::server(config, server.address)?;
    let incoming = endpoint.accept().await.context("nobody came")?;
    let outcome = send(&incoming.await?).await;
    eprintln!("{outcome:?}");
    Ok(())
}

/// Sends as much as the connection takes.
async fn send(connection: &Connection) -> Result<()> {
    let (mut stream, _) = connection.accept_bi().await?;
    let chunk = vec![0; CHUNK];
    loop {
        stream.write_all(&chunk).await?;
    }
}

async fn fetch(client: &Client) -> Result<()> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(client.certificate())?)?;
    let mut tls = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.into()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(WINDOW));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(SocketAddr::new([0, 0, 0, 0].into(), 0))?;
    let mut meter = Meter::new(client.period);
    let received = async {
        let connection = endpoint.connect_with(config, client.server, NAME)?.await?;
        receive(&connection, &mut meter).await
    };
    let outcome = timeout(client.period, received).await.unwrap_or(Ok(()));
    meter.print(outcome)
}

async fn receive(connection: &Connection, meter: &mut Meter) -> Result<()> {
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(b"?").await?;
    while let Some(chunk) = receive.read_chunk(1 << 20, true).await? {
        meter.count(chunk.bytes.len());
    }
    bail!("the server has finished")
}
