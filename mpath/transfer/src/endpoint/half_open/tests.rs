use super::*;
use crate::Token;
use crate::mtu;
use crate::session::Initiator;

#[test]
fn there_is_room_for_so_many_and_time_makes_more() {
    let identity = Identity::generate();
    let token = Token::new(&identity, Vec::new(), None);
    let mut half_open = HalfOpen::default();
    let mut answer_to = |now, connection| {
        let initiator = Initiator::new(&token, connection).unwrap();
        let answer = half_open.answer(now, &identity, &initiator.hello());
        answer.map(<[u8]>::len)
    };
    for connection in 0..MOST as u64 {
        // The answer is smaller than the hello.
        assert!(answer_to(Instant::ZERO, connection).unwrap() < mtu::BASE);
    }
    assert_eq!(answer_to(Instant::ZERO, 1000), Err(Unanswered::Full));
    assert!(answer_to(Instant::ZERO + LIFETIME, 1000).is_ok());
}

#[test]
fn a_repeated_hello_has_the_same_answer_and_another_has_none() {
    let identity = Identity::generate();
    let token = Token::new(&identity, Vec::new(), None);
    let mut half_open = HalfOpen::default();
    let initiator = Initiator::new(&token, 1).unwrap();
    let mut answer_to = |initiator: &Initiator| {
        let answer = half_open.answer(Instant::ZERO, &identity, &initiator.hello());
        answer.map(<[u8]>::to_vec)
    };
    let first = answer_to(&initiator).unwrap();
    assert_eq!(answer_to(&initiator), Ok(first));
    let other = Initiator::new(&token, 1).unwrap();
    assert_eq!(answer_to(&other), Err(Unanswered::Unauthenticated));
}

/// An attacker has recorded every hello: these take no place.
#[test]
fn a_recorded_hello_takes_no_place() {
    let identity = Identity::generate();
    let token = Token::new(&identity, Vec::new(), None);
    let mut half_open = HalfOpen::default();
    let hello = |connection| Initiator::new(&token, connection).unwrap();
    let recorded: Vec<_> = (0..MOST as u64).map(hello).collect();
    for initiator in &recorded {
        let answer = half_open.answer(Instant::ZERO, &identity, &initiator.hello());
        answer.unwrap();
        // Half of them are really opened.
        half_open.take(initiator.hello().connection / 2 * 2);
    }
    let later = Instant::ZERO + LIFETIME;
    for initiator in &recorded {
        let answer = half_open.answer(later, &identity, &initiator.hello());
        assert_eq!(answer.map(drop), Err(Unanswered::Replayed));
    }
    let fresh = hello(1000);
    assert!(half_open.answer(later, &identity, &fresh.hello()).is_ok());
}
