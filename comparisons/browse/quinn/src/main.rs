//! The server that is browsed, over HTTP/3 by quinn, with CUBIC. `browse-quinn FOLDER` works like `browse-quic-go`,
//! with the same files, addresses and objects.

mod content;
mod trust;

use anyhow::{Context, Result};
use bytes::Bytes;
use content::Answer;
use h3::server::{Connection, RequestResolver};
use http::Response;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, Incoming, ServerConfig};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trust::Certificates;

/// Bytes handed to the stack at a time.
const BLOCK: usize = 64 << 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).context("expected FOLDER")?;
    serve(Path::new(&folder)).await
}

async fn serve(folder: &Path) -> Result<()> {
    let names = fs::read_to_string(folder.join("hosts")).context("the hosts")?;
    let (certificates, trust) = Certificates::new(names.split_whitespace())?;
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(certificates));
    tls.alpn_protocols = vec!["h3".into()];
    let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    let endpoint = Endpoint::server(config, SocketAddr::from(([0, 0, 0, 0], 443)))?;
    // Atomically: a process that waits for the file never sees half of it.
    fs::write(folder.join("trust.new"), trust)?;
    fs::rename(folder.join("trust.new"), folder.join("trust"))?;
    let pages: Arc<Path> = folder.join("pages").into();
    while let Some(incoming) = endpoint.accept().await {
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            // The browser has closed it, or was idle for too long.
            let _ = connection(incoming, pages).await;
        });
    }
    Ok(())
}

async fn connection(incoming: Incoming, pages: Arc<Path>) -> Result<()> {
    let quic = h3_quinn::Connection::new(incoming.await?);
    let mut connection = Connection::<_, Bytes>::new(quic).await?;
    while let Some(request) = connection.accept().await? {
        let pages = pages.to_path_buf();
        tokio::spawn(async move {
            // An error means that the browser has cancelled the request.
            let _ = request_of(request, pages).await;
        });
    }
    Ok(())
}

async fn request_of(
    request: RequestResolver<h3_quinn::Connection, Bytes>,
    pages: PathBuf,
) -> Result<()> {
    let (request, mut stream) = request.resolve_request().await?;
    let answer = Answer::to(request.uri(), &pages);
    let Some(answer) = answer else {
        let response = Response::builder().status(http::StatusCode::NOT_FOUND);
        stream.send_response(response.body(())?).await?;
        return Ok(stream.finish().await?);
    };
    tokio::time::sleep(answer.after).await;
    let response = Response::builder()
        .header("content-type", answer.mime)
        .header("content-length", answer.length())
        .header("cache-control", answer.caching)
        // Pages of other hosts load it, and have to see by which protocol it came.
        .header("access-control-allow-origin", "*")
        .header("timing-allow-origin", "*");
    stream.send_response(response.body(())?).await?;
    stream.send_data(answer.start).await?;
    let block = Bytes::from_static(&[b'x'; BLOCK]);
    let mut filling = answer.filling;
    while filling > 0 {
        let length = filling.min(BLOCK);
        stream.send_data(block.slice(..length)).await?;
        filling -= length;
    }
    stream.send_data(answer.end).await?;
    Ok(stream.finish().await?)
}
