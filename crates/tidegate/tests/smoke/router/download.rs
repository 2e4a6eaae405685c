//! A download that runs until it is ended, and its state at the sender.

use std::io::{Read, Write};
use std::mem::zeroed;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};
use tidegate_lab::{Namespace, use_congestion_control};

/// Time until a queue has built up, or the law has shortened it.
const SETTLES: Duration = Duration::from_secs(3);

/// How many looks we take, and the time between two.
const LOOKS: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(50);

pub struct Download {
    sender: TcpStream,
    receiver: TcpStream,
    arrived: Arc<AtomicU64>,
    ends: Vec<JoinHandle<()>>,
}

/// Measured over some seconds, after the download has settled.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The median of the sender's round trips, which include the queue.
    pub round_ms: f64,
    pub mbps: f64,
}

impl Download {
    pub fn start(from: &Namespace, to: &Namespace) -> Self {
        let listener = from
            .run(|| Ok(TcpListener::bind("203.0.113.1:0")?))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let mut near = to.run(|| Ok(TcpStream::connect(address)?)).unwrap();
        let (sender, _) = listener.accept().unwrap();
        // On an emulated CPU CUBIC's HyStart may take any delay for a queue, and then builds none for seconds.
        use_congestion_control(&sender, "reno").unwrap();
        let receiver = near.try_clone().unwrap();
        let mut far = sender.try_clone().unwrap();
        let arrived = Arc::<AtomicU64>::default();
        let sum = Arc::clone(&arrived);
        let receive = move || {
            let mut room = vec![0; 1 << 16];
            while let Ok(bytes @ 1..) = near.read(&mut room) {
                sum.fetch_add(bytes as u64, Ordering::Relaxed);
            }
        };
        let send = move || while far.write_all(&[7; 1 << 15]).is_ok() {};
        Self {
            sender,
            receiver,
            arrived,
            ends: vec![thread::spawn(receive), thread::spawn(send)],
        }
    }

    pub fn look(&self) -> Seen {
        sleep(SETTLES);
        let (before, began) = (self.arrived.load(Ordering::Relaxed), Instant::now());
        let look = |_| {
            sleep(BETWEEN);
            self.round_ms()
        };
        let mut rounds: Vec<_> = (0..LOOKS).map(look).collect();
        rounds.sort_unstable_by(f64::total_cmp);
        let bytes = self.arrived.load(Ordering::Relaxed) - before;
        Seen {
            round_ms: rounds[rounds.len() / 2],
            mbps: bytes as f64 * 8e-6 / began.elapsed().as_secs_f64(),
        }
    }

    fn round_ms(&self) -> f64 {
        // SAFETY: all zeroes are a valid tcp_info.
        let mut info: libc::tcp_info = unsafe { zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        // SAFETY: structure and length outlive the call.
        let status = unsafe {
            libc::getsockopt(
                self.sender.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        assert_eq!(status, 0);
        f64::from(info.tcpi_rtt) / 1e3
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        // Packets still on the way are refused, so that the next download has the link for itself.
        let _ = self.receiver.shutdown(Shutdown::Both);
        // If no packet passes, the sender would never learn of it.
        let _ = self.sender.shutdown(Shutdown::Both);
        for end in self.ends.drain(..) {
            let _ = end.join();
        }
    }
}
