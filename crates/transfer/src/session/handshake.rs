//! Noise IK with the token's secret mixed into the first message: two packets, one round trip.

use super::{Cipher, Identity, Session};
use crate::Token;
use snow::{Builder, HandshakeState};
use tidegate_mpath::wire::{Hello, PROOF};

/// Where the secret goes in: the first message.
const SECRET_PLACE: u8 = 1;

/// What the key of [`proof`] is for (BLAKE3's derivation of keys).
const PROOF_CONTEXT: &str = "tidegate mpath 1 greeting";

/// What both ends must agree upon besides the keys.
const PROLOGUE: &[u8] = b"tidegate mpath 1";

/// Bytes of either message at most.
const MESSAGE: usize = 256;

/// A builder of handshakes.
pub fn noise<'a>(cipher: Cipher) -> Builder<'a> {
    Builder::new(cipher.pattern().parse().expect("a pattern of Noise's"))
}

fn prologue(id: &[u8; 16], connection: u64) -> Vec<u8> {
    [PROLOGUE, id, &connection.to_be_bytes()].concat()
}

/// Shows that the hello's sender holds the token. It costs a hash to check, and a stranger's
/// hello costs no more than that.
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
    /// Begins.
    ///
    /// # Errors
    /// When the token's key is none.
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

    /// The answer arrives; the session, or `self` again if it is none.
    pub fn finish(mut self, message: &[u8]) -> Result<Session, Box<Self>> {
        // What was read of a forged answer is taken back, so that the true one still finds its state.
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

/// The receiver's side: a hello's session and the message that answers it; none if its sender does
/// not hold the token.
pub fn respond(identity: &Identity, hello: &Hello) -> Option<(Session, Vec<u8>)> {
    let Identity { secret, id, .. } = identity;
    let expected = proof(secret, id, hello.connection, hello.message);
    // Hashes are compared in the same time whatever they are.
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
