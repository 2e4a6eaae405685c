//! A download over QUIC (quinn).

use super::*;
use quinn::{Endpoint, TransportConfig};
use std::sync::Arc;

/// Environment variables of the load's process: the server's address, and the file with its certificate.
pub const SERVER: &str = "TIDEGATE_TEST_QUIC_SERVER";
pub const CERTIFICATE: &str = "TIDEGATE_TEST_QUIC_CERTIFICATE";

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Sends endless streams to every client. Returns the server's certificate.
pub fn serve_forever(hosts: &EmulatedHosts, at: SocketAddr) -> Vec<u8> {
    let (mut config, certificate) = certified().unwrap();
    let mut transport = TransportConfig::default();
    transport.send_window(64 << 20);
    config.transport_config(Arc::new(transport));
    let runtime = runtime();
    let guard = runtime.enter();
    let server = endpoint(hosts.server(), at, Some(config)).unwrap();
    drop(guard);
    thread::spawn(move || runtime.block_on(accept(server)));
    certificate.to_vec()
}

async fn accept(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else {
                return;
            };
            let Ok(mut stream) = connection.open_uni().await else {
                return;
            };
            while stream.write_all(&[7; 1 << 16]).await.is_ok() {}
        });
    }
}

/// Downloads until it is killed.
#[test]
#[ignore = "the load of a trial, which starts it"]
fn load() {
    let at: SocketAddr = std::env::var(SERVER).unwrap().parse().unwrap();
    let certificate = fs::read(std::env::var(CERTIFICATE).unwrap()).unwrap();
    let client = trusting(certificate).unwrap();
    runtime().block_on(async {
        let end = Endpoint::client(([0; 4], 0).into()).unwrap();
        let connecting = end.connect_with(client, at, NAME).unwrap();
        let connection = connecting.await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        let mut buffer = vec![0; 1 << 16];
        while stream.read(&mut buffer).await.unwrap().is_some() {}
    });
}
use tidegate_lab::quic_ends::{NAME, certified, endpoint, trusting};
