//! Ends of QUIC's (quinn) on hosts: a server, and clients that trust it.

use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tidegate_lab::Namespace;

/// The server's.
pub const NAME: &str = "server.example";

/// What the server is, with a certificate of its own, and what its clients are.
pub fn identity() -> (ServerConfig, ClientConfig) {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let certificate = own.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let server = ServerConfig::with_single_cert(vec![certificate], key.into()).unwrap();
    let client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    (server, client)
}

/// An end on a host, in the runtime that calls.
pub fn endpoint(host: &Namespace, at: SocketAddr, server: Option<ServerConfig>) -> Endpoint {
    let socket = host.run(|| Ok(UdpSocket::bind(at)?)).unwrap();
    let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
    Endpoint::new(config, server, socket, runtime).unwrap()
}
