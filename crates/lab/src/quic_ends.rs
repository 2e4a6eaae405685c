//! QUIC endpoints (quinn) on hosts: a server with a certificate of its own, and clients that trust it.

use anyhow::Result;
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tidegate_linux::netns::Namespace;

/// The server's name in its certificate.
pub const NAME: &str = "server.example";

/// Configurations of a server with a new certificate, and of its clients.
///
/// # Errors
/// When the system has no random numbers.
pub fn identity() -> Result<(ServerConfig, ClientConfig)> {
    let (server, certificate) = certified()?;
    Ok((server, trusting(certificate)?))
}

/// A server's configuration, and its new certificate.
///
/// # Errors
/// When the system has no random numbers.
pub fn certified() -> Result<(ServerConfig, CertificateDer<'static>)> {
    let own = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let certificate = own.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    Ok((server, certificate))
}

/// The configuration of a client that trusts this certificate.
///
/// # Errors
/// When it is no certificate.
pub fn trusting(certificate: impl Into<CertificateDer<'static>>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.into())?;
    Ok(ClientConfig::with_root_certificates(Arc::new(roots))?)
}

/// An endpoint on a host, in the calling runtime.
///
/// # Errors
/// When the host has no such address, or the address is in use.
pub fn endpoint(
    host: &Namespace,
    at: SocketAddr,
    server: Option<ServerConfig>,
) -> Result<Endpoint> {
    let socket = host.run(|| Ok(UdpSocket::bind(at)?))?;
    let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
    Ok(Endpoint::new(config, server, socket, runtime)?)
}
