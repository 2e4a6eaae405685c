use super::*;
use crate::rejected::Rejections;
use crate::session::{Initiator, respond};
use crate::{Identity, Token};
use std::net::Ipv4Addr;
use tidegate_mpath::wire::write_control;

fn connection() -> State {
    let identity = Identity::generate();
    let token = Token::new(&identity, Vec::new(), None);
    let initiator = Initiator::new(&token, 1).unwrap();
    let (session, _) = respond(&identity, &initiator.hello()).unwrap();
    let parameters = Parameters {
        config: Config::default(),
        session,
        peer: (Ipv4Addr::LOCALHOST, 9).into(),
        peer_moves: true,
        envelope: 0,
        seed: 1,
    };
    State::new(Instant::ZERO, parameters)
}

/// Such a connection would be removed, and its reader never woken.
#[test]
fn an_answer_to_no_close_message_ends_nothing() {
    let mut state = connection();
    let (now, peer) = (Instant::ZERO, state.peer);
    let mut closed = Vec::new();
    write_control(&mut closed, 1, Control::Closed);
    let receive = |state: &mut State| {
        state.receive_plain(now, peer, 0, &closed, &Rejections::default());
    };
    receive(&mut state);
    assert!(!state.is_over(now));
    state.close(now);
    receive(&mut state);
    assert!(state.is_over(now));
}
