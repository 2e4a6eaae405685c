//! Files from folder to folder: continued at either end, never half a file under its name, nothing outside the folder,
//! nothing overwritten unasked.

mod common;

use common::{Faults, Middle, client, connect, server, until, within};
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tidegate_testing::is_root;
use tidegate_transfer::Config;
use tidegate_transfer::file::{FileError, Receive, Transferred, receive, send};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A folder to send from and one to receive into.
struct Folders {
    root: TempDir,
}

impl Folders {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("from")).unwrap();
        fs::create_dir(root.path().join("to")).unwrap();
        Self { root }
    }

    fn from(&self, name: &str) -> PathBuf {
        self.root.path().join("from").join(name)
    }

    fn to(&self, name: &str) -> PathBuf {
        self.root.path().join("to").join(name)
    }

    fn make(&self, name: &str, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        let mut hash = blake3::Hasher::new();
        hash.update(name.as_bytes())
            .finalize_xof()
            .fill(&mut content);
        fs::write(self.from(name), &content).unwrap();
        content
    }

    /// All names in the receiver's folder.
    fn received(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join("to")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The name of an incomplete file at the receiver.
    fn part(&self, name: &str) -> String {
        let hash = blake3::hash(&fs::read(self.from(name)).unwrap()).to_hex();
        format!(".{name}.{}.part", &hash[..16])
    }

    fn receive(&self, force: bool) -> Receive {
        Receive {
            force,
            patience: Duration::from_secs(10),
            ..Receive::into(self.root.path().join("to"))
        }
    }
}

/// As an offer is on the wire: postcard.
fn offer(name: &str, length: u64, hash: &[u8; 32]) -> Vec<u8> {
    let body = postcard::to_stdvec(&(name, length, hash)).unwrap();
    [&(body.len() as u32).to_be_bytes()[..], &body].concat()
}

type Outcome = Result<Vec<Transferred>, FileError>;

/// Sends files to a folder, over a connection of its own.
async fn transfer(files: &[PathBuf], what: &Receive) -> (Outcome, Outcome) {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let to = server.endpoint.local_address();
    let (near, far) = connect(&client, &server, to, None).await;
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let both = async {
        tokio::join!(
            send(near, files, &mut sent, |_| {}),
            receive(far, what, |file| received.push(file), |_| {})
        )
    };
    let (sending, receiving) = within(30, both).await;
    (sending.map(|()| sent), receiving.map(|()| received))
}

#[tokio::test]
async fn files_arrive_whole_one_after_the_other() {
    let folders = Folders::new();
    let all = [("large", 3_000_000), ("small", 5), ("empty", 0)];
    let contents = all.map(|(name, bytes)| folders.make(name, bytes));
    let files = all.map(|(name, _)| folders.from(name));
    let (sent, received) = transfer(&files, &folders.receive(false)).await;
    let received = received.unwrap();
    assert_eq!(sent.unwrap(), received);
    for (file, content) in received.iter().zip(&contents) {
        assert!(&fs::read(folders.to(&file.name)).unwrap() == content);
        assert_eq!(file.hash, blake3::hash(content).to_string());
    }
    assert_eq!(folders.received(), ["empty", "large", "small"]);
}

/// How a transfer ends in the middle.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Sender,
    Receiver,
    Network,
}

/// A transfer that ends in the middle leaves no file under its name, and the next one continues it.
async fn interrupted(end: End) {
    const BYTES: usize = 4_000_000;
    let folders = Folders::new();
    let content = folders.make("large", BYTES);
    let files = [folders.from("large")];
    let config = Config {
        idle_timeout: Duration::from_secs(1),
        ..Config::default()
    };
    let (server, client) = (server(config), client(config));
    // Slow, so that it can be interrupted.
    let slow = Faults {
        delay: Duration::from_millis(20),
        ..Faults::default()
    };
    let middle = Middle::start(1, server.endpoint.local_address(), slow).await;
    let (near, far) = connect(&client, &server, middle.address, None).await;
    let what = folders.receive(false);
    let receiving = tokio::spawn(async move { receive(far, &what, |_| {}, |_| {}).await });
    let sending = {
        let files = files.clone();
        tokio::spawn(async move { send(near, &files, &mut Vec::new(), |_| {}).await })
    };
    let part = folders.to(&folders.part("large"));
    let there = || fs::metadata(&part).map_or(0, |data| data.len());
    until(10, || there() > 100_000).await;
    match end {
        End::Sender => sending.abort(),
        End::Receiver => receiving.abort(),
        End::Network => drop(middle),
    }
    // Each end notices it and reports an error; an aborted end reports nothing.
    let sending = within(10, sending).await;
    let receiving = within(10, receiving).await;
    assert_eq!(sending.is_err(), end == End::Sender);
    assert_eq!(receiving.is_err(), end == End::Receiver);
    for error in [
        sending.ok().map(Result::unwrap_err),
        receiving.ok().map(Result::unwrap_err),
    ] {
        let is_expected = |e: &FileError| e.to_string().contains("goes on");
        assert!(error.is_none_or(|e| is_expected(&e)));
    }
    assert_eq!(folders.received(), [folders.part("large")]);
    // A user who could open a part could lock it, and keep the file from ever arriving.
    assert_eq!(mode(&part), 0o600);
    let before = there();
    assert!(before > 100_000 && before < BYTES as u64);
    let (sent, _) = transfer(&files, &folders.receive(false)).await;
    assert_eq!(sent.unwrap()[0].resumed, before);
    assert!(fs::read(folders.to("large")).unwrap() == content);
    assert_eq!(folders.received(), ["large"]);
    fs::write(folders.to("ordinary"), "").unwrap();
    assert_eq!(mode(&folders.to("large")), mode(&folders.to("ordinary")));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[tokio::test]
async fn a_sender_that_ends_can_go_on() {
    interrupted(End::Sender).await;
}

#[tokio::test]
async fn a_receiver_that_ends_can_go_on() {
    interrupted(End::Receiver).await;
}

#[tokio::test]
async fn a_network_that_ends_can_go_on() {
    interrupted(End::Network).await;
}

/// A part of another file with the same name is left alone; a part that the disk has corrupted is removed.
#[tokio::test]
async fn another_beginning_is_not_gone_on_with() {
    let folders = Folders::new();
    let content = folders.make("file", 500_000);
    let files = [folders.from("file")];
    let others = folders.to(".file.0123456789abcdef.part");
    fs::write(&others, "of another").unwrap();
    for (there, spoils) in [(100_000, true), (500_000, false), (900_000, false)] {
        fs::write(folders.to(&folders.part("file")), vec![1; there]).unwrap();
        let (sent, _) = transfer(&files, &folders.receive(true)).await;
        if spoils {
            let error = sent.unwrap_err().to_string();
            assert!(error.contains("checksum"), "{error}");
            transfer(&files, &folders.receive(true)).await.0.unwrap();
        } else {
            assert_eq!(sent.unwrap()[0].resumed, 0);
        }
        assert!(fs::read(folders.to("file")).unwrap() == content);
    }
    assert_eq!(fs::read(others).unwrap(), b"of another");
}

/// What a sender with a token is told when it offers a file under the name of another sender's incomplete file.
#[tokio::test]
async fn a_part_is_nobodys_but_whose_file_it_is() {
    let folders = Folders::new();
    folders.make("file", 500_000);
    let part = folders.to(&folders.part("file"));
    fs::write(&part, vec![7; 1000]).unwrap();
    for length in [1, 42, 1000, 500_000] {
        let (server, client) = (server(Config::default()), client(Config::default()));
        let to = server.endpoint.local_address();
        let (mut near, far) = connect(&client, &server, to, None).await;
        let what = folders.receive(false);
        let receiving = tokio::spawn(async move { receive(far, &what, |_| {}, |_| {}).await });
        near.write_all(&offer("file", length, &[9; 32]))
            .await
            .unwrap();
        // Four bytes of length, the kind of answer, and how much of the file is there.
        let mut answer = [0; 6];
        within(5, near.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, [0, 0, 0, 2, 0, 0], "nothing is there");
        near.write_all(b"x").await.unwrap();
        drop(near);
        let _ = within(40, receiving).await.unwrap();
        assert!(fs::read(&part).unwrap() == [7; 1000]);
    }
}

/// A user who can write into the folder cannot make the receiver write elsewhere.
#[tokio::test]
async fn a_part_that_has_another_name_or_owner_is_refused() {
    let folders = Folders::new();
    folders.make("file", 1000);
    let (part, elsewhere) = (folders.to(&folders.part("file")), folders.from("elsewhere"));
    let files = [folders.from("file")];
    fs::write(&elsewhere, "mine").unwrap();
    fs::hard_link(&elsewhere, &part).unwrap();
    let (sent, _) = transfer(&files, &folders.receive(true)).await;
    let error = sent.unwrap_err().to_string();
    assert!(error.contains("another name"), "{error}");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
    if is_root() {
        fs::remove_file(&elsewhere).unwrap();
        std::os::unix::fs::chown(&part, Some(65534), None).unwrap();
        let (sent, _) = transfer(&files, &folders.receive(true)).await;
        let error = sent.unwrap_err().to_string();
        assert!(error.contains("somebody else"), "{error}");
        assert_eq!(fs::read(&part).unwrap(), b"mine");
    }
}

/// An announced length reserves no space, and a file that would fill the disk is refused.
#[tokio::test]
async fn what_there_is_no_room_for_is_refused() {
    let folders = Folders::new();
    let about = nix::sys::statvfs::statvfs(folders.root.path()).unwrap();
    let bytes_of = |blocks: u64| blocks * about.fragment_size();
    // A twentieth of the file system stays free, at most 1 GiB; other programs write to it meanwhile.
    let kept = (bytes_of(about.blocks()) / 20).min(1 << 30);
    let room = bytes_of(about.blocks_available()) - kept;
    let nearly_all = room / 100 * 60;
    let what = Receive {
        max_size: u64::MAX / 2,
        ..folders.receive(false)
    };
    let (server, client) = (server(Config::default()), client(Config::default()));
    let to = server.endpoint.local_address();
    let mut held = Vec::new();
    for (n, (length, words)) in [
        (u64::MAX, "takes files up to"),
        (u64::MAX / 2, "no room"),
        (nearly_all, ""),
        // Beside the promise before.
        (nearly_all, "no room"),
    ]
    .into_iter()
    .enumerate()
    {
        let (mut near, far) = connect(&client, &server, to, None).await;
        let what = what.clone();
        held.push(tokio::spawn(async move {
            receive(far, &what, |_| {}, |_| {}).await
        }));
        near.write_all(&offer(&format!("file{n}"), length, &[9; 32]))
            .await
            .unwrap();
        let mut answer = vec![0; 6];
        within(5, near.read_exact(&mut answer)).await.unwrap();
        if words.is_empty() {
            assert_eq!(answer, [0, 0, 0, 2, 0, 0]);
            held.push(tokio::spawn(async move {
                let _still_there = near;
                std::future::pending().await
            }));
            continue;
        }
        within(5, near.read_to_end(&mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.contains(words), "{answer}");
    }
}

#[tokio::test]
async fn nothing_is_overwritten_unasked() {
    let folders = Folders::new();
    folders.make("file", 1000);
    fs::write(folders.to("file"), "mine").unwrap();
    let files = [folders.from("file")];
    let (sent, received) = transfer(&files, &folders.receive(false)).await;
    for error in [sent.unwrap_err(), received.unwrap_err()] {
        assert!(error.to_string().contains("--force"), "{error}");
    }
    assert_eq!(fs::read(folders.to("file")).unwrap(), b"mine");
    transfer(&files, &folders.receive(true)).await.0.unwrap();
    assert_eq!(fs::read(folders.to("file")).unwrap().len(), 1000);
    // A folder is never replaced.
    fs::remove_file(folders.to("file")).unwrap();
    fs::create_dir(folders.to("file")).unwrap();
    transfer(&files, &folders.receive(true))
        .await
        .0
        .unwrap_err();
    assert!(folders.to("file").is_dir());
}

/// If one of several files failed, all are sent again.
#[tokio::test]
async fn what_has_arrived_is_no_obstacle() {
    let folders = Folders::new();
    for name in ["one", "two"] {
        folders.make(name, 300_000);
    }
    let files = ["one", "two"].map(|name| folders.from(name));
    transfer(&files[..1], &folders.receive(false))
        .await
        .0
        .unwrap();
    let (sent, received) = transfer(&files, &folders.receive(false)).await;
    let resumed: Vec<u64> = sent.unwrap().iter().map(|file| file.resumed).collect();
    assert_eq!(resumed, [300_000, 0]);
    assert_eq!(received.unwrap().len(), 2);
    // A different file of the same name and length is an obstacle.
    fs::write(folders.to("one"), vec![1; 300_000]).unwrap();
    let (sent, _) = transfer(&files, &folders.receive(false)).await;
    assert!(sent.unwrap_err().to_string().contains("--force"));
    assert!(fs::read(folders.to("one")).unwrap() == vec![1; 300_000]);
}

/// A sender that is killed holds its file until its silence has been noticed: a restarted sender waits for that.
#[tokio::test]
async fn a_file_that_another_connection_has_is_waited_for() {
    let folders = Folders::new();
    folders.make("file", 1000);
    let held = fs::File::create(folders.to(&folders.part("file"))).unwrap();
    let held = Flock::lock(held, FlockArg::LockExclusive).unwrap();
    let impatient = Receive {
        patience: Duration::ZERO,
        ..folders.receive(false)
    };
    let files = [folders.from("file")];
    let (sent, _) = transfer(&files, &impatient).await;
    assert!(sent.unwrap_err().to_string().contains("another connection"));
    let release = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(held);
    };
    let patient = folders.receive(false);
    let ((sent, _), ()) = tokio::join!(transfer(&files, &patient), release);
    sent.unwrap();
    assert_eq!(folders.received(), ["file"]);
}

/// Reading from a pipe would never end.
#[tokio::test]
async fn a_part_that_is_no_file_is_refused() {
    let folders = Folders::new();
    folders.make("file", 1000);
    mkfifo(&folders.to(&folders.part("file")), Mode::S_IRWXU).unwrap();
    let (sent, _) = transfer(&[folders.from("file")], &folders.receive(false)).await;
    assert!(sent.unwrap_err().to_string().contains("regular file"));
}

/// Whatever a sender says, no file appears outside the folder.
#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    for name in ["../escaped", "/tmp/escaped", "..", "a/b", "", "a\nb"] {
        let folders = Folders::new();
        let (server, client) = (server(Config::default()), client(Config::default()));
        let to = server.endpoint.local_address();
        let (mut near, far) = connect(&client, &server, to, None).await;
        let what = folders.receive(true);
        let receiving = tokio::spawn(async move { receive(far, &what, |_| {}, |_| {}).await });
        near.write_all(&offer(name, 5, &[9; 32])).await.unwrap();
        let mut answer = Vec::new();
        within(5, near.read_to_end(&mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.contains("plain file name") || answer.contains("control"),
            "{answer}"
        );
        drop(near);
        within(5, receiving).await.unwrap().unwrap_err();
        assert_eq!(folders.received(), [""; 0]);
        assert!(!folders.root.path().join("escaped").exists());
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_here() {
    let folders = Folders::new();
    let missing = [folders.from("missing")];
    let (sent, _) = transfer(&missing, &folders.receive(false)).await;
    assert!(sent.unwrap_err().to_string().contains("missing"));
    let folder = [folders.root.path().join("from")];
    let (sent, _) = transfer(&folder, &folders.receive(false)).await;
    assert!(sent.unwrap_err().to_string().contains("regular file"));
    assert_eq!(folders.received(), [""; 0]);
}

/// A small file system of its own; none without root.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    /// A file system of a megabyte.
    fn mount(at: &'a Path) -> Option<Self> {
        Self::of("size=1m", at)
    }

    fn of(size: &str, at: &'a Path) -> Option<Self> {
        if !is_root() {
            return None;
        }
        let size = Some(size);
        mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::empty(), size).unwrap();
        Some(Self(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = umount2(self.0, MntFlags::MNT_DETACH);
    }
}

#[tokio::test]
async fn a_full_disk_is_named_at_both_ends_before_anything_is_sent() {
    let folders = Folders::new();
    let to = folders.root.path().join("to");
    let Some(_mounted) = Small::mount(&to) else {
        return;
    };
    folders.make("large", 3_000_000);
    let (sent, received) = transfer(&[folders.from("large")], &folders.receive(false)).await;
    for error in [sent.unwrap_err(), received.unwrap_err()] {
        assert!(error.to_string().contains("no room"), "{error}");
    }
    assert_eq!(folders.received(), [""; 0]);
}

/// Files without content take no bytes, but an inode each.
#[tokio::test]
async fn empty_files_do_not_take_all_that_there_is_room_for() {
    let folders = Folders::new();
    let to = folders.root.path().join("to");
    let Some(_mounted) = Small::of("size=1m,nr_inodes=100", &to) else {
        return;
    };
    let names: Vec<_> = (0..200).map(|n| format!("empty-{n}")).collect();
    names.iter().for_each(|name| drop(folders.make(name, 0)));
    let files: Vec<_> = names.iter().map(|name| folders.from(name)).collect();
    let (sent, received) = transfer(&files, &folders.receive(false)).await;
    for error in [sent.unwrap_err(), received.unwrap_err()] {
        assert!(error.to_string().contains("no room"), "{error}");
    }
    let left = nix::sys::statvfs::statvfs(&to).unwrap().files_available();
    assert!((4..10).contains(&left), "{left}");
}

#[tokio::test]
async fn a_disk_that_others_fill_is_named_at_both_ends() {
    let folders = Folders::new();
    let to = folders.root.path().join("to");
    let Some(_mounted) = Small::mount(&to) else {
        return;
    };
    folders.make("file", 900_000);
    let (server, client) = (server(Config::default()), client(Config::default()));
    let address = server.endpoint.local_address();
    let (near, far) = connect(&client, &server, address, None).await;
    let (files, what) = ([folders.from("file")], folders.receive(false));
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    // Fills the room that there was when the file began.
    let fill = |_: tidegate_transfer::file::Progress| {
        let _ = fs::write(to.join("else"), vec![0; 1 << 20]);
    };
    let both = async {
        tokio::join!(
            send(near, &files, &mut sent, |_| {}),
            receive(far, &what, |file| received.push(file), fill)
        )
    };
    let (sending, receiving) = within(30, both).await;
    for error in [sending.unwrap_err(), receiving.unwrap_err()] {
        assert!(error.to_string().contains("No space left"), "{error}");
    }
    assert_eq!(folders.received(), [folders.part("file"), "else".into()]);
}
