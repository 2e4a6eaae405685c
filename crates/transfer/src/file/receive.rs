//! The receiving end.

use super::message::{FromReceiver, FromSender, hear, hear_or_end, say};
use super::part::Part;
use super::{CHUNK, FileError, Progress, Transferred, name};
use crate::Connection;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What to receive, and where.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The folder that the files go into.
    pub folder: PathBuf,
    /// Whether files of the same name are replaced.
    pub force: bool,
}

/// Receives files until the sender has no more; `progress` is told how far each is.
///
/// # Errors
/// When a file cannot be received. Those before it have been.
pub async fn receive(
    connection: Connection,
    what: &Receive,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<Transferred>, FileError> {
    let (mut from, mut to) = tokio::io::split(connection);
    let mut received = Vec::new();
    let result = loop {
        match hear_or_end(&mut from).await {
            Ok(Some(FromSender::Offer { name, length })) => {
                let file = receive_one(&mut from, &mut to, what, name, length, &mut progress);
                match file.await {
                    Ok(file) => received.push(file),
                    Err(error) => break Err(error),
                }
            }
            Ok(Some(_)) => break Err(FileError::Protocol("no Offer")),
            Ok(None) => break Ok(received),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = &result {
        tell(&mut to, error).await;
    }
    // Waits until the sender has heard all of it; if it is gone there is nobody to wait for.
    let _ = to.shutdown().await;
    result
}

/// Tells the sender why, as far as it can be told.
async fn tell(to: &mut (impl AsyncWrite + Unpin), error: &FileError) {
    if !matches!(error, FileError::Connection(_)) {
        let _ = say(to, &FromReceiver::Failed(error.to_string())).await;
    }
}

async fn receive_one(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    what: &Receive,
    name: String,
    length: u64,
    progress: &mut impl FnMut(Progress),
) -> Result<Transferred, FileError> {
    name::check(&name).map_err(FileError::Refused)?;
    let path = what.folder.join(&name);
    refuse_existing(&path, what.force)?;
    let mut part = {
        let (folder, name) = (what.folder.clone(), name.clone());
        // It may take a while to hash what is there.
        blocking(move || Part::open(&folder, &name, length)).await?
    };
    let have = FromReceiver::Have {
        length: part.length(),
        hash: *part.hash().as_bytes(),
    };
    say(to, &have).await?;
    let FromSender::Start { offset: resumed } = hear(from).await? else {
        return Err(FileError::Protocol("no Start"));
    };
    part.start(resumed)?;
    fill(from, &mut part, &name, length, progress).await?;
    let FromSender::End { hash } = hear(from).await? else {
        return Err(FileError::Protocol("no End"));
    };
    let mine = part.hash();
    if mine != blake3::Hash::from_bytes(hash) {
        part.discard();
        return Err(FileError::Corrupt(name));
    }
    let force = what.force;
    blocking(move || part.finish(&path, force)).await?;
    say(to, &FromReceiver::Received).await?;
    Ok(Transferred {
        name,
        length,
        resumed,
        hash: mine.to_string(),
    })
}

async fn fill(
    from: &mut (impl AsyncRead + Unpin),
    part: &mut Part,
    name: &str,
    length: u64,
    progress: &mut impl FnMut(Progress),
) -> Result<(), FileError> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let done = part.length();
        progress(Progress { name, done, length });
        let most = usize::try_from(length - done).unwrap_or(CHUNK).min(CHUNK);
        if most == 0 {
            return Ok(());
        }
        let count = from.read(&mut buffer[..most]).await?;
        if count == 0 {
            return Err(FileError::Protocol("the end in the middle of a file"));
        }
        part.write(&buffer[..count])?;
    }
}

fn refuse_existing(path: &Path, force: bool) -> Result<(), FileError> {
    let occupied = path.symlink_metadata().is_ok();
    if !occupied || (force && path.is_file()) {
        return Ok(());
    }
    let (path, way) = (
        path.display(),
        match force {
            true => "and is no file",
            false => "there; the receiver's --force replaces it",
        },
    );
    Err(FileError::Refused(format!("{path} exists {way}")))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
