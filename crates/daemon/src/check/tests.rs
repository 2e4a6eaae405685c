use super::*;

#[test]
fn findings_are_spelt_for_programs() {
    let finding = Finding::new("JIT", Status::Note, "off").advise("switch it on");
    let json = serde_json::to_string(&finding).unwrap();
    let expected = r#"{"name":"JIT","status":"note","found":"off","advice":"switch it on"}"#;
    assert_eq!(json, expected);
}
