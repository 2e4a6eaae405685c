//! Ends of QUIC's (quinn) on hosts: a server, and clients that trust it.

use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tidegate_lab::Namespace;

/// The server's.
pub const NAME: &str = "server.example";

/// What the server is, with a certificate of its own, and what its clients are.
pub fn identity() -> (ServerConfig, ClientConfig) {
    let (server, certificate) = certified();
    (server, trusting(certificate))
}

/// What a server is, and its certificate.
pub fn certified() -> (ServerConfig, CertificateDer<'static>) {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let certificate = own.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    (server, certificate)
}

/// What a client is that trusts the server with this certificate.
pub fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    ClientConfig::with_root_certificates(Arc::new(roots)).unwrap()
}

/// An end on a host, in the runtime that calls.
pub fn endpoint(host: &Namespace, at: SocketAddr, server: Option<ServerConfig>) -> Endpoint {
    let socket = host.run(|| Ok(UdpSocket::bind(at)?)).unwrap();
    let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
    Endpoint::new(config, server, socket, runtime).unwrap()
}
