//! The C declarations as bindgen reads them. Tests and the agent use them directly; other code wants the types beside
//! this module.
#![allow(
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case
)]
#![allow(clippy::all, clippy::undocumented_unsafe_blocks)]

include!(concat!(env!("OUT_DIR"), "/laws.rs"));
