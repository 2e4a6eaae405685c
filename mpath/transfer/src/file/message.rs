//! The messages about a file: length (4 bytes, network order), then postcard.

use super::FileError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of a message at most.
const LONGEST: usize = 4096;

/// The sender's message: a file. Its bytes follow, from where the receiver's part ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// Bytes of the whole.
    pub length: u64,
    /// BLAKE3 of the whole.
    pub hash: [u8; 32],
}

/// The receiver's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// This many bytes of this very file are there from an earlier try.
    Have { length: u64 },
    /// The file is there as a whole, under its name.
    Received,
    /// It cannot be received.
    Failed(String),
}

/// Sends a message.
pub async fn send_message(
    out: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> Result<(), FileError> {
    let bytes = postcard::to_stdvec(message).map_err(|_| FileError::Protocol("no message"))?;
    out.write_u32(bytes.len() as u32).await?;
    out.write_all(&bytes).await?;
    Ok(out.flush().await?)
}

/// Receives a message.
pub async fn receive_message<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> Result<T, FileError> {
    match receive_message_or_end(from).await? {
        Some(message) => Ok(message),
        None => Err(FileError::Protocol("the end of the stream")),
    }
}

/// As [`hear`]; none: the stream has ended.
pub async fn receive_message_or_end<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> Result<Option<T>, FileError> {
    let mut head = [0; 4];
    if from.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..]).await?;
    let length = u32::from_be_bytes(head) as usize;
    if length > LONGEST {
        return Err(FileError::Protocol("a message without end"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    let message = postcard::from_bytes(&bytes);
    message
        .map(Some)
        .map_err(|_| FileError::Protocol("no message"))
}
