//! A bulk download over QUIC: `quic server ADDRESS CERTIFICATE CONTROL`, `quic client ADDRESS CERTIFICATE SECONDS`. The
//! server writes its certificate to a file, which the client reads; CONTROL is `cubic`, `bbr` or `reno`. The client
//! prints Mbit/s for each second, and the mean.

use anyhow::{Context, Result, bail};
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{Connection, Endpoint, TransportConfig, VarInt};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidegate_lab::quic_ends::{NAME, certified, trusting};

/// The client's receive window for a stream, as in browsers.
const STREAM_WINDOW: u32 = 6 << 20;

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match words[..] {
        ["server", address, certificate, control] => {
            runtime.block_on(serve(address.parse()?, certificate.as_ref(), control))
        }
        ["client", address, certificate, seconds] => runtime.block_on(fetch(
            address.parse()?,
            certificate.as_ref(),
            seconds.parse()?,
        )),
        _ => bail!(
            "expected `server ADDRESS CERTIFICATE CONTROL` or `client ADDRESS CERTIFICATE SECONDS`"
        ),
    }
}

async fn serve(address: SocketAddr, certificate: &Path, control: &str) -> Result<()> {
    let (mut config, own) = certified()?;
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        "cubic" => Arc::new(CubicConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        "reno" => Arc::new(NewRenoConfig::default()),
        _ => bail!("congestion control \"{control}\", expected cubic, bbr or reno"),
    };
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory);
    transport.send_window(64 << 20);
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::server(config, address)?;
    std::fs::write(certificate, own)?;
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(async move {
            if let Ok(connection) = incoming.await {
                let _ = send(&connection).await;
            }
        });
    }
    Ok(())
}

/// Sends as much as the connection takes.
async fn send(connection: &Connection) -> Result<()> {
    let mut stream = connection.open_uni().await?;
    let chunk = vec![0; 64 << 10];
    loop {
        stream.write_all(&chunk).await?;
    }
}

async fn fetch(server: SocketAddr, certificate: &Path, seconds: f64) -> Result<()> {
    let der = std::fs::read(certificate).context("the server's certificate")?;
    let mut config = trusting(der)?;
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(STREAM_WINDOW));
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(SocketAddr::new([0, 0, 0, 0].into(), 0))?;
    let connection = endpoint.connect_with(config, server, NAME)?.await?;
    let mut stream = connection.accept_uni().await?;
    let began = Instant::now();
    let end = Duration::from_secs_f64(seconds);
    let (mut all, mut lately, mut next) = (0, 0, Duration::from_secs(1));
    while began.elapsed() < end {
        let Some(chunk) = stream.read_chunk(1 << 20, true).await? else {
            break;
        };
        all += chunk.bytes.len();
        lately += chunk.bytes.len();
        if began.elapsed() >= next {
            println!("{:.2}", lately as f64 * 8e-6);
            lately = 0;
            next += Duration::from_secs(1);
        }
    }
    println!(
        "mean {:.3} Mbit/s",
        all as f64 * 8e-6 / began.elapsed().as_secs_f64()
    );
    Ok(())
}
