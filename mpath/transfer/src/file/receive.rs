//! The receiving end.

use super::message::{Answer, Offer, receive_message_or_end, send_message};
use super::part::Part;
use super::room::Room;
use super::{CHUNK, FileError, Progress, Transferred, blocking, name};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep};

/// What to receive, and where.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The folder for the files.
    pub folder: PathBuf,
    /// Whether files of the same name are replaced.
    pub force: bool,
    /// The largest file that is accepted, in bytes.
    pub max_size: u64,
    /// How long to wait for a file that another connection is receiving.
    pub patience: Duration,
    /// The room that senders have been promised; shared by clones.
    pub room: Room,
}

impl Receive {
    /// Receives into `folder` whatever fits, without replacing anything, and without waiting for other connections.
    pub fn into(folder: PathBuf) -> Self {
        Self {
            folder,
            force: false,
            max_size: u64::MAX,
            patience: Duration::ZERO,
            room: Room::default(),
        }
    }
}

/// How often to check whether another connection still receives the file.
const RETRY: Duration = Duration::from_millis(200);

/// Receives files until the sender has no more; calls `received` for each complete file, perhaps without end, and
/// `progress` with the progress of each.
///
/// # Errors
/// When a file cannot be received.
pub async fn receive(
    connection: impl AsyncRead + AsyncWrite,
    what: &Receive,
    mut received: impl FnMut(Transferred),
    mut progress: impl FnMut(Progress),
) -> Result<(), FileError> {
    let (mut from, mut to) = tokio::io::split(connection);
    let result = loop {
        match receive_message_or_end(&mut from).await {
            Ok(Some(offer)) => {
                match receive_one(&mut from, &mut to, what, offer, &mut progress).await {
                    Ok(file) => received(file),
                    Err(error) => break Err(error),
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if let Err(error) = &result {
        send_failure(&mut to, error).await;
    }
    // Waits until the sender has received the error; if it is gone, this returns.
    let _ = to.shutdown().await;
    result
}

/// Tells the sender the error, if possible.
async fn send_failure(to: &mut (impl AsyncWrite + Unpin), error: &FileError) {
    if !matches!(error, FileError::Connection(_)) {
        let _ = send_message(to, &Answer::Failed(error.told())).await;
    }
}

async fn receive_one(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    what: &Receive,
    offer: Offer,
    progress: &mut impl FnMut(Progress),
) -> Result<Transferred, FileError> {
    let (name, length) = (offer.name, offer.length);
    let hash = blake3::Hash::from_bytes(offer.hash);
    name::check(&name).map_err(FileError::Refused)?;
    if length > what.max_size {
        let most = what.max_size;
        let why = format!("{name}: {length} bytes, and the receiver takes files up to {most}");
        return Err(FileError::Refused(why));
    }
    let path = what.folder.join(&name);
    let resumed = match open_part(what, &name, &path, length, &hash).await? {
        None => {
            confirm(&name, &path, &hash).await?;
            length
        }
        Some(mut part) => {
            let resumed = resume(&mut part, length, &hash)?;
            let missing = length - resumed;
            let mut promise = match what.room.promise(&what.folder, &name, missing) {
                Ok(promise) => promise,
                Err(error) => {
                    if resumed == 0 {
                        part.discard();
                    }
                    return Err(error);
                }
            };
            send_message(to, &Answer::Have { length: resumed }).await?;
            let told = |done| {
                progress(Progress {
                    name: &name,
                    done,
                    length,
                })
            };
            fill(from, &mut part, length, |bytes| promise.keep(bytes), told).await?;
            if part.hash() != hash {
                part.discard();
                return Err(FileError::Corrupt(name));
            }
            let force = what.force;
            blocking(move || part.finish(&path, force)).await?;
            resumed
        }
    };
    send_message(to, &Answer::Received).await?;
    Ok(Transferred {
        name,
        length,
        resumed,
        hash: hash.to_string(),
    })
}

/// The offset from which to continue the file. The part's writer had the file's hash; but the disk, or a sender whose
/// file changed, may have put other contents into it.
fn resume(part: &mut Part, length: u64, hash: &blake3::Hash) -> Result<u64, FileError> {
    let there = part.length();
    if there > length || (there == length && part.hash() != *hash) {
        part.clear()?;
    }
    Ok(part.length())
}

/// Opens the part; none if a file of this name and length exists already. A sender that has vanished is noticed only
/// after a while, and keeps the part until then.
async fn open_part(
    what: &Receive,
    name: &str,
    path: &Path,
    length: u64,
    hash: &blake3::Hash,
) -> Result<Option<Part>, FileError> {
    let until = Instant::now() + what.patience;
    loop {
        if !what.force && is_file_of(path, length) {
            return Ok(None);
        }
        refuse_existing(name, path, what.force)?;
        let (folder, of_part, hash) = (what.folder.clone(), name.to_owned(), *hash);
        // Hashing the part may take a while.
        let part = blocking(move || Part::open(&folder, &of_part, &hash)).await?;
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

/// A sender that sends several files again also offers those that have arrived. The sender is not told the hash of an
/// existing file, since that file may not be its own.
async fn confirm(name: &str, path: &Path, hash: &blake3::Hash) -> Result<(), FileError> {
    let there = path.to_owned();
    let mine = blocking(move || {
        let mut hasher = blake3::Hasher::new();
        let read = File::open(&there).and_then(|file| hasher.update_reader(file).map(|_| ()));
        read.map_err(FileError::file("cannot read", &there))?;
        Ok(hasher.finalize())
    });
    match mine.await? == *hash {
        true => Ok(()),
        false => refuse_existing(name, path, false),
    }
}

async fn fill(
    from: &mut (impl AsyncRead + Unpin),
    part: &mut Part,
    length: u64,
    mut written: impl FnMut(u64),
    mut progress: impl FnMut(u64),
) -> Result<(), FileError> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let done = part.length();
        progress(done);
        let most = usize::try_from(length - done).unwrap_or(CHUNK).min(CHUNK);
        if most == 0 {
            return Ok(());
        }
        let count = from.read(&mut buffer[..most]).await?;
        if count == 0 {
            return Err(FileError::Protocol("the end in the middle of a file"));
        }
        part.write(&buffer[..count])?;
        written(count as u64);
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
