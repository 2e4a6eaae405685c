//! A download over quiche, which does no I/O: the loop around it sends each packet when quiche says.

use anyhow::{Context, Result, bail, ensure};
use download::{ALPN, CHUNK, End, Meter, NAME, Task, Terms, WINDOW};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use quiche::{Config, Connection, ConnectionId, Error, MAX_CONN_ID_LEN, RecvInfo, SendInfo};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The client's first bidirectional stream.
const STREAM: u64 = 0;

/// Bytes of a datagram, so that it fits into an Ethernet frame with IPv6's header, too.
const DATAGRAM: usize = 1452;

/// Datagrams that wait at an end.
const QUEUED: usize = 1000;

const IDLE_MS: u64 = 30_000;

fn main() -> Result<()> {
    match End::from_arguments()? {
        End::Server(terms) => serve(&terms),
        End::Client(terms) => fetch(&terms),
    }
}

fn config(terms: &Terms) -> Result<Config> {
    terms.expect(&[Task::Resumption, Task::Datagrams])?;
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[ALPN.as_bytes()])?;
    config.set_max_idle_timeout(IDLE_MS);
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(WINDOW.into());
    config.set_initial_max_stream_data_bidi_local(WINDOW.into());
    config.set_initial_max_stream_data_bidi_remote(WINDOW.into());
    config.set_max_connection_window(WINDOW.into());
    config.set_max_stream_window(WINDOW.into());
    config.set_initial_max_streams_bidi(1);
    match terms.task {
        Task::Resumption => config.enable_early_data(),
        Task::Datagrams => config.enable_dgram(true, QUEUED, QUEUED),
        _ => {}
    }
    Ok(config)
}

/// quiche needs file names in UTF-8.
fn name(file: PathBuf) -> Result<String> {
    let name = file.into_os_string().into_string().ok();
    name.context("a folder with a name in UTF-8")
}

fn serve(terms: &Terms) -> Result<()> {
    let mut config = config(terms)?;
    config.load_cert_chain_from_pem_file(&name(terms.certificate())?)?;
    config.load_priv_key_from_pem_file(&name(terms.key())?)?;
    config.set_cc_algorithm_name(&terms.control)?;
    let socket = UdpSocket::bind(terms.server)?;
    // A client that resumes comes twice.
    loop {
        let outcome = attend(terms, &mut config, socket.try_clone()?);
        eprintln!("{outcome:?}");
    }
}

fn attend(terms: &Terms, config: &mut Config, socket: UdpSocket) -> Result<()> {
    let mut first = [0; 1 << 16];
    socket.set_nonblocking(false)?;
    let (length, client) = socket.recv_from(&mut first)?;
    let id = ConnectionId::from_ref(&[1; MAX_CONN_ID_LEN]);
    let connection = quiche::accept(&id, None, terms.server, client, config)?;
    let mut end = Ends::new(connection, socket)?;
    end.hear(&mut first[..length], client)?;
    let chunk = [0; CHUNK];
    end.run(|connection| {
        // Both fail if the client has not asked yet, or the connection takes no more.
        if terms.task == Task::Datagrams {
            let asked = connection.stream_readable(STREAM);
            let most = connection.dgram_max_writable_len().filter(|_| asked);
            while most.is_some_and(|most| connection.dgram_send(&chunk[..most]).is_ok()) {}
        } else {
            while connection.stream_send(STREAM, &chunk, false).is_ok() {}
        }
        true
    })
}

fn fetch(terms: &Terms) -> Result<()> {
    let mut config = config(terms)?;
    config.load_verify_locations_from_file(&name(terms.certificate())?)?;
    config.verify_peer(true);
    let mut meter = Meter::new(terms.period);
    let outcome = ticket(terms, &mut config)
        .and_then(|ticket| receive(terms, &mut config, ticket.as_deref(), &mut meter));
    meter.print(outcome)
}

fn connect(terms: &Terms, config: &mut Config) -> Result<Ends> {
    let socket = UdpSocket::bind(SocketAddr::new([0, 0, 0, 0].into(), 0))?;
    socket.connect(terms.server)?;
    let id = ConnectionId::from_ref(&[2; MAX_CONN_ID_LEN]);
    let local = socket.local_addr()?;
    let connection = quiche::connect(Some(NAME), &id, local, terms.server, config)?;
    Ends::new(connection, socket)
}

/// The ticket of a first connection, if it is to be resumed.
fn ticket(terms: &Terms, config: &mut Config) -> Result<Option<Vec<u8>>> {
    if terms.task != Task::Resumption {
        return Ok(None);
    }
    let mut end = connect(terms, config)?;
    end.run(|connection| connection.session().is_none())?;
    end.connection.close(true, 0, b"")?;
    end.speak()?;
    Ok(end.connection.session().map(<[u8]>::to_vec))
}

fn receive(
    terms: &Terms,
    config: &mut Config,
    ticket: Option<&[u8]>,
    meter: &mut Meter,
) -> Result<()> {
    let mut end = connect(terms, config)?;
    if let Some(ticket) = ticket {
        end.connection.set_session(ticket)?;
        // quiche reads the ticket as it makes its first packet.
        end.speak()?;
        ensure!(end.connection.is_in_early_data(), "no 0-RTT");
    }
    let mut asked = false;
    let mut refused = false;
    let mut bytes = vec![0; 1 << 20];
    end.run(|connection| {
        let ready = connection.is_established() || connection.is_in_early_data();
        if !asked && ready {
            asked = connection.stream_send(STREAM, b"?", false).is_ok();
        }
        while let Ok((came, _)) = connection.stream_recv(STREAM, &mut bytes) {
            meter.count(came);
        }
        while let Ok(came) = connection.dgram_recv(&mut bytes) {
            meter.count(came);
        }
        refused = ticket.is_some() && connection.is_established() && !connection.is_resumed();
        !refused && !meter.left().is_zero()
    })?;
    ensure!(!refused, "the server refused 0-RTT");
    Ok(())
}

/// One end of a connection, with its socket.
struct Ends {
    connection: Connection,
    socket: UdpSocket,
    local: SocketAddr,
    /// A packet that is made, and waits for its time.
    next: Option<(Vec<u8>, SendInfo)>,
}

impl Ends {
    fn new(connection: Connection, socket: UdpSocket) -> Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            connection,
            local: socket.local_addr()?,
            socket,
            next: None,
        })
    }

    /// Runs until `application` returns false, or the connection is closed.
    fn run(&mut self, mut application: impl FnMut(&mut Connection) -> bool) -> Result<()> {
        while application(&mut self.connection) {
            self.speak()?;
            if self.connection.is_closed() || self.connection.is_draining() {
                let (mine, peer) = (self.connection.local_error(), self.connection.peer_error());
                let silent = self.connection.is_timed_out();
                bail!("closed: timed out: {silent}, error: {mine:?}, the peer's: {peer:?}");
            }
            self.wait()?;
            self.listen()?;
        }
        Ok(())
    }

    /// Sends the packets whose time has come.
    fn speak(&mut self) -> Result<()> {
        loop {
            if self.next.is_none() {
                let mut packet = vec![0; DATAGRAM];
                match self.connection.send(&mut packet) {
                    Ok((length, info)) => {
                        packet.truncate(length);
                        self.next = Some((packet, info));
                    }
                    Err(Error::Done) => return Ok(()),
                    Err(error) => return Err(error.into()),
                }
            }
            let Some((packet, info)) = self.next.take_if(|(_, info)| info.at <= Instant::now())
            else {
                return Ok(());
            };
            match self.socket.send_to(&packet, info.to) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.next = Some((packet, info));
                    return Ok(());
                }
                // A socket may report an ICMP error for an earlier packet.
                _ => {}
            }
        }
    }

    /// Waits for a packet, a timeout, or the next packet's time.
    fn wait(&mut self) -> Result<()> {
        const MOST: Duration = Duration::from_millis(20);
        let paced = self.next.as_ref().map(|(_, info)| info.at);
        let paced = paced.map(|at| at.saturating_duration_since(Instant::now()));
        let pause = [self.connection.timeout(), paced, Some(MOST)];
        let pause = pause.into_iter().flatten().min().unwrap_or(MOST);
        let mut watched = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        ppoll(&mut watched, Some(TimeSpec::from_duration(pause)), None)?;
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<()> {
        let mut packet = [0; 1 << 16];
        loop {
            match self.socket.recv_from(&mut packet) {
                Ok((length, from)) => self.hear(&mut packet[..length], from)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn hear(&mut self, packet: &mut [u8], from: SocketAddr) -> Result<()> {
        let to = self.local;
        match self.connection.recv(packet, RecvInfo { from, to }) {
            Ok(_) | Err(Error::Done) => Ok(()),
            Err(error) => Err(error).context("receive"),
        }
    }
}
