//! Checks what a program can check in the documents: links, scenarios, and the commands of each page. Another test
//! checks that every command line is valid (`src/documents.rs`).

mod commands;
mod links;
#[allow(dead_code)] // Some of it is for src/documents.rs.
mod markdown;
mod paths;
mod scenarios;
