use super::*;
use std::net::Ipv4Addr;
use std::time::Duration;

/// More packets than the kernel segments (UDP_MAX_SEGMENTS): it refuses the train, as for a device that cannot segment.
const TOO_MANY: usize = 200;

#[tokio::test]
async fn a_train_that_is_refused_goes_packet_by_packet() {
    let loopback = (Ipv4Addr::LOCALHOST, 0).into();
    let socket = Socket::bind(loopback).unwrap();
    let peer = std::net::UdpSocket::bind(loopback).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let to = peer.local_addr().unwrap();
    socket.ready(true).await.unwrap();
    let mut batch = Batch::new(TOO_MANY);
    for number in 0..TOO_MANY {
        batch.push(to, None, |out| out.extend([number as u8; 10]));
    }
    assert_eq!(batch.first().unwrap().1.len(), TOO_MANY * 10, "one train");
    assert!(socket.send(&mut batch));
    let mut packet = [0; 20];
    for number in 0..TOO_MANY {
        assert_eq!(peer.recv(&mut packet).unwrap(), 10);
        assert_eq!(packet[0], number as u8);
    }
    // From now on there are no trains.
    batch.push(to, None, |out| out.extend([1; 10]));
    batch.push(to, None, |out| out.extend([2; 10]));
    assert_eq!(batch.first().unwrap().1.len(), 10);
}
