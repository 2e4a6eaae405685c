//! C enumerations as Rust enumerations, for build scripts.
//!
//! What kernel program, laws and user space call by the same word stands in a C header. From there
//! Rust has the variants, their names for people and files, and what their comments say of them:
//! bindgen reads C, this crate writes Rust.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

use std::fmt::Write;
use std::path::Path;
use syn::{Attribute, Expr, Item, ItemEnum, Lit, Meta};

/// A C enumeration, and what it is to be in Rust.
#[derive(Clone, Copy, Debug)]
pub struct CEnum<'a> {
    /// Its tag in C: `tg_law`.
    pub tag: &'a str,
    /// What all its enumerators begin with, and Rust's variants do not: `TG_LAW_`.
    pub prefix: &'a str,
    /// Its name in Rust: `Law`.
    pub name: &'a str,
    /// The enumerator that only counts the others, if there is one: `TG_LAWS`.
    pub count: Option<&'a str>,
}

/// Rust's source of `enums`, which are in `header`.
///
/// Each has `ALL`, `name`, `about` (its comment) and `from_raw`, and goes to and from serde by its name:
/// what follows the prefix, in lower case. The source uses `serde`.
///
/// # Panics
/// When the header cannot be read, has no such enumeration, or one whose numbers are not 0, 1, 2, …:
/// in a build script that is the way to say so.
pub fn rust(header: &Path, enums: &[CEnum]) -> String {
    let described = describe(header, enums);
    let file = syn::parse_file(&described).expect("bindgen writes Rust");
    let mut source = String::new();
    for wanted in enums {
        let found = file.items.iter().find_map(|item| match item {
            Item::Enum(found) if found.ident == wanted.tag => Some(found),
            _ => None,
        });
        let found = found.unwrap_or_else(|| panic!("{}: no enum {}", header.display(), wanted.tag));
        write_enum(
            &mut source,
            wanted,
            &about(&found.attrs),
            &variants(wanted, found),
        );
    }
    source
}

/// What bindgen makes of the enumerations, with their comments.
fn describe(header: &Path, enums: &[CEnum]) -> String {
    let mut builder = bindgen::Builder::default()
        .header(header.display().to_string())
        .clang_args(["-std=c11", "-fparse-all-comments"])
        .prepend_enum_name(false);
    for wanted in enums {
        builder = builder
            .allowlist_type(wanted.tag)
            .rustified_enum(wanted.tag);
    }
    let bindings = builder.generate();
    bindings
        .expect("describe the enumerations; is libclang installed? (./dev setup)")
        .to_string()
}

struct Variant {
    /// In Rust: `NotTcp`.
    ident: String,
    /// For files and people: `not_tcp`.
    name: String,
    about: String,
}

fn variants(wanted: &CEnum, found: &ItemEnum) -> Vec<Variant> {
    let own = found.variants.iter();
    let own = own.filter(|v| wanted.count.is_none_or(|count| v.ident != count));
    own.enumerate()
        .map(|(number, variant)| {
            let c = variant.ident.to_string();
            let value = variant.discriminant.as_ref().map(|(_, value)| value);
            let numbered = value.and_then(literal) == Some(number.to_string());
            assert!(numbered, "{c}: expected {number}, the next number");
            let rest = c.strip_prefix(wanted.prefix);
            let rest = rest.unwrap_or_else(|| panic!("{c}: expected {}…", wanted.prefix));
            Variant {
                ident: camel_case(rest),
                name: rest.to_lowercase(),
                about: about(&variant.attrs),
            }
        })
        .collect()
}

/// A number as it is written.
fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(value) => match &value.lit {
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            _ => None,
        },
        _ => None,
    }
}

fn camel_case(shouted: &str) -> String {
    let words = shouted.split('_');
    words
        .map(|word| word[..1].to_owned() + &word[1..].to_lowercase())
        .collect()
}

/// The comment, in one line, without the full stop.
fn about(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(value) => match &value.lit {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
    let text = lines.collect::<Vec<_>>().join(" ");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches('.').to_owned()
}

fn write_enum(source: &mut String, wanted: &CEnum, about: &str, variants: &[Variant]) {
    let CEnum { tag, name, .. } = wanted;
    let count = variants.len();
    let mut lines = [const { String::new() }; 4];
    let [definitions, all, names, abouts] = &mut lines;
    for Variant { ident, name, about } in variants {
        let _ = writeln!(definitions, "    #[doc = {about:?}]");
        let _ = writeln!(definitions, "    #[serde(rename = {name:?})]\n    {ident},");
        let _ = write!(all, "Self::{ident}, ");
        let _ = writeln!(names, "            Self::{ident} => {name:?},");
        let _ = writeln!(abouts, "            Self::{ident} => {about:?},");
    }
    let _ = write!(
        source,
        r#"
#[doc = {about:?}]
///
/// C's `enum {tag}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[repr(u32)]
pub enum {name} {{
{definitions}}}

impl {name} {{
    /// All of them, in C's order.
    pub const ALL: [Self; {count}] = [{all}];

    /// As files and the command line spell it.
    pub const fn name(self) -> &'static str {{
        match self {{
{names}        }}
    }}

    /// What it is, in a sentence without its full stop.
    pub const fn about(self) -> &'static str {{
        match self {{
{abouts}        }}
    }}

    /// That of C's number; `None` where there is none.
    pub fn from_raw(raw: u32) -> Option<Self> {{
        Self::ALL.get(raw as usize).copied()
    }}
}}

impl std::fmt::Display for {name} {{
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {{
        f.pad(self.name())
    }}
}}
"#
    );
}

#[cfg(test)]
mod tests;
