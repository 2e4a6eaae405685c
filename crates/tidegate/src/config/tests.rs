use super::file::File;
use std::path::Path;

/// The file that the package installs: as it is, and with all that it shows in force.
#[test]
fn the_packaged_file_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/tidegate.toml");
    let as_it_is = File::load(&path).unwrap();
    assert!(as_it_is.rules.is_empty() && as_it_is.law.is_none());
    let shown = |line: &str| {
        let setting = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '));
        setting.unwrap_or("").to_owned()
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let all: Vec<_> = text.lines().map(shown).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.toml");
    std::fs::write(&path, all.join("\n")).unwrap();
    let all = File::load(&path).unwrap();
    assert_eq!(all.rules.len(), 3);
    assert!(all.law.is_some() && all.metrics.is_some() && all.on_exit.is_some());
}
