//! Inference, forecasts, and each of the two ends by itself.

mod ends;
mod inference;
