//! Noise IK with the token's secret mixed into the first message: two packets, one round trip.

use super::{Cipher, Identity, Session};
use crate::Token;
use snow::{Builder, HandshakeState};
use tidegate_mpath::wire::{Hello, PROOF};

/// The message into which the secret is mixed: the first.
const SECRET_PLACE: u8 = 1;

/// The purpose of the key of [`proof`] (BLAKE3's key derivation).
const PROOF_CONTEXT: &str = "tidegate mpath 1 greeting";

/// Data that both ends must agree on besides the keys.
const PROLOGUE: &[u8] = b"tidegate mpath 1";

/// The most bytes of either message.
const MESSAGE: usize = 256;

/// A builder of handshakes.
pub fn noise<'a>(cipher: Cipher) -> Builder<'a> {
    Builder::new(cipher.pattern().parse().expect("a pattern of Noise's"))
}

fn prologue(id: &[u8; 16], connection: u64) -> Vec<u8> {
    [PROLOGUE, id, &connection.to_be_bytes()].concat()
}

/// Proves that the hello's sender holds the token. Checking it takes one hash, and a stranger's hello costs no more.
fn proof(secret: &[u8; 32], id: &[u8; 16], connection: u64, message: &[u8]) -> blake3::Hash {
    let key = blake3::derive_key(PROOF_CONTEXT, &[&secret[..], id].concat());
    let mut hash = blake3::Hasher::new_keyed(&key);
    hash.update(&connection.to_be_bytes()).update(message);
    hash.finalize()
}

/// The sender's side of a handshake that has begun.
pub struct Initiator {
    connection: u64,
    cipher: Cipher,
    state: HandshakeState,
    proof: [u8; PROOF],
    message: Vec<u8>,
}

impl Initiator {
    /// Begins a handshake.
    ///
    /// # Errors
    /// If the token's key is not valid.
    pub fn new(token: &Token, connection: u64) -> Result<Self, snow::Error> {
        let mine = noise(token.cipher).generate_keypair()?;
        let mut state = noise(token.cipher)
            .local_private_key(&mine.private)?
            .remote_public_key(&token.key)?
            .psk(SECRET_PLACE, &token.secret)?
            .prologue(&prologue(&token.id, connection))?
            .build_initiator()?;
        let mut message = vec![0; MESSAGE];
        let length = state.write_message(&[], &mut message)?;
        message.truncate(length);
        Ok(Self {
            connection,
            cipher: token.cipher,
            state,
            proof: *proof(&token.secret, &token.id, connection, &message).as_bytes(),
            message,
        })
    }

    /// The packet to be sent until there is an answer.
    pub fn hello(&self) -> Hello<'_> {
        Hello {
            connection: self.connection,
            proof: self.proof,
            message: &self.message,
        }
    }

    /// The answer arrives: returns the session, or `self` again if the answer is not valid.
    pub fn finish(mut self, message: &[u8]) -> Result<Session, Box<Self>> {
        // A forged answer does not change the state, so the true one can still be read.
        match self.state.read_message(message, &mut [0; MESSAGE]) {
            Ok(_) => {
                let keys = self.state.into_stateless_transport_mode();
                let keys = keys.expect("two messages");
                Ok(Session::new(self.connection, keys, self.cipher))
            }
            Err(_) => Err(Box::new(self)),
        }
    }
}

/// The receiver's side: returns a hello's session and the message that answers it; none if its sender does not hold the
/// token.
pub fn respond(identity: &Identity, hello: &Hello) -> Option<(Session, Vec<u8>)> {
    let Identity { secret, id, .. } = identity;
    let expected = proof(secret, id, hello.connection, hello.message);
    // Hashes are compared in constant time.
    if expected != blake3::Hash::from_bytes(hello.proof) {
        return None;
    }
    try_respond(identity, hello).ok()
}

fn try_respond(identity: &Identity, hello: &Hello) -> Result<(Session, Vec<u8>), snow::Error> {
    let mut state = noise(identity.cipher)
        .local_private_key(&identity.private)?
        .psk(SECRET_PLACE, &identity.secret)?
        .prologue(&prologue(&identity.id, hello.connection))?
        .build_responder()?;
    state.read_message(hello.message, &mut [0; MESSAGE])?;
    let mut message = vec![0; MESSAGE];
    let length = state.write_message(&[], &mut message)?;
    message.truncate(length);
    let keys = state.into_stateless_transport_mode()?;
    let session = Session::new(hello.connection, keys, identity.cipher);
    Ok((session, message))
}

#[cfg(test)]
mod tests;
