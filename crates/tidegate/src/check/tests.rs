use super::*;

#[test]
fn an_old_kernel_is_told_by_its_release() {
    for old in [
        "4.19.0-27-amd64",
        "5.4.0",
        "5.14.21-150500.55",
        "5.10.0-33-amd64",
    ] {
        assert!(is_old(old), "{old}");
    }
    for new in [
        "5.15.0-119-generic",
        "6.1.0-25-amd64",
        "6.18.44",
        "10.0-rc1",
    ] {
        assert!(!is_old(new), "{new}");
    }
}

#[test]
fn findings_are_spelt_for_programs() {
    let finding = Finding::new("JIT", Status::Note, "off").advise("switch it on");
    let json = serde_json::to_string(&finding).unwrap();
    let expected = r#"{"name":"JIT","status":"note","found":"off","advice":"switch it on"}"#;
    assert_eq!(json, expected);
}
