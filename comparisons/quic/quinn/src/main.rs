//! A download over quinn.

use anyhow::{Context, Result, anyhow, bail, ensure};
use bytes::Bytes;
use download::{ALPN, CHUNK, End, KEY_PERIOD, LONGER, Meter, NAME, Task, Terms, WINDOW};
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, Incoming, RecvStream};
use quinn::{SendStream, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tokio::time::{sleep, timeout};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match End::from_arguments()? {
        End::Server(terms) => serve(&terms).await,
        End::Client(terms) => fetch(&terms).await,
    }
}

fn congestion_control(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>> {
    Ok(match name {
        "cubic" => Arc::new(CubicConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => bail!("congestion control {name}: quinn does not have it"),
    })
}

fn transport(terms: &Terms) -> Result<Arc<TransportConfig>> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(congestion_control(&terms.control)?);
    transport.send_window(WINDOW.into());
    transport.stream_receive_window(VarInt::from_u32(WINDOW));
    Ok(Arc::new(transport))
}

async fn serve(terms: &Terms) -> Result<()> {
    let chain = vec![CertificateDer::from_pem_file(terms.certificate())?];
    let key = PrivateKeyDer::from_pem_file(terms.key())?;
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    tls.alpn_protocols = vec![ALPN.into()];
    if terms.task == Task::Resumption {
        tls.max_early_data_size = u32::MAX;
    }
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport(terms)?);
    let endpoint = Endpoint::server(config, terms.server)?;
    while let Some(incoming) = endpoint.accept().await {
        let terms = terms.clone();
        tokio::spawn(async move { eprintln!("{:?}", attend(incoming, &terms).await) });
    }
    Ok(())
}

async fn attend(incoming: Incoming, terms: &Terms) -> Result<()> {
    let connecting = incoming.accept()?;
    let connection = match terms.task {
        // It answers before the handshake is complete.
        Task::Resumption => connecting.into_0rtt().map_err(|_| anyhow!("no 0-RTT"))?.0,
        _ => connecting.await?,
    };
    match terms.task {
        Task::Upload => {
            let mut meter = Meter::new(terms.period);
            let received = async {
                let (_, stream) = connection.accept_bi().await?;
                receive(stream, &mut meter).await
            };
            let outcome = timeout(terms.period, received).await.unwrap_or(Ok(()));
            meter.print(outcome)
        }
        Task::Datagrams => {
            connection.accept_bi().await?;
            send_datagrams(&connection).await
        }
        _ => send(connection.accept_bi().await?.0).await,
    }
}

/// Sends as much as the connection takes.
async fn send(mut stream: SendStream) -> Result<()> {
    let chunk = vec![0; CHUNK];
    loop {
        stream.write_all(&chunk).await?;
    }
}

/// Sends as many datagrams as the connection takes.
async fn send_datagrams(connection: &Connection) -> Result<()> {
    let zeros = Bytes::from_static(&[0; CHUNK]);
    loop {
        let most = connection.max_datagram_size().context("no datagrams")?;
        connection.send_datagram_wait(zeros.slice(..most)).await?;
    }
}

async fn fetch(terms: &Terms) -> Result<()> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(terms.certificate())?)?;
    let mut tls = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.into()];
    tls.enable_early_data = terms.task == Task::Resumption;
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(terms)?);
    let mut endpoint = Endpoint::client(any_port())?;
    endpoint.set_default_client_config(config);
    if terms.task == Task::Upload {
        let connection = endpoint.connect(terms.server, NAME)?.await?;
        let sent = send(connection.open_bi().await?.0);
        // The server began to count later, and closes the connection when it is done.
        eprintln!("{:?}", timeout(terms.period + LONGER, sent).await);
        return Ok(());
    }
    let mut meter = Meter::new(terms.period);
    let received = download(&endpoint, terms, &mut meter);
    let outcome = timeout(terms.period, received).await.unwrap_or(Ok(()));
    meter.print(outcome)
}

async fn download(endpoint: &Endpoint, terms: &Terms, meter: &mut Meter) -> Result<()> {
    let connecting = endpoint.connect(terms.server, NAME)?;
    if terms.task == Task::Resumption {
        // The ticket comes before the data.
        let first = connecting.await?;
        ask(&first).await?.read_chunk(1, true).await?;
        first.close(VarInt::from_u32(0), b"");
        let again = endpoint.connect(terms.server, NAME)?;
        let again = again.into_0rtt().map_err(|_| anyhow!("no ticket"))?;
        let (connection, accepted) = again;
        let stream = ask(&connection).await?;
        ensure!(accepted.await, "the server refused 0-RTT");
        return receive(stream, meter).await;
    }
    let connection = connecting.await?;
    let stream = ask(&connection).await?;
    let received = async {
        match terms.task {
            Task::Datagrams => receive_datagrams(&connection, meter).await,
            _ => receive(stream, meter).await,
        }
    };
    let disturbed = async {
        match terms.task {
            Task::Migration => {
                sleep(terms.period / 2).await;
                endpoint.rebind(UdpSocket::bind(any_port())?)?;
            }
            Task::KeyUpdates => loop {
                sleep(KEY_PERIOD).await;
                connection.force_key_update();
            },
            _ => {}
        }
        Ok(())
    };
    tokio::try_join!(received, disturbed)?;
    Ok(())
}

/// The client's address: the kernel chooses.
fn any_port() -> SocketAddr {
    SocketAddr::new([0, 0, 0, 0].into(), 0)
}

/// Opens a stream and asks for data.
async fn ask(connection: &Connection) -> Result<RecvStream> {
    let (mut send, receive) = connection.open_bi().await?;
    send.write_all(b"?").await?;
    Ok(receive)
}

async fn receive(mut stream: RecvStream, meter: &mut Meter) -> Result<()> {
    while let Some(chunk) = stream.read_chunk(1 << 20, true).await? {
        meter.count(chunk.bytes.len());
    }
    bail!("the sender has finished")
}

async fn receive_datagrams(connection: &Connection, meter: &mut Meter) -> Result<()> {
    loop {
        meter.count(connection.read_datagram().await?.len());
    }
}
