//! The sending end.

use super::message::{FromReceiver, FromSender, hear, say};
use super::{CHUNK, FileError, Progress, Transferred, name};
use std::path::{Path, PathBuf};
use std::pin::pin;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Sends files, one after the other, and adds those that have arrived to `sent`; `progress` is told how
/// far each is.
///
/// # Errors
/// When a file cannot be read or received.
pub async fn send(
    connection: impl AsyncRead + AsyncWrite,
    files: &[PathBuf],
    sent: &mut Vec<Transferred>,
    mut progress: impl FnMut(Progress),
) -> Result<(), FileError> {
    let (mut from, mut to) = tokio::io::split(connection);
    for path in files {
        sent.push(send_one(&mut from, &mut to, path, &mut progress).await?);
    }
    Ok(to.shutdown().await?)
}

/// Refuses what cannot be sent; the name that it has for the receiver.
///
/// # Errors
/// When it is no regular file, or its name is not one that may come over the network.
pub fn check(path: &Path) -> Result<&str, FileError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        FileError::Refused(format!("{} has no name that can be sent", path.display()))
    })?;
    name::check(name).map_err(FileError::Refused)?;
    let about = std::fs::metadata(path).map_err(FileError::file("cannot open", path))?;
    // A pipe, for one, would be waited for.
    if !about.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(FileError::Refused(why));
    }
    Ok(name)
}

/// A file that is read and hashed.
struct Source<'a> {
    path: &'a Path,
    name: &'a str,
    file: File,
    length: u64,
    done: u64,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

async fn send_one(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    path: &Path,
    progress: &mut impl FnMut(Progress),
) -> Result<Transferred, FileError> {
    let mut source = Source::open(path).await?;
    let (name, length) = (source.name.to_owned(), source.length);
    say(to, &FromSender::Offer { name, length }).await?;
    let resumed = match hear(from).await? {
        FromReceiver::Have { length, hash } => {
            let offset = source.skip(length, &hash).await?;
            say(to, &FromSender::Start { offset }).await?;
            offset
        }
        FromReceiver::Exists => {
            source.hash_until(length).await?;
            length
        }
        FromReceiver::Failed(why) => return Err(FileError::receiver(&why)),
        FromReceiver::Received => return Err(FileError::Protocol("Received")),
    };
    // The receiver may fail at any time, and says so at once; otherwise it answers at the end.
    let mut answer = pin!(hear::<FromReceiver>(from));
    let early = tokio::select! {
        sent = source.pump(to, progress) => {
            sent?;
            None
        }
        answer = &mut answer => Some(answer?),
    };
    let answer = match early {
        Some(answer) => answer,
        None => answer.await?,
    };
    match answer {
        FromReceiver::Received if source.done == length => Ok(Transferred {
            name: source.name.to_owned(),
            length,
            resumed,
            hash: source.hasher.finalize().to_string(),
        }),
        FromReceiver::Failed(why) => Err(FileError::receiver(&why)),
        _ => Err(FileError::Protocol("Received or Have too early")),
    }
}

impl<'a> Source<'a> {
    async fn open(path: &'a Path) -> Result<Self, FileError> {
        let name = check(path)?;
        let file = File::open(path)
            .await
            .map_err(FileError::file("cannot open", path))?;
        let about = file.metadata().await;
        let about = about.map_err(FileError::file("cannot read", path))?;
        Ok(Self {
            path,
            name,
            file,
            length: about.len(),
            done: 0,
            hasher: blake3::Hasher::new(),
            buffer: vec![0; CHUNK],
        })
    }

    /// The next bytes, up to `until`, hashed; they are in the buffer.
    async fn read(&mut self, until: u64) -> Result<usize, FileError> {
        let most = usize::try_from(until - self.done).unwrap_or(CHUNK);
        let most = most.min(CHUNK);
        let count = self
            .file
            .read(&mut self.buffer[..most])
            .await
            .map_err(FileError::file("cannot read", self.path))?;
        if count == 0 && most > 0 {
            let why = format!("{} has become shorter", self.path.display());
            return Err(FileError::Refused(why));
        }
        self.hasher.update(&self.buffer[..count]);
        self.done += count as u64;
        Ok(count)
    }

    /// Goes to the end of what the receiver has, if that is how the file begins; to where it went.
    async fn skip(&mut self, length: u64, hash: &[u8; 32]) -> Result<u64, FileError> {
        if length > self.length {
            return Ok(0);
        }
        self.hash_until(length).await?;
        if self.hasher.finalize() != blake3::Hash::from_bytes(*hash) {
            *self = Self::open(self.path).await?;
        }
        Ok(self.done)
    }

    /// Reads and hashes up to there.
    async fn hash_until(&mut self, length: u64) -> Result<(), FileError> {
        while self.done < length {
            self.read(length).await?;
        }
        Ok(())
    }

    /// Sends what is left, and the hash of the whole.
    async fn pump(
        &mut self,
        to: &mut (impl AsyncWrite + Unpin),
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), FileError> {
        loop {
            progress(Progress {
                name: self.name,
                done: self.done,
                length: self.length,
            });
            let count = self.read(self.length).await?;
            if count == 0 {
                break;
            }
            to.write_all(&self.buffer[..count]).await?;
        }
        let hash = *self.hasher.finalize().as_bytes();
        say(to, &FromSender::End { hash }).await
    }
}
