use super::*;

fn token() -> Token {
    let addresses = vec![([192, 0, 2, 1], 4460).into()];
    Token::new(
        &Identity::generate(),
        addresses,
        Some("http://registry.example:7000".into()),
    )
}

#[test]
fn what_is_printed_is_read() {
    let token = token();
    let line = token.to_string();
    assert!(
        line.starts_with("tgm1-") && !line.contains(char::is_whitespace),
        "{line}"
    );
    assert_eq!(line.parse(), Ok(token.clone()));
    assert_eq!(format!(" {line}\n").parse(), Ok(token));
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let line = token().to_string();
    for place in PREFIX.len()..line.len() {
        let mut damaged = line.clone().into_bytes();
        damaged[place] = if damaged[place] == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(damaged).unwrap();
        assert_eq!(
            damaged.parse::<Token>(),
            Err(TokenError::Checksum),
            "{damaged}"
        );
        assert!(line[..place].parse::<Token>().is_err());
    }
    assert_eq!("tgm1-ab!c".parse::<Token>(), Err(TokenError::Character(8)));
    assert_eq!("tgm2-abc".parse::<Token>(), Err(TokenError::Prefix));
    assert_eq!("".parse::<Token>(), Err(TokenError::Prefix));
}

#[test]
fn the_secret_is_not_in_what_is_logged() {
    let token = Token {
        secret: [65; 32],
        ..token()
    };
    assert!(!format!("{token:?}").contains("65, 65"));
}
