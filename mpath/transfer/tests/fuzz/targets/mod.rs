//! The fuzz targets: each takes bytes and panics if a promise is broken.

pub mod ends;
pub mod files;
pub mod proxy;
pub mod registry;
pub mod token;
pub mod wire;
