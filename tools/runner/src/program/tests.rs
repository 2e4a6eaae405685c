use super::{Kind, choose, read};

/// Cargo's message about a test program of a package whose manifest has `metadata` for it.
fn message(folder: &std::path::Path, kind: &str, target: &str, test: bool) -> String {
    let manifest = folder.join("Cargo.toml");
    format!(
        r#"{{"reason":"compiler-artifact","manifest_path":{manifest:?},"target":{{"kind":["{kind}"],"name":"{target}","test":true}},"profile":{{"test":{test}}},"executable":"/x/{target}"}}"#
    )
}

fn package(metadata: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("[package]\nname = 'p'\n{metadata}");
    std::fs::write(folder.path().join("Cargo.toml"), text).unwrap();
    folder
}

#[test]
fn kinds_are_those_of_the_manifest() {
    let package = package(
        "[package.metadata.tests]\nreal-time = { slow = 3, unit = 0 }\nkernel = { bpf = 1 }",
    );
    let of = |kind, target| message(package.path(), kind, target, true);
    let text = [
        of("test", "slow"),
        of("lib", "p"),
        of("test", "bpf"),
        of("test", "other"),
        message(package.path(), "bin", "program", false),
        r#"{"reason":"build-finished","success":true}"#.into(),
    ];
    let programs = read(text.join("\n").as_bytes()).unwrap();
    let kinds: Vec<_> = programs.iter().map(|p| (p.kind, p.minutes)).collect();
    let expected = [
        (Kind::RealTime, 3),
        (Kind::RealTime, 0),
        (Kind::Kernel, 1),
        (Kind::Computes, 0),
    ];
    assert_eq!(kinds, expected);
    let folder = package.path().file_name().unwrap().display();
    assert_eq!(programs[1].name, format!("{folder}/unit"));

    let one = choose(programs.clone(), &[programs[2].name.clone()]).unwrap();
    assert_eq!(one.len(), 1);
    assert_eq!(choose(programs.clone(), &[]).unwrap().len(), 4);
    let refused = choose(programs, &["none".into()]).unwrap_err();
    assert!(refused.to_string().contains("slow"), "{refused}");
}

#[test]
fn a_manifest_that_is_not_understood_is_named() {
    let package = package("[package.metadata.tests]\nreal-tme = {}");
    let text = message(package.path(), "test", "t", true);
    let refused = format!("{:#}", read(text.as_bytes()).unwrap_err());
    assert!(
        refused.contains("Cargo.toml") && refused.contains("real-tme"),
        "{refused}"
    );
}

#[test]
fn a_test_that_there_is_not_is_refused() {
    let package = package("[package.metadata.tests]\nreal-time = { solw = 3 }");
    let text = message(package.path(), "test", "slow", true);
    let refused = format!("{:#}", read(text.as_bytes()).unwrap_err());
    for word in ["Cargo.toml", "\"solw\"", "expected one of slow"] {
        assert!(refused.contains(word), "no {word} in: {refused}");
    }
}

#[test]
fn no_programs_are_an_error() {
    assert!(read(&b""[..]).is_err());
    assert!(read(&b"not JSON"[..]).is_err());
}
