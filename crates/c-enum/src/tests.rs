use super::{CEnum, rust};

const LAW: CEnum = CEnum {
    tag: "law",
    prefix: "LAW_",
    name: "Law",
    count: Some("LAWS"),
};

/// What comes of a header of that text.
fn of(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let header = folder.path().join("law.h");
    std::fs::write(&header, text).expect("write a header");
    rust(&header, &[LAW])
}

#[test]
fn variants_names_and_comments_come_from_c() {
    let source = of(
        "/* Which law. */\nenum law {\n\tLAW_NONE, /* not any,\n\t\t   * at all */\n\t/* A \"law\". */\n\tLAW_OF_TIDES,\n\tLAWS,\n};\n",
    );
    for expected in [
        "#[doc = \"Which law\"]",
        "pub enum Law {",
        "pub const ALL: [Self; 2] = [Self::None, Self::OfTides, ];",
        "Self::OfTides => \"of_tides\"",
        "Self::None => \"not any, at all\"",
        "Self::OfTides => \"A \\\"law\\\"\"",
        "#[serde(rename = \"none\")]",
    ] {
        assert!(source.contains(expected), "{expected} is not in\n{source}");
    }
}

#[test]
#[should_panic(expected = "LAW_LATE: expected 1, the next number")]
fn a_gap_in_the_numbers_is_refused() {
    of("enum law { LAW_EARLY, LAW_LATE = 7 };");
}

#[test]
#[should_panic(expected = "ORDER: expected LAW_…")]
fn an_enumerator_of_another_name_is_refused() {
    of("enum law { ORDER };");
}

#[test]
#[should_panic(expected = "no enum law")]
fn a_header_without_the_enumeration_is_refused() {
    of("enum custom { HABIT };");
}
