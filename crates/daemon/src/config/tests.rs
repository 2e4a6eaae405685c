use super::file::File;
use super::settings;
use super::{HoldsArg, RunArgs};
use crate::udp::{Otherwise, Sort};
use std::path::Path;
use tidegate_agent::{Direction, Directions, Kind};
use tidegate_scenario::Udp;

/// The packaged file can be read: as it is, and with all its examples uncommented.
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
    assert_eq!(all.udp_rules.len(), 3);
    assert!(
        all.law.is_some() && all.metrics.is_some() && all.page.is_some() && all.on_exit.is_some()
    );
    assert!(all.connections.is_some());
    assert!(all.udp.is_some() && all.udp_echo.is_some());
}

/// The error for a file with these lines, on interface `lo`.
fn refused(lines: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.toml");
    std::fs::write(&path, format!("interfaces = [\"lo\"]\n{lines}")).unwrap();
    let args = RunArgs {
        config: Some(path),
        ..RunArgs::default()
    };
    let error = settings(&args).err().expect("it is wrong");
    format!("{error:#}")
}

#[test]
fn tables_that_cannot_be_are_refused_with_their_line() {
    let message = refused("connections = 100");
    assert!(message.contains("tidegate.toml:2:"), "{message}");
    assert!(message.contains("expected 256 to 1048576"), "{message}");
}

#[test]
fn one_interface_needs_no_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.toml");
    let names = |line: &str| {
        std::fs::write(&path, format!("law = \"tide\"\n{line}")).unwrap();
        let file = File::load(&path).map_err(|error| error.to_string())?;
        let lines = file.interfaces.iter().map(|name| {
            let refusal = file.complain(name, "?".into()).to_string();
            let line = refusal.rsplit("tidegate.toml:").next().unwrap();
            (
                name.get_ref().clone(),
                line.split(':').next().unwrap().to_owned(),
            )
        });
        Ok(lines.collect::<Vec<_>>())
    };
    let own = |name: &str, line: &str| (name.to_owned(), line.to_owned());
    assert_eq!(names("interfaces = \"lo\""), Ok(vec![own("lo", "2")]));
    let two = names("interfaces = [\n  \"lo\",\n  \"eth0\",\n]");
    assert_eq!(two, Ok(vec![own("lo", "3"), own("eth0", "4")]));
    let refusal: Result<_, String> = names("interfaces = 5");
    let refusal = refusal.unwrap_err();
    assert!(
        refusal.contains("tidegate.toml:2:")
            && refusal.contains("expected an interface's name like \"eth0\", or a list of names"),
        "{refusal}"
    );
    let refusal = names("interface = \"lo\"").unwrap_err();
    assert!(refusal.contains("did you mean `interfaces`?"), "{refusal}");
}

#[test]
fn a_rule_about_udp_that_makes_no_sense_is_refused_with_its_line() {
    let cases = [
        (
            "law = \"drwa\"\nudp = \"leave\"\n[[udp_rule]]\nremote_port = 443\naction = \"hold\"",
            "tidegate.toml:6:",
            "\"tide\"",
        ),
        (
            "[[udp_rule]]\naction = \"leave\"",
            "tidegate.toml:2:",
            "expected remote_port, prefix, interface or direction",
        ),
        (
            "[[udp_rule]]\ninterface = \"wwan7\"\naction = \"hold\"",
            "tidegate.toml:3:",
            "expected lo",
        ),
        (
            "[[udp_rule]]\nremote_port = 443\naction = \"deny\"",
            "tidegate.toml:4:",
            "fallback",
        ),
        (
            "[[udp_rule]]\nuid = 7\naction = \"hold\"",
            "tidegate.toml:3:",
            "uid",
        ),
        (
            "[[udp_rule]]\ndirection = \"uploads\"\naction = \"fallback\"",
            "tidegate.toml:3:",
            "no direction yet",
        ),
        ("udp_hold = \"all\"", "tidegate.toml:2:", "both"),
        ("udp_echo = \"gateway\"", "tidegate.toml:2:", "\"server\""),
    ];
    for (lines, place, expected) in cases {
        let said = refused(lines);
        assert!(said.contains(place) && said.contains(expected), "{said}");
    }
    let ports: Vec<_> = (1..=65).map(|port| port.to_string()).collect();
    let many = format!(
        "[[udp_rule]]\nremote_port = [{}]\naction = \"leave\"",
        ports.join(",")
    );
    let said = refused(&many);
    assert!(
        said.contains("65 rules") && said.contains("at most 64"),
        "{said}"
    );
}

#[test]
fn rules_about_udp_are_written_out_and_the_command_line_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.toml");
    let text = "interfaces = [\"lo\"]\nudp = \"leave\"\nudp_echo = \"192.0.2.1\"\n\
        [[udp_rule]]\nremote_port = [3478, \"3480-3481\"]\nprefix = [\"192.0.2.0/24\", \"2001:db8::/32\"]\naction = \"fallback\"\n";
    std::fs::write(&path, text).unwrap();
    let with = |udp| {
        let args = RunArgs {
            config: Some(path.clone()),
            udp,
            ..RunArgs::default()
        };
        settings(&args).unwrap().udp
    };
    let terms = with(None);
    assert_eq!(terms.rules.rules.len(), 4);
    assert_eq!(terms.rules.otherwise, Otherwise::Leave);
    assert_eq!(terms.echo, "192.0.2.1".parse().unwrap());
    let terms = with(Some(Otherwise::Hold));
    assert_eq!(terms.rules.otherwise, Otherwise::Hold);
    let sort = Sort {
        interface: "lo",
        remote: "192.0.2.7:3481".parse().unwrap(),
        direction: Direction::Down,
        kind: Kind::Udp,
    };
    assert_eq!(terms.rules.verdict(sort), Udp::Fallback);
}

/// By default the agent holds only HTTP/3, and nothing if the law cannot hold or only named flows are steered.
#[test]
fn what_nobody_asked_for_is_held_only_where_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.toml");
    let otherwise = |text: &str| {
        std::fs::write(&path, format!("interfaces = [\"lo\"]\n{text}")).unwrap();
        let args = RunArgs {
            config: Some(path.clone()),
            ..RunArgs::default()
        };
        settings(&args).unwrap().udp.rules.otherwise
    };
    assert_eq!(otherwise(""), Otherwise::Auto);
    for text in ["law = \"drwa\"", "only = \"uploads\"", "default = \"deny\""] {
        assert_eq!(otherwise(text), Otherwise::Leave, "{text}");
    }
}

#[test]
fn uploads_are_held_where_the_file_or_the_command_line_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tidegate.toml");
    let terms = |text: &str, udp_hold| {
        std::fs::write(&path, format!("interfaces = [\"lo\"]\n{text}")).unwrap();
        let args = RunArgs {
            config: Some(path.clone()),
            udp_hold,
            ..RunArgs::default()
        };
        settings(&args).unwrap().udp.rules
    };
    let hold = "udp = \"hold\"\n";
    assert_eq!(terms(hold, None).holds, Directions::Downloads);
    let both = format!("{hold}udp_hold = \"both\"\n");
    assert_eq!(terms(&both, None).holds, Directions::Both);
    let uploads = Some(HoldsArg::Uploads);
    assert_eq!(terms(&both, uploads).holds, Directions::Uploads);
    let rules = terms(
        "udp = \"leave\"\n[[udp_rule]]\ndirection = \"uploads\"\naction = \"hold\"\n",
        None,
    );
    assert!(rules.may_hold(Direction::Up) && !rules.may_hold(Direction::Down));
}
