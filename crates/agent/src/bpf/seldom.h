/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Flows at which a look now and then is enough.
 *
 * No access link has a round trip of less than a millisecond. While a flow with such a round trip shows no queue, the
 * law leaves it the kernel's window; a flow that is left alone by a rule needs no look at all. Between two looks their
 * packets are only counted, with the queue and the window of the last look: no clock is read, no record is looked up,
 * no lock is taken.
 *
 * The packets' own timestamps tell the time between two looks. It doubles as long as nothing is found; a queue ends it.
 * A look comes earlier if a packet has news of an upload, a larger window than the last, the echo that gives a round
 * trip, or is anything but data or an acknowledgement with timestamps.
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
#define TG_SELDOM_MOST_MS 64u		  /* and at most; */
#define TG_SELDOM_PACKETS 255u		  /* nor do more packets than this pass between two */
#define TG_SELDOM_STALE_MS 1024u	  /* a place of which nothing was looked at for so long is another flow's */
#define TG_SELDOM_TCP_BYTES 32u		  /* a header with timestamps and nothing else */
#define TG_SELDOM_DOFF 0x80		  /* byte 12 of it */
#define TG_SELDOM_FLAGS 0x37		  /* URG, ACK, RST, SYN and FIN in byte 13, */
#define TG_SELDOM_ACK 0x10		  /* of which it has this one */

struct tg_seldom {
	struct tg_key key; /* family 0: free */
	tg_u32 looked_ms;  /* when something of it was last looked at, */
	tg_u32 patience_ms; /* and how long that is good for */
	tg_u32 reason;	   /* enum tg_count: what its data are counted as */
	/* What arrives. */
	tg_u32 tsval;	/* of the last data that were looked at, */
	tg_u32 ticks;	/* and how many more of the peer's may pass */
	tg_u32 ack;	/* what they acknowledged, */
	tg_u32 window;	/* and the window that they had */
	tg_u32 packets; /* that have passed since, */
	tg_u32 bytes;	/* and their payload */
	tg_u32 queue_us; /* that the last was shown with; TG_DELAY_UNKNOWN: none */
	/* What leaves. */
	tg_u32 answers;	    /* whether acknowledgements may pass */
	tg_u32 noted_tsval; /* of the last that was looked at, */
	tg_u32 seen_tsval;  /* and of the last at all */
	tg_u32 awaits;	    /* whether the former's echo has not come yet */
	tg_u32 told_bytes;  /* the window that the last was shown with */
};

struct tg_seldom_set {
	struct tg_seldom of[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TG_SELDOM_SETS);
	__type(key, __u32);
	__type(value, struct tg_seldom_set);
} seldom SEC(".maps");

/* The fields of a packet that are checked without a look. */
struct tg_glimpse {
	struct tg_key key;
	tg_u32 tsval;
	tg_u32 tsecr;
	tg_u32 ack;
	tg_u32 payload;
	tg_u32 window;
	tg_u32 ecn;
	tg_u32 plain; /* it has timestamps, acknowledges, and does nothing else that has to be looked at */
};

static __always_inline int is_same_key(const struct tg_key *a, const struct tg_key *b)
{
	const __u64 *x = (const void *)a, *y = (const void *)b;

	_Static_assert(sizeof(*a) == 6 * sizeof(*x), "all of it");
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]) |
		 (x[5] ^ y[5]));
}

static __always_inline struct tg_seldom_set *seldom_set(const struct tg_key *key)
{
	__u32 hash = key->local[0] ^ key->local[3] ^ key->remote[0] ^ key->remote[3];
	__u32 place;

	hash ^= (__u32)key->local_port << 16 | key->remote_port;
	place = hash * 0x9e3779b1u >> TG_SELDOM_HASH_SHIFT;
	return bpf_map_lookup_elem(&seldom, &place);
}

/* The flow's place, or null. */
static __always_inline struct tg_seldom *find_seldom(const struct tg_key *key)
{
	struct tg_seldom_set *set = seldom_set(key);

	if (!set)
		return NULL;
	if (is_same_key(&set->of[0].key, key))
		return &set->of[0];
	return is_same_key(&set->of[1].key, key) ? &set->of[1] : NULL;
}

static __always_inline int glimpse_tcp(const struct tcphdr *tcp, const void *end, __u32 leaves,
				       struct tg_glimpse *g)
{
	const __be32 *options = (const void *)(tcp + 1);
	const __u8 *bytes = (const void *)tcp;

	if ((const void *)(options + 3) > end)
		return 0;
	g->key.local_port = leaves ? tcp->source : tcp->dest;
	g->key.remote_port = leaves ? tcp->dest : tcp->source;
	g->ack = bpf_ntohl(tcp->ack_seq);
	g->window = bpf_ntohs(tcp->window);
	g->tsval = bpf_ntohl(options[1]);
	g->tsecr = bpf_ntohl(options[2]);
	g->plain = bytes[12] == TG_SELDOM_DOFF && (bytes[13] & TG_SELDOM_FLAGS) == TG_SELDOM_ACK &&
		   options[0] == bpf_htonl(TG_TIMESTAMP_ALIGNED);
	return 1;
}

static __always_inline int glimpse_ip4(struct __sk_buff *skb, const struct iphdr *ip, __u32 l2,
				       __u32 leaves, struct tg_glimpse *g)
{
	const void *end = (void *)(long)skb->data_end;
	__u32 headers = sizeof(*ip) + TG_SELDOM_TCP_BYTES;
	__u32 bytes;

	if ((const void *)(ip + 1) > end || *(const __u8 *)ip != 0x45 ||
	    ip->protocol != IPPROTO_TCP || ip->frag_off & bpf_htons(TG_FRAGMENT))
		return 0;
	bytes = bpf_ntohs(ip->tot_len);
	if (bytes < headers || bytes > skb->len - l2)
		return 0;
	g->payload = bytes - headers;
	g->ecn = ip->tos & (TG_ECNS - 1);
	g->key.family = 4;
	g->key.local[0] = leaves ? ip->saddr : ip->daddr;
	g->key.remote[0] = leaves ? ip->daddr : ip->saddr;
	return glimpse_tcp((const void *)(ip + 1), end, leaves, g);
}

static __always_inline int glimpse_ip6(struct __sk_buff *skb, const struct ipv6hdr *ip, __u32 l2,
				       __u32 leaves, struct tg_glimpse *g)
{
	const void *end = (void *)(long)skb->data_end;
	__u32 bytes;

	if ((const void *)(ip + 1) > end || ip->version != 6 || ip->nexthdr != IPPROTO_TCP)
		return 0;
	bytes = bpf_ntohs(ip->payload_len);
	if (bytes < TG_SELDOM_TCP_BYTES || bytes + sizeof(*ip) > skb->len - l2)
		return 0;
	g->payload = bytes - TG_SELDOM_TCP_BYTES;
	g->ecn = ip->flow_lbl[0] >> 4 & (TG_ECNS - 1);
	g->key.family = 6;
	__builtin_memcpy(g->key.local, leaves ? &ip->saddr : &ip->daddr, 16);
	__builtin_memcpy(g->key.remote, leaves ? &ip->daddr : &ip->saddr, 16);
	return glimpse_tcp((const void *)(ip + 1), end, leaves, g);
}

/* Whether the packet's headers are where nearly all packets have them; reads what stands there. */
static __always_inline int glimpse(struct __sk_buff *skb, __u32 l2, __u32 leaves, struct tg_glimpse *g)
{
	const void *ip = (void *)(long)skb->data + l2;

	if (skb->vlan_present)
		return 0;
	g->key.ifindex = skb->ifindex;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return glimpse_ip4(skb, ip, l2, leaves, g);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return glimpse_ip6(skb, ip, l2, leaves, g);
	return 0;
}

static __always_inline int data_pass(const struct tg_seldom *s, const struct tg_glimpse *g)
{
	return g->payload && s->packets < TG_SELDOM_PACKETS && g->tsval - s->tsval <= s->ticks &&
	       g->ack == s->ack && g->window <= s->window &&
	       !(s->awaits && g->tsecr == s->noted_tsval);
}

static __always_inline int answer_passes(const struct tg_seldom *s, const struct tg_glimpse *g)
{
	return s->answers && !g->payload && g->tsval - s->noted_tsval < s->patience_ms;
}

/* Data of the flow pass. */
static __always_inline void count_data(struct __sk_buff *skb, __u32 l2, struct tg_seldom *s,
				       const struct tg_glimpse *g, __u32 answer)
{
	__u32 measured = s->reason == TG_COUNT_MEASURED;
	struct tg_tally *t = count(skb, l2, (struct tg_fate){ TG_DOWN, s->reason, answer },
				   measured ? TG_KIND_TCP : TG_KIND_TCP_LEFT, g->payload, g->ecn);

	s->packets++;
	s->bytes += g->payload;
	if (!measured || !t)
		return;
	t->passed += g->payload;
	observe_queue(TG_DOWN, s->queue_us);
}

/* An acknowledgement of the flow's data passes. */
static __always_inline void count_answer(struct __sk_buff *skb, __u32 l2, struct tg_seldom *s,
					 const struct tg_glimpse *g, __u32 data)
{
	__u32 measured = s->reason == TG_COUNT_MEASURED;
	__u32 answer = measured ? TG_COUNT_UNCHANGED : s->reason;

	s->seen_tsval = g->tsval;
	count(skb, l2, (struct tg_fate){ TG_UP, data, answer },
	      measured ? TG_KIND_TCP : TG_KIND_TCP_LEFT, 0, g->ecn);
	if (measured)
		observe_window(TG_DOWN, s->told_bytes);
}

/* Whether the packet in direction `way` may pass without a look. If not, returns what has passed before it. A global
 * function: the verifier checks it once. */
TG_ON_ITS_OWN int may_pass(struct __sk_buff *skb, struct tg_passed *passed, __u32 l2, __u32 way)
{
	__u32 no_data = serves_uploads() ? TG_COUNT_NO_DATA : TG_COUNTS;
	struct tg_glimpse g = {};
	struct tg_seldom *s;

	l2 &= 15;
	if (!passed || !glimpse(skb, l2, way, &g))
		return 0;
	s = find_seldom(&g.key);
	if (!s)
		return 0;
	if (way == TG_UP) {
		passed->again = s->answers && s->seen_tsval == g.tsval;
		if (!g.plain || !answer_passes(s, &g))
			return 0;
		count_answer(skb, l2, s, &g, no_data);
		return 1;
	}
	if (!g.plain || !data_pass(s, &g)) {
		passed->packets = s->packets;
		passed->bytes = s->bytes;
		s->packets = 0;
		s->bytes = 0;
		return 0;
	}
	count_data(skb, l2, s, &g, no_data);
	return 1;
}

/* A place for the flow: its own, one that is free, or one of a flow that is gone; or null. */
static __always_inline struct tg_seldom *seldom_place(const struct tg_packet *p)
{
	struct tg_seldom_set *set = seldom_set(&p->key);
	__u32 now_ms = (__u32)(p->now_us >> 10);

	if (!set)
		return NULL;
	if (is_same_key(&set->of[0].key, &p->key))
		return &set->of[0];
	if (is_same_key(&set->of[1].key, &p->key))
		return &set->of[1];
	if (!set->of[0].key.family || now_ms - set->of[0].looked_ms > TG_SELDOM_STALE_MS)
		return &set->of[0];
	if (!set->of[1].key.family || now_ms - set->of[1].looked_ms > TG_SELDOM_STALE_MS)
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
		s->key = p->key;
		s->reason = reason;
		s->patience_ms = TG_SELDOM_FIRST_MS;
		s->answers = 0;
		s->awaits = 0;
		s->packets = 0;
		s->bytes = 0;
	} else if (p->options.tsval - s->tsval >= s->ticks / 4) {
		s->patience_ms = tg_min(2 * s->patience_ms, TG_SELDOM_MOST_MS);
	}
	s->looked_ms = (__u32)(p->now_us >> 10);
	s->tsval = p->options.tsval;
	s->ticks = 2 * s->patience_ms * TG_MS_US / tg_max(tick_us, 1);
	s->ack = p->ack;
	s->window = p->window;
	s->queue_us = queue_us;
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
	s->answers = 1;
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
	       f->received >= TG_SELDOM_BYTES && (law == TG_LAW_TIDE || law == TG_LAW_NONE);
}

#endif
