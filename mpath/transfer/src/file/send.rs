//! The sending end.

use super::message::{Answer, Offer, receive_message, send_message};
use super::{CHUNK, FileError, Progress, Transferred, blocking, name};
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::pin;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

/// Sends files, one after the other, and adds those that have arrived to `sent`; calls `progress` with the progress of
/// each.
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

/// Refuses a file that cannot be sent; returns its name at the receiver.
///
/// # Errors
/// If it is not a regular file, or its name must not be sent.
pub fn check(path: &Path) -> Result<&str, FileError> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        FileError::Refused(format!("{} has no name that can be sent", path.display()))
    })?;
    name::check(name).map_err(FileError::Refused)?;
    let about = std::fs::metadata(path).map_err(FileError::file("cannot open", path))?;
    // A pipe, for example, might never give any data.
    if !about.is_file() {
        let why = format!("{} is not a regular file", path.display());
        return Err(FileError::Refused(why));
    }
    Ok(name)
}

/// A file that has been hashed, and is read from some offset on.
struct Source<'a> {
    path: &'a Path,
    name: &'a str,
    file: File,
    length: u64,
    hash: blake3::Hash,
    done: u64,
}

async fn send_one(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    path: &Path,
    progress: &mut impl FnMut(Progress),
) -> Result<Transferred, FileError> {
    let mut source = Source::open(path).await?;
    send_message(to, &source.offer()).await?;
    let resumed = match receive_message(from).await? {
        Answer::Have { length } => {
            source.skip(length).await?;
            length
        }
        Answer::Received => return Ok(source.transferred(source.length)),
        Answer::Failed(why) => return Err(FileError::receiver(&why)),
    };
    // The receiver may report a failure at any time; otherwise it answers at the end.
    let mut answer = pin!(receive_message::<Answer>(from));
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
        Answer::Received if source.done == source.length => Ok(source.transferred(resumed)),
        Answer::Failed(why) => Err(FileError::receiver(&why)),
        _ => Err(FileError::Protocol("Received or Have too early")),
    }
}

impl<'a> Source<'a> {
    /// Reads the file once, for its hash.
    async fn open(path: &'a Path) -> Result<Self, FileError> {
        let name = check(path)?;
        let read = path.to_owned();
        let hashed = blocking(move || hash(&read).map_err(FileError::file("cannot read", &read)));
        let (file, length, hash) = hashed.await?;
        Ok(Self {
            path,
            name,
            file: File::from_std(file),
            length,
            hash,
            done: 0,
        })
    }

    fn offer(&self) -> Offer {
        Offer {
            name: self.name.to_owned(),
            length: self.length,
            hash: *self.hash.as_bytes(),
        }
    }

    fn transferred(&self, resumed: u64) -> Transferred {
        Transferred {
            name: self.name.to_owned(),
            length: self.length,
            resumed,
            hash: self.hash.to_string(),
        }
    }

    /// Skips the bytes that the receiver has.
    async fn skip(&mut self, length: u64) -> Result<(), FileError> {
        if length > self.length {
            return Err(FileError::Protocol("Have of more than was offered"));
        }
        self.done = length;
        let sought = self.file.seek(SeekFrom::Start(length)).await;
        sought.map_err(FileError::file("cannot read", self.path))?;
        Ok(())
    }

    /// Sends the rest.
    async fn pump(
        &mut self,
        to: &mut (impl AsyncWrite + Unpin),
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), FileError> {
        let mut buffer = vec![0; CHUNK];
        loop {
            progress(Progress {
                name: self.name,
                done: self.done,
                length: self.length,
            });
            let left = self.length - self.done;
            if left == 0 {
                return Ok(to.flush().await?);
            }
            let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let read = self.file.read(&mut buffer[..most]).await;
            let count = read.map_err(FileError::file("cannot read", self.path))?;
            if count == 0 {
                let why = format!("{} has become shorter", self.path.display());
                return Err(FileError::Refused(why));
            }
            to.write_all(&buffer[..count]).await?;
            self.done += count as u64;
        }
    }
}

/// The file, its length, and BLAKE3 of it.
fn hash(path: &Path) -> io::Result<(std::fs::File, u64, blake3::Hash)> {
    let file = std::fs::File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(&file)?;
    Ok((file, hasher.count(), hasher.finalize()))
}
