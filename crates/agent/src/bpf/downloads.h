/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Downloads: data that arrive are measured, what leaves carries the law's window. */
#ifndef TG_DOWNLOADS_H
#define TG_DOWNLOADS_H

#include "rules.h"
#include "sight.h"

/* A flow's first record, or one that forgets all of `known` but its connection and what was told. */
static __always_inline struct tg_record *new_flow(const struct tg_key *key,
						  const struct tg_record *known)
{
	__u32 zero = 0;
	struct tg_record *r = bpf_map_lookup_elem(&scratch, &zero);

	if (!r)
		return NULL;
	__builtin_memset(r, 0, sizeof(*r));
	tg_flow_init(&r->flow);
	if (known) {
		r->connection = known->connection;
		r->flow.window = known->flow.window;
	}
	if (bpf_map_update_elem(&flows, key, r, BPF_ANY))
		return NULL;
	return bpf_map_lookup_elem(&flows, key);
}

/* The scale of a handshake is in force only if both sides offered one (RFC 7323 section 2.2). */
static __always_inline void note_answer(const struct tg_key *key, const struct tg_packet *p)
{
	struct tg_record *r = bpf_map_lookup_elem(&flows, key);

	if (!r || r->connection.scale_state != TG_SCALE_OFFERED)
		return;
	if (p->has_ack && !answers(&r->connection, p))
		return;
	if (!p->options.scale_given)
		r->connection.scale = 0;
	r->connection.scale_state = TG_SCALE_KNOWN;
	r->connection.shared &= p->options.mptcp;
}

static __always_inline void learn(struct tg_record *r, struct tg_path *path,
				  const struct tg_segment *s, struct tg_arrival *arrival)
{
	struct tg_params law = params();

	/* A flow's packets may arrive on several CPUs at once, as may those of several flows. */
	bpf_spin_lock(&path->lock);
	path->measured += s->len;
	tg_flow_arrives(&r->flow, &law, &path->tide, s, arrival);
	bpf_spin_unlock(&path->lock);
}

/* Its data are over. */
static __always_inline void note_end(const struct tg_key *key)
{
	struct tg_record *r = bpf_map_lookup_elem(&flows, key);

	if (r)
		r->connection.closed = 1;
}

/* A data segment arrives. */
__noinline int measure(struct __sk_buff *skb, const struct tg_packet *p)
{
	struct tg_path *path, *uplink;
	struct tg_heard *h;
	struct tg_record *r;
	struct tg_key key;
	__u32 zero = 0;

	if (!p)
		return TG_COUNT_MALFORMED;
	/* Kernels before 6.2 take a map's key from the stack, not from a caller's. */
	key = p->key;
	r = bpf_map_lookup_elem(&flows, &key);
	if (!r)
		return p->options.mptcp ? TG_COUNT_MPTCP : TG_COUNT_NO_FLOW;
	if (is_shared(&r->connection, p->options.mptcp))
		return TG_COUNT_MPTCP;
	if (r->connection.denied)
		return TG_COUNT_DENIED;
	path = bpf_map_lookup_elem(&paths, &key.ifindex);
	uplink = bpf_map_lookup_elem(&uplinks, &key.ifindex);
	h = bpf_map_lookup_elem(&heard, &zero);
	if (!path || !h)
		return TG_COUNT_NO_PATH;
	h->segment = (struct tg_segment){
		.now_us = p->now_us,
		.seq = p->seq,
		.len = p->payload,
		.mss = tg_segment_bytes(skb, p->payload, r->flow.mss),
		.tsval = p->options.tsval,
		.tsecr = p->options.tsecr,
		.timestamps = p->options.timestamps,
		/* Without its lock: what another CPU is writing is wrong for a moment at worst. */
		.uploading = uplink && tg_uploading(&uplink->tide, p->now_us),
	};
	r->connection.seen_us = p->now_us;
	r->connection.timestamps = p->options.timestamps;
	r->connection.closed = p->fin;
	learn(r, path, &h->segment, &h->arrival);
	if (p->payload)
		observe_queue(TG_DOWN, r->flow.queue_us);
	return TG_COUNT_MEASURED;
}

/* What arrives, of which the parser found `reason`: data. */
__noinline int arrives(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_key key;

	if (!p || reason >= 0)
		return reason;
	if (p->rst || p->syn || !p->payload) {
		/* Kernels before 6.2 take a map's key from the stack, not from a caller's. */
		key = p->key;
		if (p->syn && !p->rst)
			note_answer(&key, p);
		else if (p->rst || p->fin)
			note_end(&key);
		if (p->rst || !p->syn)
			return p->rst ? TG_COUNT_RESET : TG_COUNT_NO_DATA;
	}
	reason = measure(skb, p);
	return p->syn && reason == TG_COUNT_MEASURED ? TG_COUNT_HANDSHAKE : reason;
}

/* Our own SYN or SYN-ACK: remembers the scale and the moment, leaves the window, which is not
 * scaled. */
static __always_inline int leaves_handshake(struct __sk_buff *skb, const struct tg_key *key,
					    const struct tg_packet *p)
{
	struct tg_record *r = new_flow(key, NULL);

	if (!r)
		return TG_COUNT_TABLE_FULL;
	judge(skb, key, &r->connection, &r->flow);
	note_syn(&r->connection, p);
	r->connection.scale = p->options.scale_given ? p->options.scale : 0;
	if (p->has_ack || !p->options.scale_given)
		r->connection.scale_state = TG_SCALE_KNOWN;
	else
		r->connection.scale_state = TG_SCALE_OFFERED;
	if (p->options.timestamps)
		tg_rtt_sent(&r->flow.rtt, p->options.tsval, (__u32)r->connection.seen_us);
	return TG_COUNT_HANDSHAKE;
}

/* Finds the flow's record, or makes it for a connection that is older than the agent. Returns -1,
 * or the reason for which there is none. */
static __always_inline int find_flow(struct __sk_buff *skb, const struct tg_key *key,
				     const struct tg_packet *p, struct tg_record **found)
{
	struct tg_record *r = bpf_map_lookup_elem(&flows, key);

	if (!r || r->connection.scale_state != TG_SCALE_KNOWN) {
		__u8 scale = 0;
		int reason = p->options.mptcp ? TG_COUNT_MPTCP : socket_scale(skb, TG_DOWN, &scale);

		if (reason >= 0)
			return reason;
		if (!r)
			r = new_flow(key, NULL);
		if (!r)
			return TG_COUNT_TABLE_FULL;
		r->connection.scale = scale;
		r->connection.scale_state = TG_SCALE_KNOWN;
	}
	*found = r;
	return is_shared(&r->connection, p->options.mptcp) ? TG_COUNT_MPTCP : -1;
}

/* A packet leaves of which only the ports were understood; its reader heeds the window all the same.
 * What is told of the flow is what it says from then on. */
static __always_inline void leaves_unread(const struct tg_key *key)
{
	struct tg_record *r = key->local_port ? bpf_map_lookup_elem(&flows, key) : NULL;

	if (r)
		r->flow.window.known = 0;
}

/* What leaves: acknowledgements, with or without data. */
__noinline int leaves(struct __sk_buff *skb, const struct tg_packet *p, int reason)
{
	struct tg_connection *c;
	struct tg_record *r;
	struct tg_key key;
	__u16 raw;

	if (!p)
		return TG_COUNT_MALFORMED;
	/* Kernels before 6.2 take a map's key from the stack, not from a caller's. */
	key = p->key;
	if (reason >= 0) {
		leaves_unread(&key);
		return reason;
	}
	if (p->rst) {
		note_end(&key);
		return TG_COUNT_RESET;
	}
	if (p->syn)
		return leaves_handshake(skb, &key, p);
	if (!p->has_ack)
		return TG_COUNT_MALFORMED;
	reason = find_flow(skb, &key, p, &r);
	if (reason == TG_COUNT_NO_SCALE)
		leave_alone(p, TG_DOWN, 0, reason);
	if (reason >= 0)
		return reason;
	if (judge(skb, &key, &r->connection, &r->flow))
		r = new_flow(&key, r);
	if (!r)
		return TG_COUNT_TABLE_FULL;
	if (tg_chained(skb)) {
		r->flow.window.known = 0;
		return r->connection.denied ? TG_COUNT_DENIED : TG_COUNT_CHAINED;
	}
	c = &r->connection;

	struct tg_ack a = tg_acknowledgement(p, c->scale & 15);

	c->seen_us = p->now_us;
	if (c->denied) {
		tg_window_note(&r->flow.window, &a, p->window);
		return TG_COUNT_DENIED;
	}
	note_mode(c, &r->flow.window);
	raw = tg_flow_leaves(&r->flow, &a, c->seen_us, p->options.timestamps, p->options.tsval);
	observe_window(TG_DOWN, r->flow.sent_bytes);
	return lower_window(skb, p, c, raw);
}

#endif
