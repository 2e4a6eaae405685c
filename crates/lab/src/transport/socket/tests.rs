use super::listen;
use nix::sys::socket::{getsockopt, sockopt};
use std::net::{Ipv4Addr, TcpStream};

/// At least one of these two is not the machine's default.
#[test]
fn a_connection_starts_with_the_congestion_control_of_its_listener() {
    for name in ["reno", "cubic"] {
        let listener = listen(Ipv4Addr::LOCALHOST.into(), name, libc::IPPROTO_TCP).unwrap();
        listener.set_nonblocking(false).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let used = getsockopt(&server, sockopt::TcpCongestion).unwrap();
        assert_eq!(used, name);
    }
}
