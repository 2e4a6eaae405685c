//! Bytes a second over loopback with both ends on one core: mPath, the kernel's TCP, and QUIC (quinn), in turns. TCP
//! does not encrypt. QUIC prefers AES, for which most processors have instructions, and is also measured with mPath's
//! cipher.

use crate::bench::{Row, median};
use anyhow::{Context, Result, bail, ensure};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::SupportedCipherSuite;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::cipher_suite::{
    TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tidegate_transfer::{Config, Endpoint, Identity, Token};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Bytes of each transfer.
const BYTES: usize = 400 << 20;

/// Bytes per write and read of the applications.
const CHUNK: usize = 64 << 10;

/// How many turns; we report their median.
const TURNS: usize = 5;

/// The name in quinn's certificate.
const NAME: &str = "localhost";

/// Measures; `stop` ends it early with an error.
pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    // The runtime's threads inherit the CPU of the thread that starts them.
    let alone = || -> Result<Vec<Row>> {
        pin_to_first_core()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(turns(stop))
    };
    std::thread::scope(|scope| scope.spawn(alone).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn pin_to_first_core() -> Result<()> {
    let mut core = CpuSet::new();
    core.set(0)?;
    sched_setaffinity(Pid::from_raw(0), &core).context("stay on one core")
}

async fn turns(stop: &AtomicBool) -> Result<Vec<Row>> {
    let [mut mpath, mut tcp, mut quic, mut same_cipher] = [const { Vec::new() }; 4];
    for _ in 0..TURNS {
        ensure!(!stop.load(Ordering::Relaxed), "interrupted");
        mpath.push(over_mpath().await?);
        tcp.push(over_tcp().await?);
        quic.push(over_quic(TLS13_AES_128_GCM_SHA256).await?);
        same_cipher.push(over_quic(TLS13_CHACHA20_POLY1305_SHA256).await?);
    }
    let all = [mpath, tcp, quic, same_cipher];
    let [mpath, tcp, quic, same_cipher] = all.map(|rates| median(rates) / 1e9);
    let row = |name| Row::new(name, mpath, "Gbit/s");
    Ok(vec![
        row("mpath: goodput, both ends on one core").versus("kernel TCP", mpath / tcp),
        row("mpath: the same").versus("QUIC (quinn), AES-128-GCM", mpath / quic),
        row("mpath: the same").versus("QUIC (quinn), ChaCha20-Poly1305", mpath / same_cipher),
        Row::new("kernel TCP: the same", tcp, "Gbit/s"),
        Row::new("QUIC (quinn), AES-128-GCM: the same", quic, "Gbit/s"),
        Row::new(
            "QUIC (quinn), ChaCha20-Poly1305: the same",
            same_cipher,
            "Gbit/s",
        ),
    ])
}

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Measures the rate from one end to the other, in bit/s.
async fn pour(
    mut from: impl AsyncWrite + Unpin,
    mut to: impl AsyncRead + Unpin + Send + 'static,
) -> Result<f64> {
    let sink = tokio::spawn(async move {
        let mut buffer = vec![0; CHUNK];
        let mut bytes = 0;
        while bytes < BYTES {
            match to.read(&mut buffer).await? {
                0 => bail!("the stream ended after {bytes} bytes"),
                count => bytes += count,
            }
        }
        Ok(to)
    });
    let chunk = vec![0x5a; CHUNK];
    let started = Instant::now();
    for _ in 0..BYTES / CHUNK {
        from.write_all(&chunk).await?;
    }
    from.flush().await?;
    let end = sink.await??;
    let rate = BYTES as f64 * 8.0 / started.elapsed().as_secs_f64();
    drop((from, end));
    Ok(rate)
}

async fn over_mpath() -> Result<f64> {
    let identity = Identity::generate();
    let server = Endpoint::bind(loopback(), Some(identity.clone()), Config::default())?;
    let token = Token::new(&identity, vec![server.local_address()], None);
    let client = Endpoint::bind(loopback(), None, Config::default())?;
    let near = client.connect(&token, server.local_address(), None).await?;
    let far = server.accept().await.context("no connection")?;
    let rate = pour(near, far).await?;
    client.wait_idle().await;
    Ok(rate)
}

async fn over_tcp() -> Result<f64> {
    let listener = TcpListener::bind(loopback()).await?;
    let near = TcpStream::connect(listener.local_addr()?).await?;
    let (far, _) = listener.accept().await?;
    pour(near, far).await
}

async fn over_quic(cipher: SupportedCipherSuite) -> Result<f64> {
    let identity = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let certificate = CertificateDer::from(identity.cert);
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let server = quinn::ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let server = quinn::Endpoint::server(server, loopback())?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let provider = CryptoProvider {
        cipher_suites: vec![cipher],
        ..rustls::crypto::ring::default_provider()
    };
    let crypto = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // Initial packets always use AES (RFC 9001 §5.2).
    let initial = TLS13_AES_128_GCM_SHA256.tls13();
    let initial = initial.and_then(|suite| suite.quic_suite());
    let initial = initial.context("no AES for QUIC")?;
    let crypto = QuicClientConfig::with_initial(Arc::new(crypto), initial)?;
    let client = quinn::Endpoint::client(loopback())?;
    let config = quinn::ClientConfig::new(Arc::new(crypto));
    let connecting = client.connect_with(config, server.local_addr()?, NAME)?;
    let accepting = async { Ok(server.accept().await.context("no connection")?.await?) };
    let (near, far): (_, quinn::Connection) = tokio::try_join!(
        async { Ok::<_, anyhow::Error>(connecting.await?) },
        accepting
    )?;
    let mut near_stream = near.open_uni().await?;
    // The peer sees a stream only after its first data.
    near_stream.write_all(&[0]).await?;
    let mut far_stream = far.accept_uni().await?;
    far_stream.read_exact(&mut [0]).await?;
    pour(near_stream, far_stream).await
}
