//! What has no window, over the laboratory's link: a download over QUIC whose acknowledgements wait at the client.

use crate::common::{laboratory, number};
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use std::env;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Which end a process of [`quic`] is, where the server's certificate and key lie, and the server's address.
const END: &str = "TIDEGATE_TEST_QUIC_END";
const FOLDER: &str = "TIDEGATE_TEST_QUIC_FOLDER";
const SERVER: &str = "TIDEGATE_TEST_QUIC_SERVER";

const NAME: &str = "server";
const PORT: u16 = 4433;

/// One end, as a command for a workload.
fn end(end: &str, folder: &TempDir) -> String {
    let program = env::current_exe().unwrap();
    format!(
        "{END}={end} {FOLDER}={} {SERVER}={{server}} exec {} hold::quic --exact --ignored",
        folder.path().display(),
        program.display()
    )
}

/// The server's certificate and key, for all runs.
fn certify(folder: &TempDir) {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    fs::write(folder.path().join("certificate"), own.cert.der()).unwrap();
    fs::write(folder.path().join("key"), own.signing_key.serialize_der()).unwrap();
}

/// One of the two files.
fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new(&env::var(FOLDER).unwrap()).join(name)).unwrap()
}

fn scenario(folder: &TempDir) -> String {
    let [server, client] = ["server", "client"].map(|name| end(name, folder));
    format!(
        r#"
name = "quic"
duration_s = 24
warmup_s = 12
down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 25, queue = {{ packets = 1000 }} }}
up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25 }}
workload = [
    {{ name = "server", does = {{ command = {{ run = ["sh", "-c", "{server}"], side = "server" }} }} }},
    {{ name = "client", start_s = 1, does = {{ command = {{ run = ["sh", "-c", "{client}"] }} }} }},
]
run = [
    {{ name = "linux" }},
    {{ name = "hold", law = "tide", udp = "hold" }},
]
"#
    )
}

fn queue(run: &Value) -> f64 {
    number(run, "/link/queue_delay_ms/mean")
}

fn carried(run: &Value) -> f64 {
    number(run, "/link/delivered_bps")
}

/// Bounds are wide: other processes share the machine, and the start takes some seconds.
#[test]
fn a_quic_download_is_held() {
    let folder = TempDir::new().unwrap();
    certify(&folder);
    let Some(results) = laboratory(&scenario(&folder), &[]) else {
        return;
    };
    let [linux, hold] = [0, 1].map(|run| &results["runs"][run]);
    assert!(queue(linux) > 200.0, "no bufferbloat to cure: {linux}");
    assert!(queue(hold) < 0.4 * queue(linux), "{hold}");
    assert!(carried(hold) > 0.8 * carried(linux), "{hold}");
}

#[test]
#[ignore = "one end of a download, which others start"]
fn quic() {
    let Ok(which) = env::var(END) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    match which.as_str() {
        "server" => runtime.block_on(serve()),
        _ => runtime.block_on(fetch()),
    }
}

/// As much as each connection takes.
async fn serve() {
    let key = PrivatePkcs8KeyDer::from(read("key"));
    let chain = vec![CertificateDer::from(read("certificate"))];
    let mut config = ServerConfig::with_single_cert(chain, key.into()).unwrap();
    let mut transport = TransportConfig::default();
    transport.send_window(64 << 20);
    config.transport_config(Arc::new(transport));
    let any = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), PORT);
    let endpoint = Endpoint::server(config, any).unwrap();
    while let Some(incoming) = endpoint.accept().await {
        let connection = incoming.await.unwrap();
        let mut stream = connection.open_uni().await.unwrap();
        let chunk = vec![0; 64 << 10];
        while stream.write_all(&chunk).await.is_ok() {}
    }
}

async fn fetch() {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from(read("certificate")))
        .unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    let mut transport = TransportConfig::default();
    // As browsers have it.
    transport.stream_receive_window(VarInt::from_u32(6 << 20));
    config.transport_config(Arc::new(transport));
    let server: IpAddr = env::var(SERVER).unwrap().parse().unwrap();
    let endpoint = Endpoint::client(SocketAddr::new([0, 0, 0, 0].into(), 0)).unwrap();
    let connecting = endpoint.connect_with(config, SocketAddr::new(server, PORT), NAME);
    let connection = connecting.unwrap().await.unwrap();
    let mut stream = connection.accept_uni().await.unwrap();
    while let Ok(Some(_)) = stream.read_chunk(1 << 20, true).await {}
}
