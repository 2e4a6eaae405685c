//! The paths are the paper's.

use super::paths::{KB, Path, SCENARIOS};
use crate::means::mean;

/// Table 3's last column, and section 5.2's rule for the buffer.
#[test]
fn ideals_and_buffers_are_those_of_table_3() {
    for (number, ideal, kilobytes) in [
        (1, 2.0, 128.0),
        (2, 4.0, 256.0),
        (3, 3.33, 213.0),
        (4, 4.0, 256.0),
        (5, 11.0, 704.0),
    ] {
        let ours = Path::scenario(number).ideal();
        assert!((ours - ideal).abs() < 0.01, "{number}: {ours}");
        let buffer = ours * 1e6 / 8.0 * super::paths::RTT_S / KB as f64;
        assert!((buffer / kilobytes - 1.0).abs() < 0.02, "{number}: {buffer}");
        let reads = mean(SCENARIOS[number - 1].0.iter().copied());
        assert!(reads >= ours);
    }
}
