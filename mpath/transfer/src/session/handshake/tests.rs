use super::*;
use tidegate_mpath::wire::{self, Packet, Sealed};

fn token(identity: &Identity) -> Token {
    Token::new(identity, Vec::new(), None)
}

fn open(session: &mut Session, packet: &[u8]) -> Result<Vec<u8>, super::super::Refused> {
    let Ok(Packet::Sealed(sealed)) = wire::parse(packet) else {
        panic!("no sealed packet");
    };
    let mut plain = Vec::new();
    session.open(&sealed, &mut plain).map(|_| plain)
}

fn pair(cipher: Cipher) -> (Session, Session) {
    let identity = Identity::with_cipher(cipher);
    let initiator = Initiator::new(&token(&identity), 5).unwrap();
    let (far, message) = respond(&identity, &initiator.hello()).unwrap();
    let near = initiator.finish(&message).ok().unwrap();
    (near, far)
}

#[test]
fn each_end_reads_what_the_other_seals_and_nothing_else() {
    each_end_reads(Cipher::AesGcm);
    each_end_reads(Cipher::ChaChaPoly);
}

fn each_end_reads(cipher: Cipher) {
    let (mut near, mut far) = pair(cipher);
    let mut packet = Vec::new();
    near.seal(b"there", &mut packet);
    assert_eq!(open(&mut far, &packet).unwrap(), b"there");
    let mut back = Vec::new();
    far.seal(b"back", &mut back);
    assert_eq!(open(&mut near, &back).unwrap(), b"back");
    // An end's own packet that is sent back to it does not pass as the peer's, with the same number or another.
    let mut own = Vec::new();
    near.seal(b"again", &mut own);
    assert!(open(&mut near, &own).is_err());
    assert_eq!(
        open(&mut far, &packet),
        Err(super::super::Refused::Replayed)
    );
    assert_eq!(open(&mut far, &own).unwrap(), b"again");
}

#[test]
fn a_forgery_does_not_move_the_window() {
    let (mut near, mut far) = pair(Cipher::fastest());
    let mut packet = Vec::new();
    near.seal(b"there", &mut packet);
    let Ok(Packet::Sealed(sealed)) = wire::parse(&packet) else {
        panic!("no sealed packet");
    };
    let forged = Sealed {
        nonce: 1 << 40,
        ..sealed
    };
    let refused = far.open(&forged, &mut Vec::new());
    assert_eq!(refused, Err(super::super::Refused::Forged));
    assert_eq!(open(&mut far, &packet).unwrap(), b"there");
}

#[test]
fn a_forged_answer_does_not_spoil_the_true_one() {
    let identity = Identity::generate();
    let initiator = Initiator::new(&token(&identity), 5).unwrap();
    let (mut far, message) = respond(&identity, &initiator.hello()).unwrap();
    let mut forged = message.clone();
    *forged.last_mut().unwrap() ^= 1;
    let mut other = message.clone();
    other[0] ^= 1;
    let mut initiator = initiator;
    for bad in [&forged[..], &other, &message[..20], b""] {
        initiator = *initiator.finish(bad).err().unwrap();
    }
    let mut near = initiator.finish(&message).ok().unwrap();
    let mut packet = Vec::new();
    near.seal(b"there", &mut packet);
    assert_eq!(open(&mut far, &packet).unwrap(), b"there");
}

#[test]
fn only_who_holds_the_token_is_answered() {
    let identity = Identity::generate();
    let right = token(&identity);
    let wrong = [
        Token {
            secret: [1; 32],
            ..right.clone()
        },
        Token {
            id: [1; 16],
            ..right.clone()
        },
        Token {
            key: Identity::generate().public,
            ..right.clone()
        },
    ];
    for token in wrong {
        let initiator = Initiator::new(&token, 5).unwrap();
        assert!(
            respond(&identity, &initiator.hello()).is_none(),
            "{token:?}"
        );
    }
    let initiator = Initiator::new(&right, 5).unwrap();
    // Nor is a proof valid for another connection.
    let moved = Hello {
        connection: 6,
        ..initiator.hello()
    };
    assert!(respond(&identity, &moved).is_none());
    assert!(respond(&identity, &initiator.hello()).is_some());
}

#[test]
fn a_key_wears_out() {
    let (mut near, _) = pair(Cipher::AesGcm);
    near.blocks = 3;
    for exhausted in [false, true] {
        assert_eq!(near.is_exhausted(), exhausted);
        near.seal(&[0; 20], &mut Vec::new());
    }
}
