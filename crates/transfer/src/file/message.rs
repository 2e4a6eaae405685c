//! What the two ends say about a file: length (4 bytes, network order), then postcard.

use super::FileError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of a message at most.
const LONGEST: usize = 4096;

/// The sender's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromSender {
    /// A file.
    Offer { name: String, length: u64 },
    /// Its bytes follow, from that one on.
    Start { offset: u64 },
    /// They have followed, or are there already; BLAKE3 of the whole.
    End { hash: [u8; 32] },
}

/// The receiver's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromReceiver {
    /// What is there of an earlier try, and its BLAKE3.
    Have { length: u64, hash: [u8; 32] },
    /// The file is there as a whole, under its name.
    Received,
    /// It cannot be received.
    Failed(String),
    /// A file of this name and length is there as a whole; End says whether it is the same. Its BLAKE3
    /// is not told, for it may not have come from the sender.
    Exists,
}

/// Says something.
pub async fn say(
    out: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
) -> Result<(), FileError> {
    let bytes = postcard::to_stdvec(message).map_err(|_| FileError::Protocol("no message"))?;
    out.write_u32(bytes.len() as u32).await?;
    out.write_all(&bytes).await?;
    Ok(out.flush().await?)
}

/// Hears something.
pub async fn hear<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> Result<T, FileError> {
    match hear_or_end(from).await? {
        Some(message) => Ok(message),
        None => Err(FileError::Protocol("the end of the stream")),
    }
}

/// As [`hear`]; none: the stream has ended.
pub async fn hear_or_end<T: DeserializeOwned>(
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
