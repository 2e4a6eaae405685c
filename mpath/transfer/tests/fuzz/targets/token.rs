//! Target: any line as a token of a receiver or of an overlay. Since no fuzzer finds a checksum, the bytes are also
//! used as the content under a correct one.

use data_encoding::BASE64URL_NOPAD;
use tidegate_overlay::Secret;
use tidegate_transfer::Token;

pub fn run(data: &[u8]) {
    if let Ok(line) = std::str::from_utf8(data) {
        receiver(line);
        if let Ok(secret) = line.parse::<Secret>() {
            assert!(secret.to_string().parse() == Ok(secret));
        }
    }
    receiver(&with_checksum(data));
}

fn receiver(line: &str) {
    if let Ok(token) = line.parse::<Token>() {
        assert_eq!(token.to_string().parse(), Ok(token));
    }
}

pub fn with_checksum(content: &[u8]) -> String {
    let hash = blake3::hash(content);
    let bytes = [content, &hash.as_bytes()[..4]].concat();
    format!("tgm1-{}", BASE64URL_NOPAD.encode(&bytes))
}
