//! The receiving end.

use super::message::{FromReceiver, FromSender, hear, hear_or_end, say};
use super::part::Part;
use super::{CHUNK, FileError, Progress, Transferred, name};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep};

/// What to receive, and where.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The folder that the files go into.
    pub folder: PathBuf,
    /// Whether files of the same name are replaced.
    pub force: bool,
    /// How long to wait for a file that another connection is receiving.
    pub patience: Duration,
}

/// How often to look whether it still is.
const RETRY: Duration = Duration::from_millis(200);

/// Receives files until the sender has no more, and adds those that are there to `received`; `progress` is
/// told how far each is.
///
/// # Errors
/// When a file cannot be received.
pub async fn receive(
    connection: impl AsyncRead + AsyncWrite,
    what: &Receive,
    received: &mut Vec<Transferred>,
    mut progress: impl FnMut(Progress),
) -> Result<(), FileError> {
    let (mut from, mut to) = tokio::io::split(connection);
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
            Ok(None) => break Ok(()),
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
        let _ = say(to, &FromReceiver::Failed(error.told())).await;
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
    let Some(mut part) = open_part(what, &name, &path, length).await? else {
        return confirm(from, to, name, path, length).await;
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

/// Opens the part; none if a file of this name and length is there already. A sender that has vanished is
/// noticed after a while only, and the part is its until then.
async fn open_part(
    what: &Receive,
    name: &str,
    path: &Path,
    length: u64,
) -> Result<Option<Part>, FileError> {
    let until = Instant::now() + what.patience;
    loop {
        if !what.force && is_file_of(path, length) {
            return Ok(None);
        }
        refuse_existing(name, path, what.force)?;
        let (folder, of_part) = (what.folder.clone(), name.to_owned());
        // It may take a while to hash what is there.
        let part = blocking(move || Part::open(&folder, &of_part, length)).await?;
        if part.is_some() {
            return Ok(part);
        }
        if Instant::now() >= until {
            let why = "is being received over another connection";
            return Err(FileError::Refused(format!("{name} {why}")));
        }
        sleep(RETRY).await;
    }
}

fn is_file_of(path: &Path, length: u64) -> bool {
    let about = path.symlink_metadata();
    about.is_ok_and(|about| about.is_file() && about.len() == length)
}

/// Whoever sends several files again sends those again, too, that have arrived.
async fn confirm(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    name: String,
    path: PathBuf,
    length: u64,
) -> Result<Transferred, FileError> {
    say(to, &FromReceiver::Exists).await?;
    let FromSender::End { hash } = hear(from).await? else {
        return Err(FileError::Protocol("no End"));
    };
    let there = path.clone();
    let mine = blocking(move || {
        let mut hasher = blake3::Hasher::new();
        let read = File::open(&there).and_then(|file| hasher.update_reader(file).map(|_| ()));
        read.map_err(FileError::file("cannot read", &there))?;
        Ok(hasher.finalize())
    });
    let mine = mine.await?;
    if mine != blake3::Hash::from_bytes(hash) {
        refuse_existing(&name, &path, false)?;
    }
    say(to, &FromReceiver::Received).await?;
    Ok(Transferred {
        name,
        length,
        resumed: length,
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

fn refuse_existing(name: &str, path: &Path, force: bool) -> Result<(), FileError> {
    let occupied = path.symlink_metadata().is_ok();
    if !occupied || (force && path.is_file()) {
        return Ok(());
    }
    let why = match force {
        true => "is there and is no file",
        false => "is there already; the receiver's --force replaces it",
    };
    Err(FileError::Refused(format!("{name} {why}")))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
