use super::Pattern;

const PATTERN: Pattern = Pattern::new(42);

#[test]
fn a_stream_is_the_same_however_it_is_cut() {
    let mut whole = vec![0; 1000];
    PATTERN.fill(&mut whole, 0);
    for cut in 0..100 {
        let mut parts = vec![0; 1000];
        let (a, b) = parts.split_at_mut(cut);
        PATTERN.fill(a, 0);
        PATTERN.fill(b, cut as u64);
        assert_eq!(parts, whole, "cut at {cut}");
        PATTERN.check(&whole[cut..], cut as u64).unwrap();
        PATTERN.check(&whole[..cut], 0).unwrap();
    }
}

#[test]
fn every_wrong_byte_is_found_and_named() {
    let mut data = vec![0; 61];
    PATTERN.fill(&mut data, 3);
    for wrong in 0..data.len() {
        data[wrong] ^= 0x80;
        let error = PATTERN.check(&data, 3).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("byte {} ", wrong + 3)),
            "{error}"
        );
        data[wrong] ^= 0x80;
    }
}

#[test]
fn bytes_from_elsewhere_are_refused() {
    let mut data = vec![0; 4096];
    PATTERN.fill(&mut data, 4096);
    for shift in [-4096, -1448, -8, -1, 1, 8, 1448, 4096] {
        assert!(
            PATTERN.check(&data, (4096 + shift) as u64).is_err(),
            "{shift}"
        );
    }
    assert!(Pattern::new(43).check(&data, 4096).is_err());
}
