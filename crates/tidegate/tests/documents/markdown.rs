//! Parses the documents' Markdown.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// A document.
pub struct Document {
    /// Its path, relative to the project's folder.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// A block of code.
pub struct Block {
    /// The text after the fence: `sh run root`.
    pub info: String,
    /// Its text.
    pub text: String,
    /// The line of its fence, from 1.
    pub line: usize,
}

/// The project's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All documents for readers.
pub fn documents() -> Vec<Document> {
    let mut paths = ["README.md", "CHANGELOG.md", "mpath/README.md"]
        .map(PathBuf::from)
        .to_vec();
    collect(Path::new("docs"), &mut paths);
    paths.sort();
    let read = |path: PathBuf| Document {
        text: fs::read_to_string(root().join(&path)).expect("readable"),
        path,
    };
    let documents: Vec<_> = paths.into_iter().map(read).collect();
    assert!(documents.len() > 30, "{} documents", documents.len());
    documents
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).expect("readable") {
        let path = folder.join(entry.expect("readable").file_name());
        if root().join(&path).is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

impl Document {
    fn events(&self) -> impl Iterator<Item = (Event<'_>, usize)> {
        let parser = Parser::new_ext(&self.text, Options::ENABLE_TABLES).into_offset_iter();
        parser.map(|(event, range)| (event, self.line(range.start)))
    }

    fn line(&self, offset: usize) -> usize {
        self.text[..offset].matches('\n').count() + 1
    }

    /// Blocks of code, in order.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for (event, line) in self.events() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    inside = true;
                    blocks.push(Block {
                        info: info.to_string(),
                        text: String::new(),
                        line,
                    });
                }
                Event::Text(text) if inside => blocks.last_mut().expect("begun").text += &text,
                Event::End(TagEnd::CodeBlock) => inside = false,
                _ => {}
            }
        }
        blocks
    }

    /// Targets of links and pictures, each with its line.
    pub fn links(&self) -> Vec<(String, usize)> {
        self.events()
            .filter_map(|(event, line)| match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    Some((dest_url.to_string(), line))
                }
                _ => None,
            })
            .collect()
    }

    /// Pieces of code within sentences.
    pub fn inline(&self) -> Vec<(String, usize)> {
        self.events()
            .filter_map(|(event, line)| match event {
                Event::Code(code) => Some((code.to_string(), line)),
                _ => None,
            })
            .collect()
    }

    /// The anchors of headings, as GitHub and mdBook make them: lower case, words joined, other characters removed, and
    /// a number appended to repeated ones.
    pub fn anchors(&self) -> BTreeSet<String> {
        let mut heading: Option<String> = None;
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut anchors = BTreeSet::new();
        for (event, _) in self.events() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    let text = heading.take().unwrap_or_default().to_lowercase();
                    let kept = text
                        .chars()
                        .filter(|c| c.is_alphanumeric() || " _-".contains(*c));
                    let anchor = kept.collect::<String>().replace(' ', "-");
                    let times = seen.entry(anchor.clone()).or_default();
                    anchors.insert(match *times {
                        0 => anchor,
                        times => format!("{anchor}-{times}"),
                    });
                    *times += 1;
                }
                _ => {}
            }
        }
        anchors
    }
}

impl Block {
    /// The words after the fence.
    pub fn words(&self) -> Vec<&str> {
        self.info.split_whitespace().collect()
    }
}

/// Command lines of Tidegate in a block of shell or without a language; prompt, `sudo`, comment and pipes are removed.
pub fn command_lines(block: &Block) -> Vec<Vec<String>> {
    let language = block.words().first().copied().unwrap_or_default();
    if !["", "sh", "console"].contains(&language) {
        return Vec::new();
    }
    let text = block.text.replace("\\\n", " ");
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("$ "));
    lines.filter_map(words_of_tidegate).collect()
}

/// The words of a command line of Tidegate; none for other lines.
pub fn words_of_tidegate(line: &str) -> Option<Vec<String>> {
    let words = shlex::split(line)?;
    let mut words = words
        .into_iter()
        .skip_while(|word| word == "sudo" || word.contains('='))
        .peekable();
    let program = words.peek()?;
    if program != "tidegate" && !program.ends_with("/tidegate") {
        return None;
    }
    let ends = |word: &String| {
        !["|", "&", "&&", ";", ">"].contains(&word.as_str()) && !word.starts_with('>')
    };
    Some(words.take_while(ends).collect())
}
