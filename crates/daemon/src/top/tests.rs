//! Tests of rows and tables.

mod devices;
mod filter;
mod once;
