use super::*;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

#[test]
fn close_is_sent_so_often_and_no_more() {
    let mut shutdown = Shutdown::closing(ms(0));
    let sent: Vec<u64> = (0..5000).filter(|&t| shutdown.sends_close(ms(t))).collect();
    assert_eq!(sent, [0, 50, 150, 350, 750]);
    assert!(!shutdown.is_over(ms(1549)) && shutdown.is_over(ms(1550)));
}

/// The peer may have removed the connection by the time at which this end would have sent its close message.
#[test]
fn after_the_peers_close_message_none_is_sent() {
    let mut shutdown = Shutdown::closing(ms(0));
    shutdown.peer_closed(ms(0));
    assert!(!shutdown.sends_close(ms(0)));
    assert!(!shutdown.is_over(ms(2999)) && shutdown.is_over(ms(3000)));
}
