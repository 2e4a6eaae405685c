//! Names that a file may have at the receiver.

use std::path::{Component, Path};
use tidegate_terminal::is_invisible;

/// The most bytes of a name: with the additions to an incomplete file's name, a file system's 255.
const LONGEST: usize = 232;

/// The end of an incomplete file's name.
const PART: &str = ".part";

/// Hexadecimal digits of the hash in that name.
const DIGITS: usize = 16;

/// The name of an incomplete file; it differs for files of one name with different contents. No complete file may have
/// such a name: it would be taken for an incomplete one, and continued.
pub fn of_part(name: &str, hash: &blake3::Hash) -> String {
    format!(".{name}.{}{PART}", &hash.to_hex()[..DIGITS])
}

/// Refuses all but plain names: no name leads out of the folder or controls a terminal.
pub fn check(name: &str) -> Result<(), String> {
    let mut parts = Path::new(name).components();
    let plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(part)), None) if part == name
    );
    if !plain || name.contains(['/', '\\']) {
        return Err(format!("{name:?} is not a plain file name"));
    }
    if name.chars().any(char::is_control) {
        return Err(format!("{name:?} has a control character"));
    }
    if name.chars().any(|c| is_invisible(c) && !is_in_words(c)) {
        return Err(format!(
            "{name:?} has an invisible character, or one that turns the direction of text"
        ));
    }
    if name.starts_with('.') && name.ends_with(PART) {
        return Err(format!(
            "{name:?} is a name that is reserved for incomplete files"
        ));
    }
    if name.len() > LONGEST {
        return Err(format!("the name {name:?} is longer than {LONGEST} bytes"));
    }
    Ok(())
}

/// Persian words and emoji need joiners and variation selectors: allowed in names, and shown.
fn is_in_words(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, check, of_part};

    #[test]
    fn only_plain_names_pass() {
        for name in [
            "a",
            "a.part",
            ".hidden",
            "ü ö",
            "u\u{308}",
            "...",
            "9.41\u{202f}AM",
            "\u{2764}\u{fe0f}",
            "\u{645}\u{6cc}\u{200c}\u{62e}",
        ] {
            assert_eq!(check(name), Ok(()), "{name:?}");
        }
        let bad = [
            "",
            ".",
            "..",
            "/",
            "/etc/passwd",
            "a/b",
            "a/",
            "./a",
            "../a",
            "a\\b",
            "a\0b",
            "a\nb",
            "\u{1b}[2J",
            ".a.part",
            "exe.\u{202e}cod",
            "\u{2066}a",
            "a\u{200b}",
            "a\u{ad}",
            "\u{feff}a",
            "a\u{e0041}",
        ];
        for name in bad {
            assert!(check(name).is_err(), "{name:?}");
        }
        assert!(check(&"a".repeat(LONGEST + 1)).is_err());
        let longest = of_part(&"a".repeat(LONGEST), &blake3::hash(b""));
        assert!(longest.len() <= 255 && check(&longest).is_err());
    }
}
