//! QUIC endpoints (quinn) on hosts: a server, and clients that trust it.

use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tidegate_lab::Namespace;

/// The server's name.
pub const NAME: &str = "server.example";

/// Configurations of a server with a self-signed certificate, and of its clients.
pub fn identity() -> (ServerConfig, ClientConfig) {
    let (server, certificate) = certified();
    (server, trusting(certificate))
}

/// A server's configuration and its certificate.
pub fn certified() -> (ServerConfig, CertificateDer<'static>) {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let certificate = own.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    (server, certificate)
}

/// The configuration of a client that trusts this certificate.
pub fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    ClientConfig::with_root_certificates(Arc::new(roots)).unwrap()
}

/// An endpoint on a host, in the calling runtime.
pub fn endpoint(host: &Namespace, at: SocketAddr, server: Option<ServerConfig>) -> Endpoint {
    let socket = host.run(|| Ok(UdpSocket::bind(at)?)).unwrap();
    let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
    Endpoint::new(config, server, socket, runtime).unwrap()
}
