//! Makes text that others have chosen safe to show.

use std::borrow::Cow;
use std::fmt::Write;

/// Text in one line, with control and invisible characters spelled out, as in `\u{1b}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| c.is_control() || is_invisible(c))
}

/// The same for text in several lines: line ends stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| c != '\n' && (c.is_control() || is_invisible(c)))
}

fn spelled_out(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => write!(shown, "{}", c.escape_unicode()).expect("memory"),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Cuts text after that many characters.
pub fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        None => text.into(),
        Some(_) => text
            .chars()
            .take(longest.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// Unicode's Default_Ignorable_Code_Point, line and paragraph separator, and the interlinear marks. The
/// bidirectional ones among them make `exe.doc` look like what it is not.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_plays_no_tricks() {
        assert_eq!(shown("a ü \u{1f600}"), "a ü \u{1f600}");
        let tricks = "\u{1b}[2J\u{202e}fdp\u{200b}.a\u{200d}\n\u{9b}1m";
        let told = r"\u{1b}[2J\u{202e}fdp\u{200b}.a\u{200d}\u{a}\u{9b}1m";
        assert_eq!(shown(tricks), told);
        assert_eq!(shown_lines("a\nb\r\n"), "a\nb\\u{d}\n");
    }

    #[test]
    fn letters_of_every_script_stay() {
        for text in [
            "Müllers Rechner",
            "电视",
            "הבית",
            "кухня",
            "e\u{301}",
            "ꯃꯤ",
            "🏠",
        ] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn of_what_is_too_long_the_end_goes() {
        assert_eq!(cut("kitchen", 7), "kitchen");
        assert_eq!(cut("küche und", 6), "küche…");
        assert_eq!(cut("a", 0), "…");
    }
}
