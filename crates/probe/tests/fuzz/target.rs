//! Target: any bytes as a message. A message that is read and written again is the same; only times may be cut to the
//! wire's range.

use tidegate_probe::{decode, encode};

pub fn run(data: &[u8]) {
    let Ok(message) = decode(data) else { return };
    let bytes = encode(&message);
    assert_eq!(decode(&bytes).map(|again| encode(&again)), Ok(bytes));
}
