//! The documents are true as far as a program can tell: their links, their scenarios, and the commands of each page.
//! That every command line is understood is a test of the program's own (`src/documents.rs`).

mod commands;
mod links;
#[allow(dead_code)] // Some of it is for src/documents.rs.
mod markdown;
mod paths;
mod scenarios;
