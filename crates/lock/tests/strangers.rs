//! What other users can do to a lock. To act as another user needs root; without it a test says that it is skipped.

use std::fs::{self, File, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_lock::{Lock, Taken};
use tidegate_testing::{Stranger, is_root};

const NAME: &str = "agent.lock";

/// A folder that every user may list.
struct Place(TempDir);

impl Place {
    fn new(mode: u32) -> Self {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.path().join(NAME)
    }

    fn folder(&self) -> OwnedFd {
        File::open(self.0.path()).unwrap().into()
    }

    fn take(&self) -> Lock {
        match Lock::take(self.folder(), NAME).unwrap() {
            Taken::Lock(lock) => lock,
            other => panic!("{other:?}"),
        }
    }

    fn holder(&self) -> Option<i32> {
        Lock::holder(&self.folder(), NAME).unwrap()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn whoever_may_not_write_to_the_folder_can_hold_no_lock_there() {
    if !is_root() {
        return;
    }
    let place = Place::new(0o755);
    let lock = place.take();
    assert_eq!(mode(&place.file()), 0o600);
    drop(lock);
    // As after a crash: the file exists, and no process holds it.
    let refused = Stranger::locks(&place.file()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    drop(place.take());
}

/// An older version's lock file could be read: a stranger who has it open keeps nobody out, and is not named as holder.
#[test]
fn a_strangers_lock_from_when_the_file_could_be_read_is_nobodys() {
    if !is_root() {
        return;
    }
    let place = Place::new(0o755);
    fs::write(place.file(), "").unwrap();
    fs::set_permissions(place.file(), Permissions::from_mode(0o644)).unwrap();
    let stranger = Stranger::locks(&place.file()).unwrap();
    assert_eq!(place.holder(), None, "the stranger is {}", stranger.pid());
    let lock = place.take();
    assert_eq!(mode(&place.file()), 0o600);
    // The stranger's file is no longer the lock, and he gets no other.
    Stranger::locks(&place.file()).unwrap_err();
    lock.remove();
    assert!(!place.file().exists());
}

#[test]
fn an_open_file_of_an_older_version_is_closed_to_others() {
    let place = Place::new(0o755);
    fs::write(place.file(), "").unwrap();
    fs::set_permissions(place.file(), Permissions::from_mode(0o644)).unwrap();
    let inode = fs::metadata(place.file()).unwrap().ino();
    let _lock = place.take();
    assert_eq!(mode(&place.file()), 0o600);
    assert_eq!(fs::metadata(place.file()).unwrap().ino(), inode);
}

/// Anything that may be in the lock's place is neither followed, waited for nor written to.
#[test]
fn what_cannot_be_the_lock_is_removed() {
    let place = Place::new(0o755);
    let valuable = place.0.path().join("valuable");
    fs::write(&valuable, "kept").unwrap();
    fs::set_permissions(&valuable, Permissions::from_mode(0o644)).unwrap();
    let plants: [&dyn Fn(); 3] = [
        &|| symlink(&valuable, place.file()).unwrap(),
        &|| fs::hard_link(&valuable, place.file()).unwrap(),
        &|| nix::unistd::mkfifo(&place.file(), nix::sys::stat::Mode::S_IRWXU).unwrap(),
    ];
    for plant in plants {
        plant();
        assert_eq!(place.holder(), None);
        let lock = place.take();
        let about = fs::symlink_metadata(place.file()).unwrap();
        assert!(about.is_file() && about.nlink() == 1);
        lock.remove();
    }
    assert_eq!(fs::read_to_string(&valuable).unwrap(), "kept");
    assert_eq!(mode(&valuable), 0o644);
}

#[test]
fn a_file_that_a_stranger_has_made_is_not_the_lock() {
    if !is_root() {
        return;
    }
    // A file from a time when others could write to the folder.
    let place = Place::new(0o755);
    fs::write(place.file(), "").unwrap();
    std::os::unix::fs::chown(place.file(), Some(65534), Some(65534)).unwrap();
    let before = fs::metadata(place.file()).unwrap().ino();
    let _keeps_the_number = File::open(place.file()).unwrap();
    let _lock = place.take();
    let about = fs::metadata(place.file()).unwrap();
    assert_ne!(about.ino(), before);
    assert_eq!(about.uid(), 0);
}

/// In a folder that several users may write to, each of them can open the lock.
#[test]
fn who_may_write_to_the_folder_may_take_the_lock() {
    for (folder, expected) in [
        (0o700, 0o600),
        (0o755, 0o600),
        (0o775, 0o660),
        (0o777, 0o666),
    ] {
        let place = Place::new(folder);
        drop(place.take());
        assert_eq!(mode(&place.file()), expected, "{folder:o}");
    }
}

/// This takes a second process, since a process's own locks do not keep it out.
#[test]
fn who_holds_it_is_known() {
    const HOLDS: &str = "TIDEGATE_LOCK_FOLDER";
    if let Ok(folder) = std::env::var(HOLDS) {
        let folder = File::open(folder).unwrap().into();
        let taken = Lock::take(folder, NAME).unwrap();
        assert!(matches!(taken, Taken::Lock(_)), "{taken:?}");
        return std::io::stdin()
            .read_line(&mut String::new())
            .map(drop)
            .unwrap();
    }
    let place = Place::new(0o755);
    let lock = place.take();
    drop(lock);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "who_holds_it_is_known"])
        .env(HOLDS, place.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id() as i32;
    let began = Instant::now();
    while place.holder().is_none() && began.elapsed() < Duration::from_secs(20) {
        assert!(child.try_wait().unwrap().is_none(), "it holds nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(place.holder(), Some(pid));
    let taken = Lock::take(place.folder(), NAME).unwrap();
    assert!(matches!(taken, Taken::By(by) if by == pid), "{taken:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(place.take());
}
