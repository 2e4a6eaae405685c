//! Self-made certificates.

use anyhow::Result;
use data_encoding::BASE64;
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::Arc;

/// One for each name, so that a browser does not use one host's connection for another.
#[derive(Debug)]
pub struct Certificates(HashMap<String, Arc<CertifiedKey>>);

impl Certificates {
    /// All with one key; and the hash of that key, for a browser's `--ignore-certificate-errors-spki-list`.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Result<(Self, String)> {
        let pair = KeyPair::generate()?;
        let key = PrivateKeyDer::try_from(pair.serialize_der()).map_err(anyhow::Error::msg)?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key)?;
        let mut certificates = HashMap::new();
        for name in names {
            let certificate = CertificateParams::new([name.to_owned()])?.self_signed(&pair)?;
            let chain = vec![certificate.der().clone()];
            let certified = CertifiedKey::new(chain, Arc::clone(&key));
            certificates.insert(name.to_owned(), Arc::new(certified));
        }
        let public = pair.subject_public_key_info();
        let hash = ring::digest::digest(&ring::digest::SHA256, &public);
        Ok((Self(certificates), BASE64.encode(hash.as_ref())))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello) -> Option<Arc<CertifiedKey>> {
        self.0.get(hello.server_name()?).cloned()
    }
}
