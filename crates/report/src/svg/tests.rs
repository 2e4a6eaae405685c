use super::{INK, THEME, document, text_width, theme_rules};

#[test]
fn a_document_is_well_formed_whatever_its_title() {
    let svg = document((300, 200), "a <b> & \"c\" \u{1}", |_| Ok(()));
    let parsed = roxmltree::Document::parse(&svg).unwrap();
    let root = parsed.root_element();
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    assert_eq!(root.attribute("aria-label"), Some("a <b> & \"c\" \u{fffd}"));
    assert_eq!(
        (root.attribute("width"), root.attribute("viewBox")),
        (Some("300"), Some("0 0 600 400"))
    );
}

#[test]
fn the_theme_turns_over_lines_and_areas_of_each_colour() {
    let rules = theme_rules();
    for (colour, name) in THEME {
        for property in ["fill", "stroke"] {
            let rule = format!(
                "svg [{property}=\"{}\"] {{ {property}: var({name}); }}",
                colour.hex()
            );
            assert!(rules.contains(&rule), "{rule}");
        }
    }
    assert!(rules.contains(&INK.hex()));
}

#[test]
fn wide_letters_are_wide() {
    assert!(text_width("WWWW", 12.0) > 2.0 * text_width("iiii", 12.0));
    assert!((text_width("abc", 24.0) - 2.0 * text_width("abc", 12.0)).abs() < 1e-9);
}
