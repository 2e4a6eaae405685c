/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Flows at which a look now and then is enough.
 *
 * No access link has a round trip of less than a millisecond. While a flow with such a round trip shows no queue, the
 * law leaves it the kernel's window; a flow that is left alone by a rule needs no look at all. Between two looks their
 * packets are only counted, with the queue and the window of the last look: no clock is read, no record is looked up,
 * no lock is taken.
 *
 * The packets' own timestamps tell the time between two looks. It doubles as long as nothing is found, and the more
 * flows there are, the longer it may become: what looks take in all is bounded. A queue ends it. A look comes earlier if
 * a packet has news of an upload, a larger window than the last, the echo that gives a round trip, or is anything but
 * data or an acknowledgement with timestamps.
 *
 * No promise depends on a packet that was not looked at: when the flow's acknowledgements may pass, its record forgets
 * the told window (window.h: the first that is looked at again passes unchanged), and windows that arriving data may
 * promise to an upload are noted before.
 */
#ifndef TG_SELDOM_H
#define TG_SELDOM_H

#include "machine.h"
#include "sight.h"

/* Which directions' data are steered. */
const volatile bool serves[TG_DIRECTIONS] = { true, true };

static __always_inline int serves_uploads(void)
{
	return serves[TG_UP] && tg_upload_steered_by(params());
}

#define TG_SELDOM_SETS 4096u /* of two places each */
#define TG_SELDOM_HASH_SHIFT 20
#define TG_SELDOM_ROUND_US TG_MS_US	  /* a round trip that no access link has */
#define TG_SELDOM_BYTES (64 * TG_DEFAULT_MSS) /* who has brought less is not worth a place */
#define TG_SELDOM_FIRST_MS 4u		  /* between the first two looks, */
#define TG_SELDOM_MOST_MS 64u		  /* and at most, */
#define TG_SELDOM_CROWD_MS 512u		  /* or this while many flows have places; */
#define TG_SELDOM_PACKETS 255u		  /* nor do more packets than this pass between two */
#define TG_SELDOM_SPAN_MS 256u		  /* in so long */
#define TG_SELDOM_LOOKS 512u		  /* so many looks at all of them are enough */
#define TG_SELDOM_STALE_MS 4096u	  /* a place of which nothing was looked at for so long is another flow's */
#define TG_SELDOM_TCP_BYTES 32u		  /* a header with timestamps and nothing else */
#define TG_SELDOM_DOFF 0x80		  /* byte 12 of it */
#define TG_SELDOM_FLAGS 0x37		  /* URG, ACK, RST, SYN and FIN in byte 13, */
#define TG_SELDOM_ACK 0x10		  /* of which it has this one; */
#define TG_SELDOM_ENDS 0x05		  /* RST and FIN */

/* What every packet reads comes first; a place has two lines of a processor's cache. */
struct tg_seldom {
	struct tg_key key; /* family 0: free */
	/* What arrives. */
	tg_u32 tsval;	/* of the last data that were looked at, */
	tg_u32 ticks;	/* and how many more of the peer's may pass */
	tg_u32 ack;	/* what they acknowledged, */
	tg_u32 window;	/* and the window that they had */
	tg_u32 packets; /* that have passed since, */
	tg_u32 bytes;	/* and their payload */
	tg_u32 denied;	/* what tells the sums in which they count: */
	tg_u32 uploads; /* whether a rule leaves the flow alone, and whether uploads are served */
	tg_u32 queue_us; /* that the last was shown with; TG_DELAY_UNKNOWN: none */
	/* What leaves. */
	tg_u32 may_answer;  /* whether acknowledgements may pass */
	tg_u32 noted_tsval; /* of the last that was looked at, */
	tg_u32 seen_tsval;  /* and of the last at all */
	tg_u32 awaits;	    /* whether the former's echo has not come yet */
	tg_u32 answers;	    /* that have passed since, */
	tg_u32 told_bytes;  /* and the window that they are shown with */
	/* Both. */
	tg_u32 looked_ms;  /* when something of it was last looked at, */
	tg_u32 patience_ms; /* and how long that is good for */
	tg_u32 reason;	   /* enum tg_count: what its data count as */
	tg_u32 unused[2];
};

struct tg_seldom_set {
	struct tg_seldom of[2];
};

_Static_assert(sizeof(struct tg_seldom) == 128, "two lines");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* its values begin at a page */
	__uint(max_entries, TG_SELDOM_SETS);
	__type(key, __u32);
	__type(value, struct tg_seldom_set);
} seldom SEC(".maps");

/* The looks at all flows together. */
struct tg_looks {
	tg_u32 since_ms;
	tg_u32 looks;	/* since then */
	tg_u32 most_ms; /* that may be between two looks at one flow; 0 counts as TG_SELDOM_MOST_MS */
};

volatile struct tg_looks all_looks SEC(".data") = {};

/* Whether a flow ever had a place: behind an access link nothing is looked for here. */
volatile __u32 has_seldom SEC(".data") = 0;

/* Where a packet's fields are that are checked without a look. */
struct tg_glimpse {
	struct tg_seldom *place; /* its flow's, or null */
	const struct tcphdr *tcp; /* with the timestamps behind it, where nearly all packets have them */
	tg_u32 payload;
	tg_u32 ecn;
};

/* Both ports in one word. */
static __always_inline __u32 ports_of(const struct tg_key *key)
{
	return (__u32)key->remote_port << 16 | key->local_port;
}

/* Where flows are that have such a sum of words of addresses and ports. */
static __always_inline struct tg_seldom_set *seldom_set(__u32 sum)
{
	__u32 place = sum * 0x9e3779b1u >> TG_SELDOM_HASH_SHIFT;

	return bpf_map_lookup_elem(&seldom, &place);
}

static __always_inline struct tg_seldom_set *seldom_set_of(const struct tg_key *key)
{
	return seldom_set(key->local[0] ^ key->local[3] ^ key->remote[0] ^ key->remote[3] ^ ports_of(key));
}

static __always_inline int is_same_key(const struct tg_key *a, const struct tg_key *b)
{
	const __u64 *x = (const void *)a, *y = (const void *)b;

	_Static_assert(sizeof(*a) == 6 * sizeof(*x), "all of it");
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]) |
		 (x[5] ^ y[5]));
}

/* The flow's place, or null. */
static __always_inline struct tg_seldom *find_seldom(const struct tg_key *key)
{
	struct tg_seldom_set *set = seldom_set_of(key);

	if (!set)
		return NULL;
	if (is_same_key(&set->of[0].key, key))
		return &set->of[0];
	return is_same_key(&set->of[1].key, key) ? &set->of[1] : NULL;
}

/*
 * The same for a packet, whose key is not put together: the words of an address stand in it, and
 * IPv4's are all that is not 0 in its key.
 */

static __always_inline int is_of_ip4(const struct tg_key *key, __u32 local, __u32 remote, __u32 ports, __u32 ifindex)
{
	return !((key->local[0] ^ local) | (key->remote[0] ^ remote) | (ports_of(key) ^ ports) |
		 (key->ifindex ^ ifindex) | (key->family ^ 4) | key->vlan);
}

static __always_inline struct tg_seldom *find_ip4(__u32 local, __u32 remote, __u32 ports, __u32 ifindex)
{
	struct tg_seldom_set *set = seldom_set(local ^ remote ^ ports);

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

static __always_inline struct tg_seldom *find_ip6(const __u32 *local, const __u32 *remote, __u32 ports, __u32 ifindex)
{
	struct tg_seldom_set *set = seldom_set(local[0] ^ local[3] ^ remote[0] ^ remote[3] ^ ports);

	if (!set)
		return NULL;
	if (is_of_ip6(&set->of[0].key, local, remote, ports, ifindex))
		return &set->of[0];
	return is_of_ip6(&set->of[1].key, local, remote, ports, ifindex) ? &set->of[1] : NULL;
}

/* Those of a TCP header. */
static __always_inline __u32 glimpse_ports(const struct tcphdr *tcp, __u32 leaves)
{
	return leaves ? (__u32)tcp->dest << 16 | tcp->source : (__u32)tcp->source << 16 | tcp->dest;
}

static __always_inline void glimpse_ip4(struct __sk_buff *skb, const struct iphdr *ip, __u32 l2,
					__u32 leaves, struct tg_glimpse *g)
{
	const struct tcphdr *tcp = (const void *)(ip + 1);
	__u32 headers = sizeof(*ip) + TG_SELDOM_TCP_BYTES;
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

	if ((const void *)tcp + TG_SELDOM_TCP_BYTES > (const void *)(long)skb->data_end || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_TCP)
		return;
	g->place = find_ip6(local, remote, glimpse_ports(tcp, leaves), skb->ifindex);
	bytes = bpf_ntohs(ip->payload_len);
	if (bytes < TG_SELDOM_TCP_BYTES || bytes + sizeof(*ip) > skb->len - l2)
		g->place = NULL;
	g->tcp = tcp;
	g->payload = bytes - TG_SELDOM_TCP_BYTES;
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

/* Its timestamps: TSval and TSecr. */
static __always_inline __u32 stamp(const struct tcphdr *tcp, __u32 which)
{
	return bpf_ntohl(((const __be32 *)(tcp + 1))[1 + which]);
}

/* Whether it has timestamps and no other option, acknowledges, and does nothing else that has to be looked at. */
static __always_inline int is_plain(const struct tcphdr *tcp)
{
	const __u8 *bytes = (const void *)tcp;

	return bytes[12] == TG_SELDOM_DOFF && (bytes[13] & TG_SELDOM_FLAGS) == TG_SELDOM_ACK &&
	       *(const __be32 *)(tcp + 1) == bpf_htonl(TG_TIMESTAMP_ALIGNED);
}

static __always_inline int ends_data(const struct tcphdr *tcp)
{
	return (((const __u8 *)tcp)[13] & TG_SELDOM_ENDS) != 0;
}

static __always_inline int data_pass(const struct tg_seldom *s, const struct tg_glimpse *g)
{
	return is_plain(g->tcp) && g->payload && s->packets < TG_SELDOM_PACKETS &&
	       stamp(g->tcp, 0) - s->tsval <= s->ticks && bpf_ntohl(g->tcp->ack_seq) == s->ack &&
	       bpf_ntohs(g->tcp->window) <= s->window && !(s->awaits && stamp(g->tcp, 1) == s->noted_tsval);
}

static __always_inline int answer_passes(const struct tg_seldom *s, const struct tg_glimpse *g)
{
	return is_plain(g->tcp) && !g->payload && s->may_answer &&
	       stamp(g->tcp, 0) - s->noted_tsval < 2 * s->patience_ms;
}

/* A packet of the flow passes in direction `way`. */
static __always_inline void count_passed(struct __sk_buff *skb, __u32 l2, const struct tg_seldom *s,
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

/* Shows the queue of the data that have passed, and the window that has passed with acknowledgements. */

static __always_inline void show_queue(const struct tg_seldom *s)
{
	if (s->packets && s->reason == TG_COUNT_MEASURED)
		observe_queue(TG_DOWN, s->queue_us, s->packets);
}

static __always_inline void show_window(const struct tg_seldom *s)
{
	if (s->answers && s->reason == TG_COUNT_MEASURED)
		observe_window(TG_DOWN, s->told_bytes, s->answers);
}

/*
 * Whether a packet that arrives may pass without a look, and one that leaves. If not, `passed` is what has passed
 * before it. Global functions: the verifier checks each once.
 */

TG_ON_ITS_OWN int data_may_pass(struct __sk_buff *skb, struct tg_passed *passed, __u32 l2)
{
	struct tg_glimpse g;
	struct tg_seldom *s;

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
	struct tg_seldom *s;

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

/* A look at a flow. Returns how long looks at one flow may be apart: the more flows, the longer. What many flows share is
 * the time that looks take, and a look at one of many costs most, since nothing of its record is in the caches. Two
 * CPUs may count one look for two. */
static __always_inline __u32 note_look(__u32 now_ms)
{
	__u32 most_ms = tg_max(all_looks.most_ms, TG_SELDOM_MOST_MS);

	if ((__s32)(now_ms - all_looks.since_ms) >= (__s32)TG_SELDOM_SPAN_MS) {
		if (all_looks.looks > TG_SELDOM_LOOKS)
			most_ms = tg_min(2 * most_ms, TG_SELDOM_CROWD_MS);
		else if (all_looks.looks < TG_SELDOM_LOOKS / 4)
			most_ms = tg_max(most_ms / 2, TG_SELDOM_MOST_MS);
		all_looks.most_ms = most_ms;
		all_looks.since_ms = now_ms;
		all_looks.looks = 0;
	}
	all_looks.looks++;
	return most_ms;
}

/* Whether a place is nobody's, or of a flow that is gone. Another CPU's clock may be ahead. */
static __always_inline int is_free(const struct tg_seldom *s, __u32 now_ms)
{
	return !s->key.family || (__s32)(now_ms - s->looked_ms) > (__s32)TG_SELDOM_STALE_MS;
}

/* A place for the flow: its own, one that is free, or one of a flow that is gone; or null. */
static __always_inline struct tg_seldom *seldom_place(const struct tg_packet *p)
{
	struct tg_seldom_set *set = seldom_set_of(&p->key);
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

/* The data that follow may pass until the next look, and are counted for `reason` and with this packet's queue. Returns
 * whether there is a place. */
__noinline int let_pass(const struct tg_packet *p, __u32 reason, __u32 tick_us, __u32 queue_us)
{
	struct tg_seldom *s;

	if (!p)
		return 0;
	s = seldom_place(p);
	if (!s)
		return 0;
	if (!is_same_key(&s->key, &p->key) || s->reason != reason) {
		show_queue(s);
		show_window(s);
		*s = (struct tg_seldom){
			.key = p->key,
			.reason = reason,
			.patience_ms = TG_SELDOM_FIRST_MS,
		};
		has_seldom = 1;
	} else if (p->options.tsval - s->tsval >= s->ticks / 4) {
		s->patience_ms *= 2;
	}
	s->looked_ms = (__u32)(p->now_us >> 10);
	s->patience_ms = tg_min(s->patience_ms, note_look(s->looked_ms));
	s->tsval = p->options.tsval;
	s->ticks = 2 * s->patience_ms * TG_MS_US / tg_max(tick_us, 1);
	s->ack = p->ack;
	s->window = p->window;
	s->queue_us = queue_us;
	s->denied = reason == TG_COUNT_DENIED;
	s->uploads = serves_uploads() != 0;
	if (s->awaits && p->options.tsecr == s->noted_tsval)
		s->awaits = 0;
	return 1;
}

/* The acknowledgements that follow may pass until the next look, and are shown with the window of this one. The caller's
 * record has forgotten what was told. */
__noinline int let_answers_pass(const struct tg_packet *p, __u32 told_bytes)
{
	struct tg_seldom *s;

	if (!p)
		return 0;
	s = find_seldom(&p->key);
	if (!s)
		return 0;
	s->may_answer = 1;
	s->told_bytes = told_bytes;
	s->awaits = !p->passed.again;
	s->noted_tsval = p->options.tsval;
	s->seen_tsval = p->options.tsval;
	return 0;
}

/* Every packet is looked at again. */
__noinline int look_again(const struct tg_packet *p)
{
	struct tg_seldom *s;

	if (!p)
		return 0;
	s = find_seldom(&p->key);
	if (s)
		s->key.family = 0;
	return 0;
}

/* Whether a flow that was looked at just now needs a look only now and then. */
static __always_inline int is_beyond(const struct tg_flow *f)
{
	__u32 law = params()->law;

	return f->rtt_min_us && f->rtt_min_us < TG_SELDOM_ROUND_US && f->wanted == TG_UNLIMITED &&
	       f->queue_us <= TG_TIDE_EMPTY_US && !f->sharing.joined &&
	       f->received >= TG_SELDOM_BYTES && !tg_flow_clockless(f, params()) && (law == TG_LAW_TIDE || law == TG_LAW_NONE);
}

#endif
