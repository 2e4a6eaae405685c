//! Results for people: [`table`] for a terminal, [`page`] for a browser, and the figures that
//! pages are made of ([`plot`]).

pub mod colour;
pub mod plot;

mod agreement;
mod axis;
mod columns;
mod digest;
mod fairness;
mod figures;
#[cfg(test)]
mod fixture;
mod grid;
mod history;
mod html;
mod metrics;
mod number;
mod overview;
mod page;
mod provenance;
mod quantity;
mod reading;
mod responsiveness;
mod ruler;
mod summary;
mod svg;
mod table;
mod tables;
mod thin;

pub use columns::{ColumnMeaning, TableMeaning, meanings};
pub use fairness::jain;
pub use html::escape;
pub use metrics::{METRICS, Measured, Metric};
pub use number::{fixed, mbps};
pub use page::{agreement_page, document, page, responsive};
pub use provenance::provenance;
pub use reading::reading;
pub use table::{agreement_table, table};
pub use thin::thin;
