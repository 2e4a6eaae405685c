/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The fast path: one packet of a flow is measured now and then, and all others are only counted.
 *
 * No access link has a round trip of less than a millisecond. While a flow with such a round trip shows no queue, the
 * law leaves it the kernel's window; a flow that is left alone by a rule needs no measurement at all. Between two
 * measurements its packets are only counted, with the queue and the window of the last one: no clock is read, no record
 * is looked up, no lock is taken.
 *
 * The packets' own timestamps tell the time between two measurements. It doubles as long as no queue is found, and may
 * become longer the more flows there are, so that the cost of all measurements is bounded. A queue ends the fast path.
 * The next measurement comes earlier if a packet has news of an upload, a larger window than the last, the echo that
 * gives a round trip, or is anything but data or an acknowledgement with timestamps.
 *
 * No promise depends on a packet that was not measured: when the flow's acknowledgements may pass, its record forgets
 * the told window (window.h: the first that is measured again passes unchanged). The windows that arriving data may
 * promise to an upload are noted before the data pass.
 */
#ifndef TG_FAST_PATH_H
#define TG_FAST_PATH_H

#include "config.h"
#include "stats/counters.h"

/* Which directions' data are steered. */
const volatile bool serves[TG_DIRECTIONS] = { true, true };

static __always_inline int serves_uploads(void)
{
	return serves[TG_UP] && tg_upload_steered_by(params());
}

#define TG_FAST_PATH_SETS 4096u		 /* of two places each */
#define TG_FAST_PATH_HASH_SHIFT 20
#define TG_FAST_PATH_ROUND_US TG_MS_US	 /* a round trip that no access link has */
#define TG_FAST_PATH_BYTES TG_BULK_BYTES /* a flow that has brought less is not worth a place */
#define TG_FAST_PATH_FIRST_MS 4u	 /* time between the first two measurements */
#define TG_FAST_PATH_MOST_MS 64u	 /* the longest time between two */
#define TG_FAST_PATH_CROWD_MS 512u	 /* the longest time while many flows have places */
#define TG_FAST_PATH_PACKETS 255u	 /* the most packets that pass between two */
#define TG_FAST_PATH_SPAN_MS 256u	 /* time over which measurements of all flows are counted */
#define TG_FAST_PATH_MEASUREMENTS 512u	 /* more in that time are too many */
#define TG_FAST_PATH_STALE_MS 4096u	 /* without a measurement for so long, a place is free */
#define TG_FAST_PATH_TCP_BYTES 32u	 /* a header with timestamps and nothing else */
#define TG_FAST_PATH_DOFF 0x80		 /* byte 12 of it */
#define TG_FAST_PATH_FLAGS 0x37		 /* URG, ACK, RST, SYN and FIN in byte 13 of it */
#define TG_FAST_PATH_ACK 0x10		 /* the only one of these that it has */
#define TG_FAST_PATH_ENDS 0x05		 /* RST and FIN */

/* What every packet reads comes first; a place has two lines of a processor's cache. */
struct tg_fast_path {
	struct tg_key key; /* family 0: free */
	/* What arrives. */
	tg_u32 tsval;	 /* TSval of the last data that were measured */
	tg_u32 ticks;	 /* ticks of the peer's clock that may pass until the next measurement */
	tg_u32 ack;	 /* what those data acknowledged */
	tg_u32 window;	 /* the window that they had */
	tg_u32 packets;	 /* data packets that have passed since */
	tg_u32 bytes;	 /* payload of those */
	tg_u32 denied;	 /* whether a rule leaves the flow alone: chooses the sums in which passing packets count */
	tg_u32 uploads;	 /* whether uploads are served: chooses them, too */
	tg_u32 queue_us; /* queueing delay at the last measurement; TG_DELAY_UNKNOWN: none */
	/* What leaves. */
	tg_u32 may_answer;  /* whether acknowledgements may pass */
	tg_u32 noted_tsval; /* TSval of the last acknowledgement that was measured */
	tg_u32 seen_tsval;  /* TSval of the last acknowledgement */
	tg_u32 awaits;	    /* whether the echo of `noted_tsval` has not come yet */
	tg_u32 answers;	    /* acknowledgements that have passed since */
	tg_u32 told_bytes;  /* the window of the last that was measured */
	/* Both. */
	tg_u32 measured_ms; /* when a packet of it was last measured */
	tg_u32 interval_ms; /* time until the next measurement */
	tg_u32 reason;	    /* enum tg_count: what its data count as */
	tg_u32 unused[2];
};

struct tg_fast_path_set {
	struct tg_fast_path of[2];
};

_Static_assert(sizeof(struct tg_fast_path) == 128, "two lines");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* its values begin at a page */
	__uint(max_entries, TG_FAST_PATH_SETS);
	__type(key, __u32);
	__type(value, struct tg_fast_path_set);
} fast_path SEC(".maps");

/* The measurements of all flows together. */
struct tg_measurements {
	tg_u32 since_ms;
	tg_u32 measured; /* since then */
	tg_u32 most_ms;	 /* the longest time between two of one flow; 0 counts as TG_FAST_PATH_MOST_MS */
};

volatile struct tg_measurements all_measurements SEC(".data") = {};

/* Whether any flow ever had a place: until then look-ups are skipped. Behind an access link only flows that a rule leaves
 * alone have one. */
volatile __u32 has_fast_path SEC(".data") = 0;

/* The fields of a packet that the fast path checks. */
struct tg_glimpse {
	struct tg_fast_path *place; /* its flow's, or null */
	const struct tcphdr *tcp;   /* with the timestamps behind it, where nearly all packets have them */
	tg_u32 payload;
	tg_u32 ecn;
};

/* Both ports in one word. */
static __always_inline __u32 ports_of(const struct tg_key *key)
{
	return (__u32)key->remote_port << 16 | key->local_port;
}

/* The places of flows with this `sum`: the exclusive or of the first and last words of both addresses, and of the
 * ports. */
static __always_inline struct tg_fast_path_set *fast_path_set(__u32 sum)
{
	__u32 place = sum * 0x9e3779b1u >> TG_FAST_PATH_HASH_SHIFT;

	return bpf_map_lookup_elem(&fast_path, &place);
}

static __always_inline struct tg_fast_path_set *fast_path_set_of(const struct tg_key *key)
{
	return fast_path_set(key->local[0] ^ key->local[3] ^ key->remote[0] ^ key->remote[3] ^ ports_of(key));
}

static __always_inline int is_same_key(const struct tg_key *a, const struct tg_key *b)
{
	const __u64 *x = (const void *)a, *y = (const void *)b;

	_Static_assert(sizeof(*a) == 6 * sizeof(*x), "all of it");
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]) |
		 (x[5] ^ y[5]));
}

/* The flow's place, or null. */
static __always_inline struct tg_fast_path *find_fast_path(const struct tg_key *key)
{
	struct tg_fast_path_set *set = fast_path_set_of(key);

	if (!set)
		return NULL;
	if (is_same_key(&set->of[0].key, key))
		return &set->of[0];
	return is_same_key(&set->of[1].key, key) ? &set->of[1] : NULL;
}

/*
 * The same straight from a packet's headers, without building its key. Of the words of an IPv4 address only the first
 * is not 0 in a key.
 */

static __always_inline int is_of_ip4(const struct tg_key *key, __u32 local, __u32 remote, __u32 ports, __u32 ifindex)
{
	return !((key->local[0] ^ local) | (key->remote[0] ^ remote) | (ports_of(key) ^ ports) |
		 (key->ifindex ^ ifindex) | (key->family ^ 4) | key->vlan);
}

static __always_inline struct tg_fast_path *find_ip4(__u32 local, __u32 remote, __u32 ports, __u32 ifindex)
{
	struct tg_fast_path_set *set = fast_path_set(local ^ remote ^ ports);

	if (!set)
		return NULL;
	if (is_of_ip4(&set->of[0].key, local, remote, ports, ifindex))
		return &set->of[0];
	return is_of_ip4(&set->of[1].key, local, remote, ports, ifindex) ? &set->of[1] : NULL;
}

static __always_inline int is_same_ip6(const __u32 *a, const __u32 *b)
{
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

static __always_inline int is_of_ip6(const struct tg_key *key, const __u32 *local, const __u32 *remote, __u32 ports,
				     __u32 ifindex)
{
	return is_same_ip6(key->local, local) && is_same_ip6(key->remote, remote) &&
	       !((ports_of(key) ^ ports) | (key->ifindex ^ ifindex) | (key->family ^ 6) | key->vlan);
}

static __always_inline struct tg_fast_path *find_ip6(const __u32 *local, const __u32 *remote, __u32 ports, __u32 ifindex)
{
	struct tg_fast_path_set *set = fast_path_set(local[0] ^ local[3] ^ remote[0] ^ remote[3] ^ ports);

	if (!set)
		return NULL;
	if (is_of_ip6(&set->of[0].key, local, remote, ports, ifindex))
		return &set->of[0];
	return is_of_ip6(&set->of[1].key, local, remote, ports, ifindex) ? &set->of[1] : NULL;
}

/* The ports of a TCP header, as ports_of() has them. */
static __always_inline __u32 glimpse_ports(const struct tcphdr *tcp, __u32 leaves)
{
	return leaves ? (__u32)tcp->dest << 16 | tcp->source : (__u32)tcp->source << 16 | tcp->dest;
}

static __always_inline void glimpse_ip4(struct __sk_buff *skb, const struct iphdr *ip, __u32 l2,
					__u32 leaves, struct tg_glimpse *g)
{
	const struct tcphdr *tcp = (const void *)(ip + 1);
	__u32 headers = sizeof(*ip) + TG_FAST_PATH_TCP_BYTES;
	__u32 bytes;

	if ((const void *)ip + headers > (const void *)(long)skb->data_end || *(const __u8 *)ip != 0x45 ||
	    ip->protocol != IPPROTO_TCP || ip->frag_off & bpf_htons(TG_FRAGMENT))
		return;
	g->place = find_ip4(leaves ? ip->saddr : ip->daddr, leaves ? ip->daddr : ip->saddr,
			    glimpse_ports(tcp, leaves), skb->ifindex);
	bytes = bpf_ntohs(ip->tot_len);
	if (bytes < headers || bytes > skb->len - l2)
		g->place = NULL;
	g->tcp = tcp;
	g->payload = bytes - headers;
	g->ecn = ip->tos & (TG_ECNS - 1);
}

static __always_inline void glimpse_ip6(struct __sk_buff *skb, const struct ipv6hdr *ip, __u32 l2,
					__u32 leaves, struct tg_glimpse *g)
{
	const struct tcphdr *tcp = (const void *)(ip + 1);
	const void *local = leaves ? &ip->saddr : &ip->daddr;
	const void *remote = leaves ? &ip->daddr : &ip->saddr;
	__u32 bytes;

	if ((const void *)tcp + TG_FAST_PATH_TCP_BYTES > (const void *)(long)skb->data_end || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_TCP)
		return;
	g->place = find_ip6(local, remote, glimpse_ports(tcp, leaves), skb->ifindex);
	bytes = bpf_ntohs(ip->payload_len);
	if (bytes < TG_FAST_PATH_TCP_BYTES || bytes + sizeof(*ip) > skb->len - l2)
		g->place = NULL;
	g->tcp = tcp;
	g->payload = bytes - TG_FAST_PATH_TCP_BYTES;
	g->ecn = ip->flow_lbl[0] >> 4 & (TG_ECNS - 1);
}

/* Looks for the packet's place. */
static __always_inline void glimpse(struct __sk_buff *skb, __u32 l2, __u32 leaves, struct tg_glimpse *g)
{
	const void *ip = (void *)(long)skb->data + l2;

	g->place = NULL;
	if (skb->vlan_present)
		return;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		glimpse_ip4(skb, ip, l2, leaves, g);
	else if (skb->protocol == bpf_htons(ETH_P_IPV6))
		glimpse_ip6(skb, ip, l2, leaves, g);
}

/* A timestamp of the packet: TSval (0) or TSecr (1). */
static __always_inline __u32 stamp(const struct tcphdr *tcp, __u32 which)
{
	return bpf_ntohl(((const __be32 *)(tcp + 1))[1 + which]);
}

/* Whether it is an acknowledgement with timestamps, no other option, and no flag that has to be looked at. */
static __always_inline int is_plain(const struct tcphdr *tcp)
{
	const __u8 *bytes = (const void *)tcp;

	return bytes[12] == TG_FAST_PATH_DOFF && (bytes[13] & TG_FAST_PATH_FLAGS) == TG_FAST_PATH_ACK &&
	       *(const __be32 *)(tcp + 1) == bpf_htonl(TG_TIMESTAMP_ALIGNED);
}

static __always_inline int ends_data(const struct tcphdr *tcp)
{
	return (((const __u8 *)tcp)[13] & TG_FAST_PATH_ENDS) != 0;
}

static __always_inline int data_pass(const struct tg_fast_path *s, const struct tg_glimpse *g)
{
	return is_plain(g->tcp) && g->payload && s->packets < TG_FAST_PATH_PACKETS &&
	       stamp(g->tcp, 0) - s->tsval <= s->ticks && bpf_ntohl(g->tcp->ack_seq) == s->ack &&
	       bpf_ntohs(g->tcp->window) <= s->window && !(s->awaits && stamp(g->tcp, 1) == s->noted_tsval);
}

static __always_inline int answer_passes(const struct tg_fast_path *s, const struct tg_glimpse *g)
{
	return is_plain(g->tcp) && !g->payload && s->may_answer &&
	       stamp(g->tcp, 0) - s->noted_tsval < 2 * s->interval_ms;
}

/* A packet of the flow passes in direction `way`. */
static __always_inline void count_passed(struct __sk_buff *skb, __u32 l2, const struct tg_fast_path *s,
					 const struct tg_glimpse *g, __u32 way)
{
	__u32 place = place_of(skb->ifindex);
	struct tg_tally *t = bpf_map_lookup_elem(&tallies, &place);
	struct tg_pass *pass;

	if (!t)
		return;
	pass = &t->passed[way][s->denied & 1][s->uploads & 1][g->ecn];
	pass->packets++;
	pass->wire += wire_packets_of(skb, g->payload);
	pass->bytes += skb->len - l2;
	pass->payload += g->payload;
}

/* Add to the histograms: the queue of the data that have passed, and the window of the acknowledgements that have. */

static __always_inline void show_queue(const struct tg_fast_path *s)
{
	if (s->packets && s->reason == TG_COUNT_MEASURED)
		observe_queue(TG_DOWN, s->queue_us, s->packets);
}

static __always_inline void show_window(const struct tg_fast_path *s)
{
	if (s->answers && s->reason == TG_COUNT_MEASURED)
		observe_window(TG_DOWN, s->told_bytes, s->answers);
}

/*
 * Whether an arriving packet, and a leaving one, may pass without being measured. If not, `passed` gets the packets
 * that passed before it. Global functions: the verifier checks each once.
 */

TG_ON_ITS_OWN int data_may_pass(struct __sk_buff *skb, struct tg_passed *passed, __u32 l2)
{
	struct tg_glimpse g;
	struct tg_fast_path *s;

	l2 &= 15;
	if (!passed)
		return 0;
	glimpse(skb, l2, 0, &g);
	s = g.place;
	if (!s)
		return 0;
	if (data_pass(s, &g)) {
		s->packets++;
		s->bytes += g.payload;
		count_passed(skb, l2, s, &g, TG_DOWN);
		return 1;
	}
	show_queue(s);
	passed->packets = s->packets;
	passed->bytes = s->bytes;
	s->packets = 0;
	s->bytes = 0;
	if (ends_data(g.tcp)) {
		show_window(s);
		s->answers = 0;
		s->key.family = 0;
	}
	return 0;
}

TG_ON_ITS_OWN int answer_may_pass(struct __sk_buff *skb, struct tg_passed *passed, __u32 l2)
{
	struct tg_glimpse g;
	struct tg_fast_path *s;

	l2 &= 15;
	if (!passed)
		return 0;
	glimpse(skb, l2, 1, &g);
	s = g.place;
	if (!s)
		return 0;
	if (answer_passes(s, &g)) {
		s->seen_tsval = stamp(g.tcp, 0);
		s->answers++;
		count_passed(skb, l2, s, &g, TG_UP);
		return 1;
	}
	passed->again = s->may_answer && s->seen_tsval == stamp(g.tcp, 0);
	show_window(s);
	s->answers = 0;
	return 0;
}

/* Counts a measurement. Returns the longest time between two of one flow, which grows with the number of flows:
 * together they must not take too much CPU time, and with many flows each measurement costs more, since its record is
 * not in the caches. Two CPUs may count two measurements as one. */
static __always_inline __u32 note_measurement(__u32 now_ms)
{
	__u32 most_ms = tg_max(all_measurements.most_ms, TG_FAST_PATH_MOST_MS);

	if ((__s32)(now_ms - all_measurements.since_ms) >= (__s32)TG_FAST_PATH_SPAN_MS) {
		if (all_measurements.measured > TG_FAST_PATH_MEASUREMENTS)
			most_ms = tg_min(2 * most_ms, TG_FAST_PATH_CROWD_MS);
		else if (all_measurements.measured < TG_FAST_PATH_MEASUREMENTS / 4)
			most_ms = tg_max(most_ms / 2, TG_FAST_PATH_MOST_MS);
		all_measurements.most_ms = most_ms;
		all_measurements.since_ms = now_ms;
		all_measurements.measured = 0;
	}
	all_measurements.measured++;
	return most_ms;
}

/* Whether a place is free, or its flow is gone. Another CPU's clock may be ahead. */
static __always_inline int is_free(const struct tg_fast_path *s, __u32 now_ms)
{
	return !s->key.family || (__s32)(now_ms - s->measured_ms) > (__s32)TG_FAST_PATH_STALE_MS;
}

/* A place for the flow: its own, one that is free, or one of a flow that is gone; or null. */
static __always_inline struct tg_fast_path *fast_path_place(const struct tg_packet *p)
{
	struct tg_fast_path_set *set = fast_path_set_of(&p->key);
	__u32 now_ms = (__u32)(p->now_us >> 10);

	if (!set)
		return NULL;
	if (is_same_key(&set->of[0].key, &p->key))
		return &set->of[0];
	if (is_same_key(&set->of[1].key, &p->key))
		return &set->of[1];
	if (is_free(&set->of[0], now_ms))
		return &set->of[0];
	if (is_free(&set->of[1], now_ms))
		return &set->of[1];
	return NULL;
}

/* The data that follow may pass until the next measurement; they count under `reason`, and with this packet's queue.
 * Returns whether there is a place. */
__noinline int let_pass(const struct tg_packet *p, __u32 reason, __u32 tick_us, __u32 queue_us)
{
	struct tg_fast_path *s;

	if (!p)
		return 0;
	s = fast_path_place(p);
	if (!s)
		return 0;
	if (!is_same_key(&s->key, &p->key) || s->reason != reason) {
		show_queue(s);
		show_window(s);
		*s = (struct tg_fast_path){
			.key = p->key,
			.reason = reason,
			.interval_ms = TG_FAST_PATH_FIRST_MS,
		};
		has_fast_path = 1;
	} else if (p->options.tsval - s->tsval >= s->ticks / 4) {
		s->interval_ms *= 2;
	}
	s->measured_ms = (__u32)(p->now_us >> 10);
	s->interval_ms = tg_min(s->interval_ms, note_measurement(s->measured_ms));
	s->tsval = p->options.tsval;
	s->ticks = 2 * s->interval_ms * TG_MS_US / tg_max(tick_us, 1);
	s->ack = p->ack;
	s->window = p->window;
	s->queue_us = queue_us;
	s->denied = reason == TG_COUNT_DENIED;
	s->uploads = serves_uploads() != 0;
	if (s->awaits && p->options.tsecr == s->noted_tsval)
		s->awaits = 0;
	return 1;
}

/* The acknowledgements that follow may pass until the next measurement, and count with this one's window. The caller's
 * record has forgotten the told window. */
__noinline int let_answers_pass(const struct tg_packet *p, __u32 told_bytes)
{
	struct tg_fast_path *s;

	if (!p)
		return 0;
	s = find_fast_path(&p->key);
	if (!s)
		return 0;
	s->may_answer = 1;
	s->told_bytes = told_bytes;
	s->awaits = !p->passed.again;
	s->noted_tsval = p->options.tsval;
	s->seen_tsval = p->options.tsval;
	return 0;
}

/* Takes the flow off the fast path. */
__noinline int measure_again(const struct tg_packet *p)
{
	struct tg_fast_path *s;

	if (!p)
		return 0;
	s = find_fast_path(&p->key);
	if (s)
		s->key.family = 0;
	return 0;
}

/* Whether a flow that was measured just now may take the fast path. */
static __always_inline int is_beyond(const struct tg_flow *f)
{
	__u32 law = params()->law;

	return f->rtt_min_us && f->rtt_min_us < TG_FAST_PATH_ROUND_US && f->wanted == TG_UNLIMITED &&
	       f->queue_us <= TG_TIDE_EMPTY_US && !f->member.sharing.joined &&
	       f->received >= TG_FAST_PATH_BYTES && !tg_flow_clockless(f, params()) && (law == TG_LAW_TIDE || law == TG_LAW_NONE);
}

#endif
