/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether TCP accepts a segment that arrives. Whoever knows a connection's ends can send segments in its name; TCP drops
 * what does not fit, so nothing is learned here from what it drops. What has left tells what fits:
 *
 *     sequence numbers   from RCV.NXT to the right edge of the window       RFC 9293 section 3.10.7.4, tcp_sequence()
 *     acknowledgements   SND.UNA - MAX.SND.WND to SND.NXT                   RFC 5961 section 5, tcp_ack()
 *     timestamps         no older than TS.Recent, which TSecr repeats       RFC 7323 section 5, tcp_paws_check()
 *     RST                as sequence numbers; what answers a SYN by its ACK RFC 9293 section 3.10.7.3, tcp_reset()
 *
 * The kernel knows all of these better, as does the host that this machine forwards for: what is refused here it drops.
 * Of a connection that is older than the agent each is known when something has left that says it; so are they all after
 * packets that passed unread.
 *
 * A record of uploads does not see acknowledgements without data leave, which say how far the peer's numbers have come.
 * There what arrives says it, which the record sees all of: a window from there on, as far back as ahead.
 */
#ifndef TG_ACCEPTABLE_H
#define TG_ACCEPTABLE_H

#include "config.h"

#define TG_NUMBERS_MOST (1u << 30)			   /* the largest window (RFC 7323 section 2.3): what is farther off is of another time */
#define TG_NUMBERS_REACH (1u << 20)			   /* how far ahead of what has come an upload's peer may be, at least: a window may have grown */
#define TG_NUMBERS_STALE_US (24ull * 86400 * TG_SECOND_US) /* TS.Recent is forgotten (RFC 7323 section 5.5) */

/* Moves a number of the connection's ahead; what is far behind is a new beginning. Returns whether it is one. */
static __always_inline int advance(tg_u32 *known, tg_u32 number, int is_known)
{
	int anew = !is_known || tg_before(number, *known - TG_NUMBERS_MOST);

	if (anew || tg_after(number, *known))
		*known = number;
	return anew;
}

/* What has left of our numbers. */
static __always_inline void note_sent(struct tg_numbers *n, const struct tg_packet *p)
{
	tg_u32 end = p->seq + p->payload + p->syn + p->fin;

	if (advance(&n->sent, end, n->sends))
		n->una = p->syn ? p->seq : end - TG_NUMBERS_MOST;
	n->sends = 1;
	if (p->options.timestamps && p->options.tsecr)
		n->recent = p->options.tsecr;
}

/* An acknowledgement with the kernel's own window leaves, shifted by `scale`. */
static __always_inline void note_window(struct tg_numbers *n, const struct tg_packet *p, __u8 scale)
{
	tg_u32 edge = p->ack + ((tg_u32)p->window << (p->syn ? 0 : scale));

	if (advance(&n->next, p->ack, n->receives) || tg_after(edge, n->edge))
		n->edge = edge;
	n->receives = 1;
}

/* The peer's numbers have come to `next`. */
static __always_inline void note_come(struct tg_numbers *n, tg_u32 next)
{
	advance(&n->next, next, n->receives);
	n->edge = n->next + n->back;
	n->receives = 1;
}

/* A segment of a download's receiver leaves. A global function, as are those below: the verifier checks each once. */
__noinline int note_answered(const struct tg_packet *p, struct tg_connection *c)
{
	if (!p || !c)
		return 0;
	note_sent(&c->numbers, p);
	if (p->has_ack)
		note_window(&c->numbers, p, c->scale & 15);
	return 0;
}

/* A segment of an upload's sender leaves. Returns whether others have left before it unseen, and what acknowledged them may
 * have been refused. */
__noinline int note_uploaded(const struct tg_packet *p, struct tg_connection *c)
{
	struct tg_numbers *n;
	int unseen;

	if (!p || !c)
		return 0;
	n = &c->numbers;
	if (p->syn)
		n->scale = p->options.scale_given ? p->options.scale : 0;
	else if (!n->sends)
		n->scale = TG_SCALE_MAX;
	unseen = n->refused && n->sends && tg_after(p->seq, n->sent);
	n->refused = 0;
	note_sent(n, p);
	n->back = tg_max(n->back, tg_max((tg_u32)p->window << (n->scale & 15), TG_NUMBERS_REACH));
	if (p->has_ack)
		note_come(n, p->ack);
	return unseen;
}

static __always_inline int is_in_window(const struct tg_numbers *n, const struct tg_packet *p)
{
	tg_u32 end = p->seq + p->payload + p->syn + p->fin;

	/* Of an upload more may have come on the fast path (fast_path.h). */
	return !n->receives || (!tg_before(end, n->next - n->back) && !tg_after(p->seq, n->edge + p->passed.bytes));
}

static __always_inline int acknowledges(const struct tg_numbers *n, const struct tg_packet *p)
{
	return !n->sends ||
	       (p->has_ack && !tg_after(p->ack, n->sent) && !tg_before(p->ack, n->una - n->most));
}

static __always_inline int is_recent(const struct tg_numbers *n, const struct tg_packet *p, tg_u64 seen_us)
{
	return !n->recent || !p->options.timestamps || (tg_s32)(n->recent - p->options.tsval) <= 1 ||
	       p->now_us - seen_us >= TG_NUMBERS_STALE_US;
}

static __always_inline int is_reset(const struct tg_numbers *n, const struct tg_packet *p)
{
	/* It answers a SYN. */
	if (n->sends && !n->receives)
		return p->has_ack && tg_after(p->ack, n->una) && !tg_after(p->ack, n->sent);
	return is_in_window(n, p);
}

/*
 * A segment arrives that is no SYN. Returns -1 if it is acceptable, and notes what it says; TG_COUNT_UNCHANGED if an
 * upload's, but older than another: TCP takes no window from it; or TG_COUNT_UNACCEPTABLE.
 */
__noinline int accept(const struct tg_packet *p, struct tg_connection *c, __u32 direction)
{
	struct tg_numbers *n;

	if (!p || !c)
		return TG_COUNT_UNACCEPTABLE;
	n = &c->numbers;
	if (p->rst)
		return is_reset(n, p) ? -1 : TG_COUNT_UNACCEPTABLE;
	if (!is_in_window(n, p) || !acknowledges(n, p) || !is_recent(n, p, c->seen_us)) {
		n->refused = 1;
		return TG_COUNT_UNACCEPTABLE;
	}
	n->most = tg_max(n->most, (tg_u32)p->window << (direction == TG_UP ? c->scale & 15 : TG_SCALE_MAX));
	if (direction == TG_UP && n->sends && tg_before(p->ack, n->una))
		return TG_COUNT_UNCHANGED;
	if (tg_after(p->ack, n->una))
		n->una = p->ack;
	if (direction == TG_UP && n->receives)
		note_come(n, p->seq + p->payload + p->fin);
	return -1;
}

/* What leaves or arrives from here on may pass unread: nothing is known until something has left. */
static __always_inline void forget_numbers(struct tg_connection *c)
{
	c->numbers.receives = 0;
	c->numbers.sends = 0;
}

#endif
