use super::{Step, document, key_at, offset};

const TEXT: &str = "name = 'x'
hosts = { congestion_control = 'reno' }
[[run]]
name = 'a'
[[run]]
name = 'b'
congestion_control = 'bbr'
";

fn line(place: &[Step], value: &str) -> Option<usize> {
    let offset = offset(TEXT, place, value)?;
    Some(TEXT[..offset].lines().count())
}

fn of_run(name: &str) -> [Step; 3] {
    let key = Step::Key("congestion_control");
    [Step::Key("run"), Step::Named(name.into()), key]
}

#[test]
fn a_value_is_found_by_keys_and_names() {
    assert_eq!(line(&of_run("b"), "bbr"), Some(7));
    let hosts = [Step::Key("hosts"), Step::Key("congestion_control")];
    assert_eq!(line(&hosts, "reno"), Some(2));
}

#[test]
fn what_stands_elsewhere_has_no_line() {
    // Absent, another run's, and what the command line said in its place.
    assert_eq!(line(&of_run("a"), "bbr"), None);
    assert_eq!(line(&of_run("c"), "bbr"), None);
    assert_eq!(line(&of_run("b"), "cubic"), None);
}

#[test]
fn what_stands_at_an_offset_has_a_key() {
    let key = |word: &str| {
        let offset = TEXT.find(word).unwrap();
        key_at(&document(TEXT).unwrap(), offset)
    };
    assert_eq!(key("reno").as_deref(), Some("hosts.congestion_control"));
    assert_eq!(key("'b'").as_deref(), Some("run[1].name"));
    assert_eq!(key("'bbr'").as_deref(), Some("run[1].congestion_control"));
    assert_eq!(key("hosts").as_deref(), Some("hosts"));
    assert_eq!(key("= 'x'"), None);
}
