/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Parses a packet into what the laws need to know. A packet that is not understood gets a reason. */
#ifndef TG_PACKET_H
#define TG_PACKET_H

#include "parse/kernel.h"
#include "shared.h"

#define TG_FRAGMENT 0x3fff		/* more fragments, or an offset (RFC 791 section 3.1) */
#define TG_TIMESTAMP_ALIGNED 0x0101080a	/* NOP NOP kind 8 length 10 (RFC 7323 appendix A) */
#define TG_OPTIONS_WALK 16		/* options looked at; real stacks send at most eight */
#define TG_VLAN_ID 0xfff		/* of a tag (IEEE 802.1Q section 9.6) */
#define TG_SCALE_MAX 14			/* a larger shift counts as this (RFC 7323 section 2.3) */

#define TG_EXTENSIONS_WALK 8 /* extension headers looked at; RFC 8200 section 4.1 has seven */
#define TG_EXTENSION_BYTES 8 /* the least that one has, and the unit of its length */
#define TG_FRAGMENT_6 0xfff9 /* as TG_FRAGMENT, in IPv6's header (RFC 8200 section 4.5) */
#define TG_JUMBO 0xc2	     /* option that has the length of a jumbogram (RFC 2675 section 2) */
#define TG_SEGMENT_ROUTING 4 /* type of a routing header (RFC 8754 section 2) */

#define TG_HEADERS 0x3ff /* no header begins beyond; a bound that the verifier believes */
#define TG_TCP_MOST 60	 /* a TCP header with all the options that it can have */

enum tg_option {
	TG_OPTION_END = 0,
	TG_OPTION_NOP = 1,
	TG_OPTION_SCALE = 3,
	TG_OPTION_SACK = 5,
	TG_OPTION_TIMESTAMPS = 8,
	TG_OPTION_MD5 = 19,
	TG_OPTION_AO = 29,
	TG_OPTION_MPTCP = 30,
};

struct tg_options {
	__u32 tsval;
	__u32 tsecr;
	__u8 timestamps;
	__u8 sack;
	__u8 scale_given;
	__u8 scale;
	__u8 sealed;
	__u8 mptcp;
};

/* Packets of a flow that took the fast path since the last measurement (fast_path.h). */
struct tg_passed {
	__u32 bytes;	/* payload of the packets */
	__u16 packets;	/* with data, that arrived */
	__u8 again;	/* for a leaving packet: whether its TSval has left before */
	__u8 fast_path;	/* whether the next packets may take the fast path */
};

struct tg_packet {
	__u64 now_us;
	struct tg_passed passed;
	struct tg_key key; /* local is the source of what leaves, the destination of what arrives */
	struct tg_options options;
	__u32 tcp;	   /* offset of the TCP header */
	__u32 seq;
	__u32 ack;
	__u32 payload;
	__u16 datagram;	   /* payload of one UDP datagram on the wire; 0: not UDP, or not understood */
	__u16 window;	   /* host byte order */
	__u16 window_wire; /* as it stands in the packet */
	__u8 protocol;	   /* of what IP carries */
	__u8 syn, fin, rst, has_ack;
	__u8 ecn;	   /* enum tg_ecn */
};

/* The packet's connection. A copy: kernels before 6.2 take a map's key from the stack of the function that looks it up,
 * not from its caller's. */
static __always_inline struct tg_key key_of(const struct tg_packet *p)
{
	return p->key;
}

/* Walks all options, where they are more than the usual timestamps. Returns 1 if they cannot be understood. */
static __noinline int tg_walk_options(struct __sk_buff *skb, __u32 at, __u32 end,
				      struct tg_options *o)
{
	if (!o)
		return 1;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TG_OPTIONS_WALK; i++) {
		__u8 head[2] = {};
		__be32 stamps[2];

		if (at >= end || bpf_skb_load_bytes(skb, at, &head[0], 1) ||
		    head[0] == TG_OPTION_END)
			return 0;
		if (head[0] == TG_OPTION_NOP) {
			at++;
			continue;
		}
		if (bpf_skb_load_bytes(skb, at + 1, &head[1], 1) || head[1] < 2 ||
		    at + head[1] > end)
			return 1;
		switch (head[0]) {
		case TG_OPTION_TIMESTAMPS:
			if (head[1] != 10 || bpf_skb_load_bytes(skb, at + 2, stamps, 8))
				return 1;
			o->timestamps = 1;
			o->tsval = bpf_ntohl(stamps[0]);
			o->tsecr = bpf_ntohl(stamps[1]);
			break;
		case TG_OPTION_SCALE:
			if (head[1] != 3 || bpf_skb_load_bytes(skb, at + 2, &o->scale, 1))
				return 1;
			if (o->scale > TG_SCALE_MAX)
				o->scale = TG_SCALE_MAX;
			o->scale_given = 1;
			break;
		case TG_OPTION_SACK:
			o->sack = 1;
			break;
		case TG_OPTION_MD5:
		case TG_OPTION_AO:
			o->sealed = 1;
			break;
		case TG_OPTION_MPTCP:
			o->mptcp = 1;
			break;
		}
		at += head[1];
	}
	return at < end; /* an option that was not looked at may seal the window */
}

/* The `bytes` at offset `at`, or null if they are not directly readable. */
static __always_inline void *tg_peek(struct __sk_buff *skb, __u32 at, __u32 bytes)
{
	void *header;

	/* Otherwise the compiler keeps the packet's end as a number, which the verifier does not accept as a bound. */
	TG_FORGET();
	header = (void *)(long)skb->data + (at & TG_HEADERS);
	return header + bytes <= (void *)(long)skb->data_end ? header : NULL;
}

/* The same, or null if the packet is too short. Headers are nearly always readable. Pulling them copies the head of a
 * packet that is shared with another holder, such as the socket that sends it. */
static __always_inline void *tg_header(struct __sk_buff *skb, __u32 at, __u32 bytes)
{
	void *header = tg_peek(skb, at, bytes);

	if (!header && !bpf_skb_pull_data(skb, at + bytes))
		header = tg_peek(skb, at, bytes);
	return header;
}

/* Fills in everything of the TCP header and its options; `tcp_bytes` is the length that the IP header tells. */
static __always_inline int tg_parse_tcp(struct __sk_buff *skb, struct tg_packet *p, __u32 tcp_bytes,
					int leaves)
{
	struct tcphdr *tcp = tg_header(skb, p->tcp, sizeof(*tcp));
	__be32 *options;
	__u32 header;

	if (!tcp)
		return TG_COUNT_MALFORMED;
	header = tcp->doff * 4;
	if (header < sizeof(*tcp) || header > tcp_bytes)
		return TG_COUNT_MALFORMED;
	p->key.local_port = leaves ? tcp->source : tcp->dest;
	p->key.remote_port = leaves ? tcp->dest : tcp->source;
	p->seq = bpf_ntohl(tcp->seq);
	p->ack = bpf_ntohl(tcp->ack_seq);
	p->payload = tcp_bytes - header;
	p->window_wire = tcp->window;
	p->window = bpf_ntohs(tcp->window);
	p->syn = tcp->syn;
	p->fin = tcp->fin;
	p->rst = tcp->rst;
	p->has_ack = tcp->ack;
	if (header == sizeof(*tcp))
		return -1;
	options = header == sizeof(*tcp) + 12 ? tg_peek(skb, p->tcp + sizeof(*tcp), 12) : NULL;
	if (options && options[0] == bpf_htonl(TG_TIMESTAMP_ALIGNED)) {
		p->options.timestamps = 1;
		p->options.tsval = bpf_ntohl(options[1]);
		p->options.tsecr = bpf_ntohl(options[2]);
		return -1;
	}
	if (tg_walk_options(skb, p->tcp + sizeof(*tcp), p->tcp + header, &p->options))
		return TG_COUNT_MALFORMED;
	return p->options.sealed ? TG_COUNT_SEALED : -1;
}

/* Other protocols than TCP are left alone; unfragmented UDP is told apart by its ports. */
static __always_inline int tg_not_tcp(struct __sk_buff *skb, struct tg_packet *p, int whole,
				      int leaves)
{
	struct udphdr *udp;
	__u32 bytes;

	if (p->protocol != IPPROTO_UDP)
		return TG_COUNT_NOT_TCP;
	udp = whole ? tg_header(skb, p->tcp, sizeof(*udp)) : NULL;
	if (!udp)
		return TG_COUNT_UDP;
	p->key.local_port = leaves ? udp->source : udp->dest;
	p->key.remote_port = leaves ? udp->dest : udp->source;
	bytes = bpf_ntohs(udp->len);
	if (bytes >= sizeof(*udp) && bytes <= p->payload)
		p->datagram = skb->gso_size ? skb->gso_size : bytes - sizeof(*udp);
	p->payload -= sizeof(*udp);
	return TG_COUNT_UDP;
}

static __always_inline int tg_parse_ip4(struct __sk_buff *skb, struct tg_packet *p, __u32 l3,
					int leaves)
{
	struct iphdr *ip = tg_header(skb, l3, sizeof(*ip));
	__u32 bytes;
	int fragment;

	if (!ip || ip->version != 4)
		return TG_COUNT_MALFORMED;
	p->key.family = 4;
	p->key.local[0] = leaves ? ip->saddr : ip->daddr;
	p->key.remote[0] = leaves ? ip->daddr : ip->saddr;
	p->tcp = l3 + sizeof(*ip);
	p->payload = skb->len - p->tcp;
	p->protocol = ip->protocol;
	p->ecn = ip->tos & (TG_ECNS - 1);
	fragment = ip->frag_off & bpf_htons(TG_FRAGMENT);
	if (p->protocol != IPPROTO_TCP)
		return tg_not_tcp(skb, p, !fragment && ip->ihl == 5, leaves);
	if (fragment)
		return TG_COUNT_FRAGMENT;
	if (ip->ihl != 5)
		return TG_COUNT_IP_OPTIONS;
	/* 0: a merged packet above 64 KB. Otherwise the frame's length cannot be used: short frames are padded. */
	bytes = ip->tot_len ? bpf_ntohs(ip->tot_len) : skb->len - l3;
	if (bytes < sizeof(*ip) || bytes > skb->len - l3)
		return TG_COUNT_MALFORMED;
	return tg_parse_tcp(skb, p, bytes - sizeof(*ip), leaves);
}

static __always_inline int tg_is_extension(__u32 protocol)
{
	switch (protocol) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_FRAGMENT:
	case IPPROTO_DSTOPTS:
		return 1;
	default:
		return 0;
	}
}

/*
 * A routing header has segments left: the packet's destination is not yet the connection's, which is the first entry of
 * the list. The checksum uses the final one (RFC 8200 section 8.1), but only the window's part of it changes.
 */
static __always_inline int tg_take_last_segment(struct __sk_buff *skb, struct tg_packet *p,
						const __u8 *head, __u32 leaves)
{
	void *end = leaves ? p->key.remote : p->key.local;

	if (head[2] != TG_SEGMENT_ROUTING || head[1] < sizeof(p->key.local) / TG_EXTENSION_BYTES)
		return TG_COUNT_IP_OPTIONS;
	if (bpf_skb_load_bytes(skb, p->tcp + TG_EXTENSION_BYTES, end, sizeof(p->key.local)))
		return TG_COUNT_MALFORMED;
	return -1;
}

/* Reads one extension header, which begins with `head`; the caller reads the kind of the next. */
static __always_inline int tg_heed_extension(struct __sk_buff *skb, struct tg_packet *p,
					     const __u8 *head, __u32 leaves)
{
	switch (p->protocol) {
	case IPPROTO_FRAGMENT:
		/* The header of a fragment that is a whole packet is no obstacle (RFC 6946). */
		return (head[2] << 8 | head[3]) & TG_FRAGMENT_6 ? TG_COUNT_FRAGMENT : -1;
	case IPPROTO_ROUTING:
		return head[3] ? tg_take_last_segment(skb, p, head, leaves) : -1;
	case IPPROTO_HOPOPTS:
		if (!p->payload && head[2] == TG_JUMBO && head[3] == 4)
			p->payload = (__u32)head[4] << 24 | (__u32)head[5] << 16 |
				     (__u32)head[6] << 8 | head[7];
		return -1;
	default:
		return -1;
	}
}

/*
 * Walks the extension headers (RFC 8200 section 4) to the transport header: then `p` has its offset and protocol, and
 * as payload the length in the IP header, or 0 if that has none. Returns -1, or the reason not to look further; then
 * `p` is at the header with that reason.
 */
TG_ON_ITS_OWN int tg_walk_extensions(struct __sk_buff *skb, struct tg_packet *p, __u32 leaves)
{
	if (!p)
		return TG_COUNT_MALFORMED;
#pragma clang loop unroll(disable)
	for (int i = 0; i < TG_EXTENSIONS_WALK; i++) {
		__u8 head[TG_EXTENSION_BYTES];
		int reason;

		if (!tg_is_extension(p->protocol))
			return -1;
		if (p->tcp > TG_HEADERS)
			return TG_COUNT_IP_OPTIONS;
		if (bpf_skb_load_bytes(skb, p->tcp, head, sizeof(head)))
			return TG_COUNT_MALFORMED;
		reason = tg_heed_extension(skb, p, head, leaves);
		if (reason >= 0)
			return reason;
		p->tcp += TG_EXTENSION_BYTES;
		if (p->protocol != IPPROTO_FRAGMENT)
			p->tcp += head[1] * TG_EXTENSION_BYTES;
		if (p->tcp > skb->len)
			return TG_COUNT_MALFORMED;
		p->protocol = head[0];
	}
	return tg_is_extension(p->protocol) ? TG_COUNT_IP_OPTIONS : -1;
}

static __always_inline int tg_parse_ip6(struct __sk_buff *skb, struct tg_packet *p, __u32 l3,
					int leaves)
{
	struct ipv6hdr *ip = tg_header(skb, l3, sizeof(*ip));
	__u32 end;
	int reason = -1;

	if (!ip || ip->version != 6)
		return TG_COUNT_MALFORMED;
	p->key.family = 6;
	__builtin_memcpy(p->key.local, leaves ? &ip->saddr : &ip->daddr, 16);
	__builtin_memcpy(p->key.remote, leaves ? &ip->daddr : &ip->saddr, 16);
	p->tcp = l3 + sizeof(*ip);
	p->payload = bpf_ntohs(ip->payload_len);
	p->protocol = ip->nexthdr;
	p->ecn = ip->flow_lbl[0] >> 4 & (TG_ECNS - 1);
	if (tg_is_extension(p->protocol)) {
		reason = tg_walk_extensions(skb, p, leaves);
		if (reason < 0 && p->tcp > TG_HEADERS - TG_TCP_MOST)
			reason = TG_COUNT_IP_OPTIONS;
	}
	/* 0: a merged packet above 64 KB without the option that would have its length. */
	end = p->payload ? l3 + sizeof(*ip) + p->payload : skb->len;
	p->payload = skb->len - p->tcp;
	if (reason >= 0)
		return reason;
	if (p->protocol != IPPROTO_TCP)
		return tg_not_tcp(skb, p, 1, leaves);
	if (end < p->tcp || end > skb->len)
		return TG_COUNT_MALFORMED;
	return tg_parse_tcp(skb, p, end - p->tcp, leaves);
}

static __always_inline int tg_parse_frame(struct __sk_buff *skb, struct tg_packet *p, __u32 l2,
					  int leaves)
{
	__be16 protocol = skb->protocol;

	p->key.ifindex = skb->ifindex;
	/* A tag that the device has taken out of the frame, or is to put in. */
	p->key.vlan = skb->vlan_tci & (TG_VLAN_ID & -skb->vlan_present);
	if (l2 && (protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD))) {
		/* A tag that stands in the frame: two bytes of tag, two of protocol. */
		__be16 *tag = tg_header(skb, l2, 4);

		if (!tag)
			return TG_COUNT_MALFORMED;
		p->key.vlan = p->key.vlan << 12 | (bpf_ntohs(tag[0]) & TG_VLAN_ID);
		protocol = tag[1];
		l2 += 4;
	}
	if (protocol == bpf_htons(ETH_P_IP))
		return tg_parse_ip4(skb, p, l2, leaves);
	if (protocol == bpf_htons(ETH_P_IPV6))
		return tg_parse_ip6(skb, p, l2, leaves);
	return TG_COUNT_NOT_IP;
}

/*
 * Whether GRO has chained the packet's segments instead of merging them, as some routers are set up to do
 * (rx-gro-list): each segment keeps its own header, and only the first header is in reach.
 */
#ifdef TG_WITHOUT_BTF
static __always_inline int tg_chained(struct __sk_buff *skb)
{
	(void)skb;
	return 0;
}
#else
static __always_inline int tg_chained(struct __sk_buff *skb)
{
	struct sk_buff *kernel;
	struct skb_shared_info *shared;

	if (!skb->gso_size || !bpf_ksym_exists(bpf_cast_to_kern_ctx))
		return 0;
	kernel = bpf_cast_to_kern_ctx(skb);
	shared = bpf_core_cast(kernel->head + kernel->end, struct skb_shared_info);
	return (shared->gso_type & TG_GSO_FRAGLIST) != 0;
}
#endif

/*
 * Reads a packet whose link-layer header has `l2` bytes into `p`, which has only the time so far. Returns -1 if it is
 * TCP that can be steered, or the reason (enum tg_count) why it is left alone.
 *
 * A global function, as are the next ones on a packet's way: the verifier checks each on its own. Otherwise it would
 * follow each path through the parser through all the code after it.
 */
TG_ON_ITS_OWN int tg_parse(struct __sk_buff *skb, struct tg_packet *p, __u32 l2, __u32 leaves)
{
	return p ? tg_parse_frame(skb, p, l2, leaves) : TG_COUNT_MALFORMED;
}

/* Payload of one segment on the wire, of a flow whose segments had `known` bytes so far; 0: not
 * known. A lone short segment is the end of a message, not the flow's segment size. */
static __always_inline __u32 tg_segment_bytes(const struct __sk_buff *skb,
					      __u32 payload, __u32 known)
{
	if (skb->gso_size)
		return skb->gso_size;
	return payload < known ? 0 : payload;
}

/* How many packets on the wire the kernel has merged into this one, or will split it into; a device that does not know
 * says 0, which counts as one. Packets without `payload` are never merged. */
static __always_inline __u32 wire_packets_of(const struct __sk_buff *skb, __u32 payload)
{
	__u32 packets = payload ? skb->gso_segs : 0;

	return packets ? packets : 1;
}

static __always_inline __u32 wire_packets(const struct __sk_buff *skb, const struct tg_packet *p)
{
	return wire_packets_of(skb, p->payload);
}

/* What the packet acknowledges, its window shifted by `scale`. */
static __always_inline struct tg_ack tg_acknowledgement(const struct tg_packet *p, __u8 scale)
{
	return (struct tg_ack){
		.ack = p->ack,
		.raw = p->window,
		.scale = scale,
		.bare = !p->payload && !p->fin,
		.sack = p->options.sack,
	};
}

/* What the packet says. Writes all of `s`, which may still hold another packet's values. */
static __always_inline void note_segment(struct tg_segment *s, const struct tg_packet *p)
{
	*s = (struct tg_segment){ 0 };
	s->now_us = p->now_us;
	s->tsval = p->options.tsval;
	s->tsecr = p->options.tsecr;
	s->stamped = p->options.timestamps;
	s->len = p->payload;
	s->end = p->seq + p->payload;
}

#endif
