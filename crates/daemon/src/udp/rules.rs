//! The administrator's rules for flows without a window: the first rule that matches a flow decides.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use strum::{EnumString, VariantNames};
use tidegate_agent::{Direction, Directions, Interface, Kind, Prefix};
use tidegate_gate::Choice;
use tidegate_scenario::Udp;

/// The port of QUIC servers, which `fallback` and `auto` apply to by default.
const HTTPS: u16 = 443;

/// A rule's conditions and its action; a condition that is absent matches every flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Ports of the far end.
    pub remote_ports: Option<RangeInclusive<u16>>,
    /// Addresses of the far end.
    pub remote: Option<Prefix>,
    /// Name of an interface.
    pub interface: Option<String>,
    /// Which way its data go.
    pub direction: Option<Direction>,
    /// What is done with the flow. A rule that turns connections away and names no port applies to QUIC's.
    pub action: Udp,
}

/// What is done with flows that match no rule.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, EnumString, VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Otherwise {
    /// HTTP/3 is held where this machine can hold: QUIC to port 443 whose handshake was seen. All else is left alone.
    #[default]
    Auto,
    /// They are held, in the directions that are held at all ([`Rules::holds`]).
    Hold,
    /// QUIC is turned away, so that clients take TCP.
    Fallback,
    /// They are left alone.
    Leave,
}

/// The rules, and what applies to flows that match none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// In order: the first that matches decides.
    pub rules: Vec<Rule>,
    /// What is done with flows that match no rule.
    pub otherwise: Otherwise,
    /// The directions that are held by rules without a direction, and for flows that match no rule.
    pub holds: Directions,
}

/// A flow without a window, as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Sort<'a> {
    /// The interface's name.
    pub interface: &'a str,
    /// The far end.
    pub remote: SocketAddr,
    /// Which way its data go.
    pub direction: Direction,
    /// The kind of traffic.
    pub kind: Kind,
}

impl From<Udp> for Otherwise {
    fn from(all: Udp) -> Self {
        match all {
            Udp::Hold => Self::Hold,
            Udp::Fallback => Self::Fallback,
            Udp::Leave => Self::Leave,
        }
    }
}

impl Otherwise {
    /// The strongest action that it may take.
    const fn at_most(self) -> Udp {
        match self {
            Self::Auto | Self::Hold => Udp::Hold,
            Self::Fallback => Udp::Fallback,
            Self::Leave => Udp::Leave,
        }
    }

    /// Whether flows of this kind may be held.
    fn holds(self, kind: Kind) -> bool {
        self == Self::Hold || self == Self::Auto && kind == Kind::Quic
    }

    fn verdict(self, sort: Sort<'_>, holds: Directions) -> Udp {
        let held = self.holds(sort.kind) && holds.include(sort.direction);
        match self {
            Self::Auto if held && sort.remote.port() == HTTPS => Udp::Hold,
            Self::Hold if held => Udp::Hold,
            Self::Fallback => Udp::Fallback,
            Self::Auto | Self::Hold | Self::Leave => Udp::Leave,
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::all(Udp::Leave)
    }
}

impl Rule {
    fn ports(&self) -> RangeInclusive<u16> {
        let all = match self.action {
            Udp::Fallback => HTTPS..=HTTPS,
            Udp::Hold | Udp::Leave => 0..=u16::MAX,
        };
        self.remote_ports.clone().unwrap_or(all)
    }

    fn is_on(&self, interface: &str) -> bool {
        self.interface.as_ref().is_none_or(|of| of == interface)
    }

    /// Whether the rule applies to `direction`; `holds` are the directions held by default.
    fn includes(&self, direction: Direction, holds: Directions) -> bool {
        match (self.direction, self.action) {
            (Some(own), _) => own == direction,
            (None, Udp::Hold) => holds.include(direction),
            (None, Udp::Fallback | Udp::Leave) => true,
        }
    }

    fn is_about(&self, sort: Sort<'_>) -> bool {
        self.is_on(sort.interface)
            && self.ports().contains(&sort.remote.port())
            && self.remote.is_none_or(|p| p.contains(sort.remote.ip()))
    }

    fn choice(&self, interface: u32) -> Choice {
        Choice {
            interface: Some(interface),
            remote_ports: self.ports(),
            remote: self.remote.map(|prefix| (prefix.address, prefix.bits)),
            rejects: self.action == Udp::Fallback,
        }
    }
}

impl Rules {
    /// The same action for all flows; only downloads are held.
    pub fn all(otherwise: impl Into<Otherwise>) -> Self {
        Self {
            rules: Vec::new(),
            otherwise: otherwise.into(),
            holds: Directions::Downloads,
        }
    }

    /// What is done with such a flow.
    pub fn verdict(&self, sort: Sort<'_>) -> Udp {
        match self.rule_about(sort) {
            Some(rule) => rule.action,
            None => self.otherwise.verdict(sort, self.holds),
        }
    }

    /// Whether the administrator has decided about such a flow, rather than [`Otherwise::Auto`].
    pub fn is_ruled(&self, sort: Sort<'_>) -> bool {
        self.otherwise != Otherwise::Auto || self.rule_about(sort).is_some()
    }

    fn rule_about(&self, sort: Sort<'_>) -> Option<&Rule> {
        let is_about =
            |rule: &&Rule| rule.is_about(sort) && rule.includes(sort.direction, self.holds);
        self.rules.iter().find(is_about)
    }

    /// Gives up the hold that `auto` implies. Rules that name it stay.
    pub fn give_up_hold(&mut self) {
        if self.otherwise == Otherwise::Auto {
            self.otherwise = Otherwise::Leave;
        }
    }

    /// Whether any flow may get this action.
    pub fn may(&self, action: Udp) -> bool {
        self.otherwise.at_most() == action || self.rules.iter().any(|rule| rule.action == action)
    }

    /// Whether the administrator has asked for the hold by name, so that its failure is an error.
    pub fn ask_for_hold(&self) -> bool {
        let asks = |rule: &Rule| rule.action == Udp::Hold;
        self.otherwise == Otherwise::Hold || self.rules.iter().any(asks)
    }

    /// Whether flows of that interface whose data go `direction` may be held.
    pub fn may_hold_on(&self, interface: &str, direction: Direction) -> bool {
        self.any_holds(direction, None, |rule| rule.is_on(interface))
    }

    /// The directions in which any flow may be held.
    pub fn held_directions(&self) -> Vec<Direction> {
        let held = |direction: &Direction| self.may_hold(*direction);
        Direction::ALL.into_iter().filter(held).collect()
    }

    /// The kinds of flows that may be held.
    pub fn held_kinds(&self) -> Vec<Kind> {
        let held = |kind: &Kind| {
            Direction::ALL
                .iter()
                .any(|way| self.may_hold_kind(*kind, *way))
        };
        Kind::ALL.into_iter().filter(held).collect()
    }

    /// Whether flows of that kind whose data go `direction` may be held.
    pub fn may_hold_kind(&self, kind: Kind, direction: Direction) -> bool {
        kind.may_be_held() && self.any_holds(direction, Some(kind), |_| true)
    }

    /// Whether any flow whose data go `direction` may be held.
    pub fn may_hold(&self, direction: Direction) -> bool {
        self.any_holds(direction, None, |_| true)
    }

    fn any_holds(
        &self,
        direction: Direction,
        kind: Option<Kind>,
        asked: impl Fn(&Rule) -> bool,
    ) -> bool {
        let holds = |rule: &Rule| {
            rule.action == Udp::Hold && rule.includes(direction, self.holds) && asked(rule)
        };
        let of_kind = self.otherwise.holds(kind.unwrap_or(Kind::Quic));
        (of_kind && self.holds.include(direction)) || self.rules.iter().any(holds)
    }

    /// The rules as the fallback takes them, for these interfaces. A connection's first packets show no direction, so
    /// rules with a direction are left out.
    pub fn choices(&self, interfaces: &[Interface]) -> Vec<Choice> {
        let otherwise = Rule {
            action: self.otherwise.at_most(),
            ..Rule::default()
        };
        let of = |interface: &Interface| {
            let rules = self.rules.iter().chain([&otherwise]);
            let rules =
                rules.filter(|rule| rule.is_on(&interface.name) && rule.direction.is_none());
            rules
                .map(|rule| rule.choice(interface.index))
                .collect::<Vec<_>>()
        };
        interfaces.iter().flat_map(of).collect()
    }
}

/// Where echoes go that measure the delay of held flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EchoPlace {
    /// To each flow's own server.
    #[default]
    Server,
    /// To this address.
    At(IpAddr),
}

impl EchoPlace {
    /// The fixed address; none: each flow's own server.
    pub const fn address(self) -> Option<IpAddr> {
        match self {
            Self::Server => None,
            Self::At(address) => Some(address),
        }
    }
}

impl std::str::FromStr for EchoPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "server" {
            return Ok(Self::Server);
        }
        let wrong =
            || format!("\"{text}\" is no place for echoes, expected \"server\" or an address");
        text.parse().map(Self::At).map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_agent::{
        Direction::{Down, Up},
        LinkLayer,
    };

    fn prefix(address: &str, bits: u8) -> Option<Prefix> {
        let address = address.parse().unwrap();
        Some(Prefix { address, bits })
    }

    fn udp(interface: &str, remote: SocketAddr, direction: Direction) -> Sort<'_> {
        Sort {
            interface,
            remote,
            direction,
            kind: Kind::Udp,
        }
    }

    /// By default the agent holds downloads over HTTP/3, and nothing else.
    #[test]
    fn auto_holds_quic_whose_handshake_was_seen_to_port_443() {
        let https = "203.0.113.1:443".parse().unwrap();
        let mut rules = Rules::all(Otherwise::Auto);
        let verdict = |rules: &Rules, kind, remote, direction| {
            rules.verdict(Sort {
                kind,
                ..udp("wwan0", remote, direction)
            })
        };
        for kind in Kind::ALL {
            let expected = match kind {
                Kind::Quic => Udp::Hold,
                _ => Udp::Leave,
            };
            assert_eq!(verdict(&rules, kind, https, Down), expected, "{kind:?}");
            assert_eq!(rules.may_hold_kind(kind, Down), expected == Udp::Hold);
            assert_eq!(verdict(&rules, kind, https, Up), Udp::Leave, "{kind:?}");
        }
        let other = "203.0.113.1:4433".parse().unwrap();
        assert_eq!(verdict(&rules, Kind::Quic, other, Down), Udp::Leave);
        assert!(rules.may_hold(Down) && !rules.may_hold(Up) && !rules.ask_for_hold());
        // Rules come before the default, and ask by name.
        rules.rules = vec![Rule {
            remote_ports: Some(443..=443),
            action: Udp::Leave,
            ..Rule::default()
        }];
        assert_eq!(verdict(&rules, Kind::Quic, https, Down), Udp::Leave);
        assert!(!rules.ask_for_hold());
        rules.rules[0].action = Udp::Hold;
        assert_eq!(verdict(&rules, Kind::Udp, https, Down), Udp::Hold);
        assert!(rules.ask_for_hold());
        // A rule about uploads decides nothing about a download.
        rules.rules[0].direction = Some(Up);
        assert!(!rules.is_ruled(udp("wwan0", https, Down)));
        assert!(rules.is_ruled(udp("wwan0", https, Up)));
    }

    #[test]
    fn what_cannot_be_held_is_left_unless_somebody_asked() {
        for (asked, becomes) in [
            (Otherwise::Auto, Otherwise::Leave),
            (Otherwise::Hold, Otherwise::Hold),
        ] {
            let mut rules = Rules::all(asked);
            rules.give_up_hold();
            assert_eq!(rules.otherwise, becomes);
        }
    }

    /// On wwan0 all but calls and one neighbourhood is held; QUIC of one prefix is turned away.
    fn rules() -> Rules {
        let rule = |action| Rule {
            action,
            ..Rule::default()
        };
        Rules {
            rules: vec![
                Rule {
                    remote_ports: Some(3478..=3481),
                    ..rule(Udp::Leave)
                },
                Rule {
                    remote: prefix("192.0.2.0", 24),
                    ..rule(Udp::Leave)
                },
                Rule {
                    remote: prefix("2001:db8::", 32),
                    ..rule(Udp::Fallback)
                },
                Rule {
                    interface: Some("wwan0".into()),
                    ..rule(Udp::Hold)
                },
            ],
            ..Rules::all(Udp::Leave)
        }
    }

    /// Uploads are held only where a rule says so.
    #[test]
    fn what_is_held_is_downloads_unless_somebody_says_otherwise() {
        let remote = "203.0.113.1:443".parse().unwrap();
        let mut rules = Rules::all(Udp::Hold);
        let verdicts =
            |rules: &Rules| [Down, Up].map(|way| rules.verdict(udp("wwan0", remote, way)));
        assert_eq!(verdicts(&rules), [Udp::Hold, Udp::Leave]);
        assert!(!rules.may_hold_on("wwan0", Up) && !rules.may_hold(Up));
        rules.holds = Directions::Uploads;
        assert_eq!(verdicts(&rules), [Udp::Leave, Udp::Hold]);
        rules.holds = Directions::Both;
        assert_eq!(verdicts(&rules), [Udp::Hold; 2]);
        assert!(rules.may_hold_on("wwan0", Up) && rules.may_hold(Up));
        // A rule with a direction applies to that alone; a hold rule without one applies to the directions held by
        // default.
        let rule = |direction, action| Rule {
            direction,
            action,
            ..Rule::default()
        };
        let mut rules = Rules {
            rules: vec![rule(Some(Up), Udp::Hold)],
            ..Rules::all(Udp::Leave)
        };
        assert_eq!(verdicts(&rules), [Udp::Leave, Udp::Hold]);
        assert!(rules.may_hold_on("wwan0", Up) && !rules.may_hold_on("wwan0", Down));
        rules.rules = vec![rule(None, Udp::Hold), rule(None, Udp::Fallback)];
        assert_eq!(verdicts(&rules), [Udp::Hold, Udp::Fallback]);
        rules.rules = vec![rule(None, Udp::Leave), rule(Some(Up), Udp::Hold)];
        assert_eq!(verdicts(&rules), [Udp::Leave; 2]);
    }

    #[test]
    fn the_first_rule_that_is_about_a_flow_decides() {
        let rules = rules();
        let cases = [
            ("wwan0", "203.0.113.1:443", Udp::Hold),
            ("eth0", "203.0.113.1:443", Udp::Leave),
            ("wwan0", "203.0.113.1:3481", Udp::Leave),
            ("wwan0", "203.0.113.1:3482", Udp::Hold),
            ("wwan0", "192.0.2.9:443", Udp::Leave),
            ("wwan0", "[2001:db8::1]:443", Udp::Fallback),
            // The rule says nothing of other ports.
            ("wwan0", "[2001:db8::1]:4433", Udp::Hold),
            ("eth0", "[2001:db8::1]:443", Udp::Fallback),
        ];
        for (interface, remote, action) in cases {
            let verdict = rules.verdict(udp(interface, remote.parse().unwrap(), Down));
            assert_eq!(verdict, action, "{interface} {remote}");
        }
        assert!(rules.may_hold_on("wwan0", Down) && !rules.may_hold_on("eth0", Down));
        assert!(rules.may(Udp::Hold) && rules.may(Udp::Fallback));
        assert!(!Rules::all(Udp::Fallback).may(Udp::Hold));
    }

    /// The fallback's choices decide as the rules do.
    #[test]
    fn choices_say_what_the_rules_say() {
        let interface = |name: &str, index| Interface {
            name: name.into(),
            index,
            link_layer: LinkLayer::PlainIp,
        };
        let interfaces = [interface("wwan0", 3), interface("eth0", 5)];
        for rules in [rules(), Rules::all(Udp::Fallback), Rules::all(Udp::Hold)] {
            let choices = rules.choices(&interfaces);
            for interface in &interfaces {
                for remote in [
                    "203.0.113.1:443",
                    "203.0.113.1:3479",
                    "192.0.2.9:443",
                    "[2001:db8::1]:443",
                    "[2001:db8::1]:4433",
                ] {
                    let remote: SocketAddr = remote.parse().unwrap();
                    let about = |c: &&Choice| {
                        let is_in =
                            |(address, bits)| Prefix { address, bits }.contains(remote.ip());
                        c.interface == Some(interface.index)
                            && c.remote_ports.contains(&remote.port())
                            && c.remote.is_none_or(is_in)
                    };
                    let rejects = choices.iter().find(about).is_some_and(|c| c.rejects);
                    let verdict = rules.verdict(udp(&interface.name, remote, Down));
                    let meant = verdict == Udp::Fallback && remote.port() == HTTPS;
                    assert_eq!(rejects, meant, "{} {remote}", interface.name);
                }
            }
        }
    }

    #[test]
    fn a_place_for_echoes_is_an_address_or_the_server() {
        assert_eq!("server".parse(), Ok(EchoPlace::Server));
        let address = "2001:db8::1";
        let there = EchoPlace::At(address.parse().unwrap());
        assert_eq!(address.parse(), Ok(there));
        let refused = "gateway".parse::<EchoPlace>().unwrap_err();
        assert!(refused.contains("gateway") && refused.contains("expected"));
    }
}
