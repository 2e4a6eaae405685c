//! The page: prose, and tables between marks.

use anyhow::{Result, bail, ensure};

const BEGIN: &str = "<!-- measured: ";
const END: &str = "<!-- end -->";

/// A page's text, and where its tables are in it.
pub struct Page<'a> {
    text: &'a str,
    blocks: Vec<Block<'a>>,
}

struct Block<'a> {
    id: &'a str,
    /// From after the mark at its beginning to the mark at its end.
    start: usize,
    end: usize,
}

impl<'a> Page<'a> {
    /// Finds the marks.
    ///
    /// # Errors
    /// If a mark is missing, or two tables have the same name.
    pub fn parse(text: &'a str) -> Result<Self> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find(BEGIN) {
            let id_at = at + found + BEGIN.len();
            let line = text[..id_at].matches('\n').count() + 1;
            let Some(length) = text[id_at..].find(" -->\n") else {
                bail!("{line}: expected \"{BEGIN}NAME -->\"");
            };
            let id = &text[id_at..id_at + length];
            let start = id_at + length + " -->\n".len();
            let end = text[start..].find(END);
            let Some(end) = end.filter(|&end| !text[start..start + end].contains(BEGIN)) else {
                bail!("{line}: \"{id}\" has no end, expected \"{END}\"");
            };
            ensure!(
                blocks.iter().all(|block| block.id != id),
                "{line}: a second table \"{id}\""
            );
            at = start + end;
            blocks.push(Block { id, start, end: at });
        }
        Ok(Self { text, blocks })
    }

    /// The tables' names, in order.
    #[cfg(test)]
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| block.id)
    }

    /// Whether there is a table with this name.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// The text between a table's marks.
    pub fn block(&self, id: &str) -> Option<&'a str> {
        self.find(id)
            .map(|block| &self.text[block.start..block.end])
    }

    /// When and how a table was taken, by its first line.
    pub fn taken(&self, id: &str) -> Option<&'a str> {
        self.block(id)?.lines().next()
    }

    /// The page with another text between a table's marks.
    pub fn with(&self, id: &str, block: &str) -> String {
        match self.find(id) {
            Some(found) => format!(
                "{}{block}{}",
                &self.text[..found.start],
                &self.text[found.end..]
            ),
            None => self.text.into(),
        }
    }

    fn find(&self, id: &str) -> Option<&Block<'a>> {
        self.blocks.iter().find(|block| block.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "prose\n<!-- measured: a -->\ntaken long ago\n| 1 |\n<!-- end -->\nmore\n\
        <!-- measured: b -->\n| 2 |\n<!-- end -->\n";

    #[test]
    fn one_table_is_replaced_and_all_else_stays() {
        let page = Page::parse(TEXT).unwrap();
        assert_eq!(page.ids().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(page.taken("a"), Some("taken long ago"));
        let written = page.with("a", "taken today\n| 3 |\n");
        assert_eq!(
            written,
            TEXT.replace("taken long ago\n| 1 |", "taken today\n| 3 |")
        );
        assert_eq!(page.with("c", "nothing"), TEXT);
    }

    #[test]
    fn marks_that_do_not_match_are_told_with_their_line() {
        for (text, expected) in [
            ("a\n<!-- measured: a -->\n| 1 |\n", "2: \"a\" has no end"),
            ("<!-- measured: a", "1: expected"),
            (&TEXT.replace(": b", ": a"), "7: a second table \"a\""),
            (&TEXT.replacen("<!-- end -->", "", 1), "2: \"a\" has no end"),
        ] {
            let error = Page::parse(text).err().unwrap().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
