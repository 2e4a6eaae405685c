//! A run step by step: advance, observe, act.

use crate::applications::Flow;
use crate::network::MeasuredLink;
use crate::outcome::result;
use crate::packet::ConnectionId;
use crate::run::{Options, Unsupported};
use crate::world::World;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_scenario::{Direction, LinkInputs, Run, RunResult, Scenario};
use tidegate_tcp::cc::Manual;

/// One run of a scenario, stepped by the caller.
///
/// The size of the steps changes nothing: a run that is only observed ends with the same bytes as
/// [`run_one`](crate::run_one), which is itself such a session. An action takes effect at the session's current time,
/// so the same steps with the same actions have the same result.
///
/// ```
/// use std::time::Duration;
/// use tidegate_scenario::Scenario;
/// use tidegate_sim::{Options, Session};
///
/// let scenario = r#"
///     name = "steps"
///     duration_s = 5
///     down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
///     up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
///     workload = [{ name = "download", does = { bulk = {} } }]
///     run = [{ name = "mine" }]
/// "#;
/// let path = std::path::Path::new("steps.toml");
/// let scenario = Scenario::parse(scenario, path)?;
/// let inputs = scenario.link_inputs(path)?;
/// let mut session = Session::new(&scenario, &inputs, &scenario.runs[0], &Options::default())?;
/// while !session.is_over() {
///     session.advance(Duration::from_millis(10));
///     let waits = session.link(0).is_some_and(|down| down.queued_packets > 20);
///     session.set_window(0, Some(if waits { 60_000 } else { 120_000 }));
/// }
/// assert!(session.finish().link.queue_delay_ms.p95 < 30.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    world: World,
    scenario: Scenario,
    run: Run,
    series: bool,
    /// The applications that have a flow, by number.
    flows: Vec<usize>,
}

/// A flow as it stands. Bytes and counts are since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowView {
    /// Whether data can flow: its connection is open.
    pub established: bool,
    /// Bytes of payload that the receiving application has read.
    pub received_bytes: u64,
    /// The sender's smoothed round trip; none before the first.
    pub srtt: Option<Duration>,
    /// The sender's last round trip; none before the first.
    pub last_rtt: Option<Duration>,
    /// The sender's smallest round trip of late; none before the first.
    pub min_rtt: Option<Duration>,
    /// The sender's congestion window in segments.
    pub cwnd_segments: u32,
    /// Segments that the sender believes in flight.
    pub in_flight_segments: u32,
    /// Payload of a full segment in bytes; 0 before the handshake is over.
    pub segment_bytes: u32,
    /// Bytes that the sender knows to have arrived, SYN and FIN included.
    pub acknowledged_bytes: u64,
    /// The window that the receiver has advertised, as the sender has it, in bytes.
    pub window_bytes: u64,
    /// The sender's pacing rate in bytes a second, if it has one.
    pub pacing_rate: Option<u64>,
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// A link as it stands. Packets and bytes are since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkView {
    /// Packets that have come to it.
    pub arrived_packets: u64,
    /// Packets that have come out of it.
    pub delivered_packets: u64,
    /// Their bytes, IP headers included.
    pub delivered_bytes: u64,
    /// Packets that the queue has dropped.
    pub dropped_packets: u64,
    /// Packets that were lost behind the queue.
    pub lost_packets: u64,
    /// Packets in the queue.
    pub queued_packets: usize,
    /// Their bytes.
    pub queued_bytes: usize,
    /// Queueing delay of the packet that came out last; 0 before the first.
    pub queue_delay: Duration,
}

impl Session {
    /// A run at its start. The options `stop` and `progress` have no effect.
    ///
    /// # Errors
    /// When the scenario asks for something that the simulator does not have.
    pub fn new(
        scenario: &Scenario,
        inputs: &LinkInputs,
        run: &Run,
        options: &Options,
    ) -> Result<Self, Unsupported> {
        let mut world = World::build(scenario, inputs, run, options)?;
        let applications = world.applications.iter_mut().enumerate();
        let flows = applications
            .filter_map(|(number, scheduled)| scheduled.application.flow().map(|_| number));
        Ok(Self {
            flows: flows.collect(),
            world,
            scenario: scenario.clone(),
            run: run.clone(),
            series: options.series,
        })
    }

    /// Virtual time since the start of the run.
    pub fn now(&self) -> Duration {
        self.world.network.now - Instant::ZERO
    }

    /// How long the run is.
    pub fn duration(&self) -> Duration {
        self.world.window.end - Instant::ZERO
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        self.world.network.now >= self.world.window.end
    }

    /// Goes on by that much, or to the end of the run.
    pub fn advance(&mut self, by: Duration) {
        let until = (self.world.network.now + by).min(self.world.window.end);
        self.world.advance(until);
    }

    /// How many flows there are: connections that live for as long as their workload.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The name of a flow, by its number from 0, as results have it; none if there is none.
    pub fn flow_name(&mut self, flow: usize) -> Option<&str> {
        self.flow_mut(flow).map(|flow| flow.name.as_str())
    }

    /// A flow as it stands; none if there is none of that number.
    pub fn flow(&mut self, flow: usize) -> Option<FlowView> {
        let number = *self.flows.get(flow)?;
        let World {
            applications,
            hosts,
            ..
        } = &mut self.world;
        let flow = applications[number].application.flow()?;
        let received_bytes = flow.received;
        let Some((_, end)) = flow.sending(hosts) else {
            return Some(FlowView {
                received_bytes,
                ..FlowView::default()
            });
        };
        let info = end.info();
        Some(FlowView {
            established: end.is_established(),
            received_bytes,
            srtt: info.srtt,
            last_rtt: info.last_rtt,
            min_rtt: info.min_rtt,
            cwnd_segments: info.cwnd,
            in_flight_segments: info.in_flight,
            segment_bytes: end.sender().mss(),
            acknowledged_bytes: end.sender().una(),
            window_bytes: info.peer_window,
            pacing_rate: info.pacing_rate,
            segments_sent: info.segments_sent,
            retransmits: info.retransmits,
            timeouts: info.timeouts,
        })
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.world.network.links.len()
    }

    /// A link as it stands: 0 is the downlink, 1 the uplink, then come the hops in the scenario's order; none if there is
    /// none of that number.
    pub fn link(&self, link: usize) -> Option<LinkView> {
        self.world.network.links.get(link).map(view)
    }

    /// Bytes that the link could have carried in the last `within`.
    pub fn capacity_bytes(&mut self, link: usize, within: Duration) -> u64 {
        let now = self.world.network.now;
        let from = Instant::ZERO + (now - Instant::ZERO).saturating_sub(within);
        let found = self.world.network.links.get_mut(link);
        found.map_or(0, |measured| measured.link.capacity_bytes(from, now))
    }

    /// Sets a receive window of that many bytes in place of the run's law; none: the law again. It takes effect with
    /// the next acknowledgement, and obeys the rules of every law (`laws/window.h`): it is never larger than the
    /// receiver's own, never smaller than two segments, and never takes back what was promised.
    ///
    /// Returns whether there is a connection of that flow.
    pub fn set_window(&mut self, flow: usize, bytes: Option<u32>) -> bool {
        let Some((connection, direction)) = self.connection(flow) else {
            return false;
        };
        let pair = self.world.hosts.pair_mut(connection);
        pair.is_some_and(|pair| pair.set_window(direction, bytes))
    }

    /// Puts the flow's sender under manual control from now on, in place of its congestion control.
    ///
    /// Returns whether there is a connection of that flow whose data may flow.
    pub fn set_sender(&mut self, flow: usize, manual: Manual) -> bool {
        let Some((connection, direction)) = self.connection(flow) else {
            return false;
        };
        let World { hosts, network, .. } = &mut self.world;
        let pair = hosts.pair_mut(connection);
        pair.is_some_and(|pair| pair.set_sender(network, direction, manual))
    }

    /// Runs to the end, and returns what the run has measured.
    pub fn finish(mut self) -> RunResult {
        self.advance(self.duration());
        result(self.world, &self.scenario, &self.run, self.series)
    }

    fn flow_mut(&mut self, flow: usize) -> Option<&mut Flow> {
        let number = *self.flows.get(flow)?;
        self.world.applications[number].application.flow()
    }

    fn connection(&mut self, flow: usize) -> Option<(ConnectionId, Direction)> {
        let flow = self.flow_mut(flow)?;
        Some((flow.connection?, flow.direction))
    }
}

fn view(measured: &MeasuredLink) -> LinkView {
    let stats = measured.link.stats();
    LinkView {
        arrived_packets: stats.arrived_packets,
        delivered_packets: stats.delivered_packets,
        delivered_bytes: stats.delivered_bytes,
        dropped_packets: stats.dropped,
        lost_packets: stats.lost,
        queued_packets: measured.link.queue_len(),
        queued_bytes: measured.link.queue_bytes(),
        queue_delay: measured.last_delay,
    }
}
