//! UDP in batches, with the kernel's segmentation and coalescing (quinn-udp).

use super::Batch;
use super::batch::Group;
use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Datagrams, or trains of them, that one system call takes.
const TRAINS: usize = 8;

/// Bytes of a train at most.
const TRAIN_BYTES: usize = 65_536;

/// The buffer in bytes that we ask the kernel for; it gives as much as `net.core.rmem_max` allows.
const KERNEL_BUFFER: usize = 4 << 20;

/// A socket.
pub struct Socket {
    io: UdpSocket,
    udp: UdpSocketState,
    buffers: Vec<u8>,
}

impl Socket {
    /// Binds it. It never fragments.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(address)?;
        let udp = UdpSocketState::new((&socket).into())?;
        // As much as the kernel gives.
        let _ = udp.set_recv_buffer_size((&socket).into(), KERNEL_BUFFER);
        let _ = udp.set_send_buffer_size((&socket).into(), KERNEL_BUFFER);
        socket.set_nonblocking(true)?;
        Ok(Self {
            io: UdpSocket::from_std(socket)?,
            udp,
            buffers: vec![0; TRAINS * TRAIN_BYTES],
        })
    }

    /// Where it is bound.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Packets of one size that the kernel takes at once.
    pub fn segments(&self) -> usize {
        self.udp.max_gso_segments()
    }

    /// Waits until the socket can receive or, if `sending`, send.
    pub async fn ready(&self, sending: bool) -> io::Result<()> {
        let interest = match sending {
            true => Interest::READABLE | Interest::WRITABLE,
            false => Interest::READABLE,
        };
        self.io.ready(interest).await.map(|_| ())
    }

    /// Sends the batch; false: the kernel takes no more for now.
    pub fn send(&self, batch: &mut Batch) -> bool {
        while let Some((group, contents)) = batch.first() {
            match self.try_send(group, contents) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                // Not every device segments (EIO); quinn-udp notes that and drops the train.
                Err(_) if contents.len() > group.segment => {
                    for packet in contents.chunks(group.segment) {
                        let _ = self.try_send(group, packet);
                    }
                }
                // Packets that could not be sent for another reason are lost, as anywhere on the path.
                Ok(()) | Err(_) => {}
            }
            batch.pop();
            batch.set_most(self.segments());
        }
        true
    }

    fn try_send(&self, group: &Group, contents: &[u8]) -> io::Result<()> {
        let transmit = Transmit {
            destination: group.to,
            ecn: None,
            contents,
            segment_size: (contents.len() > group.segment).then_some(group.segment),
            src_ip: None,
        };
        let send = || self.udp.try_send((&self.io).into(), &transmit);
        self.io.try_io(Interest::WRITABLE, send)
    }

    /// Receives once; returns how many packets that were.
    pub fn receive(&mut self, mut each: impl FnMut(SocketAddr, &[u8])) -> usize {
        let mut metas = [RecvMeta::default(); TRAINS];
        let mut buffers = self.buffers.chunks_exact_mut(TRAIN_BYTES);
        let mut slices: [IoSliceMut; TRAINS] =
            std::array::from_fn(|_| IoSliceMut::new(buffers.next().expect("as many as trains")));
        let (io, udp) = (&self.io, &self.udp);
        let receive = || udp.recv(io.into(), &mut slices, &mut metas);
        let Ok(count) = io.try_io(Interest::READABLE, receive) else {
            return 0;
        };
        let mut packets = 0;
        let trains = self.buffers.chunks_exact(TRAIN_BYTES);
        for (meta, train) in metas[..count].iter().zip(trains) {
            for packet in train[..meta.len].chunks(meta.stride.max(1)) {
                each(meta.addr, packet);
                packets += 1;
            }
        }
        packets
    }
}

#[cfg(test)]
mod tests;
