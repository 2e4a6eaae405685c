//! Target: any bytes as a message. What is read and written again is the same; times may only be cut to
//! what can be told.

use tidegate_probe::{decode, encode};

pub fn run(data: &[u8]) {
    let Ok(message) = decode(data) else { return };
    let bytes = encode(&message);
    assert_eq!(decode(&bytes).map(|again| encode(&again)), Ok(bytes));
}
