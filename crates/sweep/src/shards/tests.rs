use super::*;
use crate::samples::{identifiers, identity};
use tempfile::TempDir;

/// A run's identity and its row.
fn row(seed: u64) -> (Vec<String>, Vec<String>) {
    let result = tidegate_scenario::RunResult::default();
    (
        identity(seed),
        crate::cells(&identity(seed), &result).collect(),
    )
}

fn write(shards: &mut Shards, first: usize, seeds: std::ops::Range<u64>) -> PathBuf {
    let rows = seeds.map(row).collect();
    shards.write(first, &identifiers(), rows).unwrap()
}

fn resume(folder: &Path, seeds: u64) -> Result<Shards> {
    let sweep: Vec<_> = (0..seeds).map(identity).collect();
    Shards::resume(folder, &identifiers(), &sweep)
}

#[test]
fn what_was_written_is_there_when_a_sweep_goes_on() {
    let folder = TempDir::new().unwrap();
    let mut shards = Shards::create(folder.path()).unwrap();
    let first = write(&mut shards, 0, 0..3);
    assert!(shards.row(&identity(2)).is_some() && shards.row(&identity(3)).is_none());
    drop(shards);
    let text = fs::read_to_string(&first).unwrap();
    assert!(text.starts_with("seed,run,key,goodput_bps,"), "{text}");
    assert_eq!(text.lines().count(), 4);
    let mut shards = resume(folder.path(), 6).unwrap();
    assert_eq!(shards.row(&identity(1)).unwrap(), row(1).1);
    write(&mut shards, 3, 3..6);
    // The order of their names is that of the sweep.
    let files = shards.files().unwrap();
    let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
    let seeds: Vec<_> = texts
        .flat_map(|text| {
            text.lines()
                .skip(1)
                .map(|l| l[..1].to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(seeds, ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn the_same_runs_have_the_same_file() {
    let [one, other] = [(); 2].map(|()| TempDir::new().unwrap());
    let written = [&one, &other].map(|folder| {
        let path = write(&mut Shards::create(folder.path()).unwrap(), 4, 4..6);
        (
            path.file_name().unwrap().to_owned(),
            fs::read(path).unwrap(),
        )
    });
    assert_eq!(written[0], written[1]);
    let others = write(&mut resume(one.path(), 9).unwrap(), 4, 5..7);
    assert_ne!(others.file_name().unwrap(), written[0].0);
}

#[test]
fn a_folder_with_shards_is_not_begun_anew() {
    let folder = TempDir::new().unwrap();
    write(&mut Shards::create(folder.path()).unwrap(), 0, 0..1);
    let error = Shards::create(folder.path()).err().unwrap();
    assert!(
        error.is::<Refused>() && error.to_string().contains(".csv exists: go on"),
        "{error}"
    );
}

#[test]
fn rows_of_another_sweep_are_refused_and_stay() {
    let folder = TempDir::new().unwrap();
    let path = write(&mut Shards::create(folder.path()).unwrap(), 0, 0..2);
    let part = folder.path().join(".abc.part");
    fs::write(&part, "torn").unwrap();
    let error = resume(folder.path(), 1).err().unwrap().to_string();
    let expected = format!(
        "{}:3: seed=1 run=a, \"quoted\" run is not of this sweep",
        path.display()
    );
    assert!(error.starts_with(&expected), "{error}");
    assert!(path.exists() && part.exists());
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let folder = TempDir::new().unwrap();
    write(&mut Shards::create(folder.path()).unwrap(), 0, 0..2);
    let part = folder.path().join(".abc.part");
    fs::write(&part, "torn").unwrap();
    resume(folder.path(), 2).unwrap();
    assert!(!part.exists());
}

#[test]
fn where_nothing_can_be_written_nothing_is() {
    let folder = TempDir::new().unwrap();
    let mut shards = Shards::create(folder.path()).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    let error = shards.write(0, &identifiers(), vec![row(0)]).unwrap_err();
    assert!(format!("{error:#}").contains("write "), "{error:#}");
    assert!(shards.row(&identity(0)).is_none());
}

#[test]
fn a_file_is_no_folder() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [file.path().to_owned(), file.path().join("")] {
        let error = Shards::create(&path).err().unwrap();
        let told = error.to_string();
        assert!(
            error.is::<Refused>() && told.contains("is a file"),
            "{told}"
        );
    }
}

/// A user who may only read the folder's files cannot keep its owner from writing there.
#[test]
fn a_stranger_locks_no_folder() {
    if !tidegate_testing::is_root() {
        return;
    }
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let lock = folder.path().join(LOCK);
    // As an older version has left it, and as this one leaves it.
    fs::write(&lock, "").unwrap();
    fs::set_permissions(&lock, Permissions::from_mode(0o644)).unwrap();
    let stranger = tidegate_testing::Stranger::locks(&lock).unwrap();
    drop(resume(folder.path(), 1).unwrap());
    drop(stranger);
    tidegate_testing::Stranger::locks(&lock).unwrap_err();
    drop(resume(folder.path(), 1).unwrap());
}
