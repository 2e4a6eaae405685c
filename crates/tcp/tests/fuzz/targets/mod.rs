//! The fuzz targets: each takes bytes and panics if a promise is broken.

pub mod endpoint;
pub mod input;
pub mod packet;
pub mod stream;
