//! Inference, forecasts, the two ends, each by itself.

mod ends;
mod inference;
