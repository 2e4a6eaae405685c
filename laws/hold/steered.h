/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * tide for a flow without a window: with the same records and groups as for a flow with one; the echoes give its delay.
 */
#ifndef TG_STEERED_H
#define TG_STEERED_H

#include "../tide/member.h"
#include "echo.h"

#define TG_HOLD_DEAF_US (3 * TG_SECOND_US) /* without an echo, while data come, nothing waits; swept */
#define TG_HOLD_FORGET_SHIFT 4		   /* part of the largest window that is forgotten in a second; swept */
#define TG_HOLD_RECENT_US (16 * TG_MS_US)  /* choice: between two looks at it */

struct tg_steered {
	tg_u64 recent_decayed_us; /* when that was last decayed */
	tg_u32 recent_largest;	  /* the largest W of late */
	tg_u32 wanted;		  /* W; TG_UNLIMITED: not known */
	tg_u32 mss;
	tg_u32 margin;		  /* its part of the forecast's, in bytes, while no flow with a window is bottlenecked beside it */
	struct tg_echo echo;
	struct tg_member member;
};

/* A flow begins, whose handshake took `handshake_us`, or 0 where none was seen. */
TG_INLINE void tg_steered_init(struct tg_steered *s, tg_u32 handshake_us)
{
	s->mss = TG_DEFAULT_MSS;
	s->wanted = TG_UNLIMITED;
	s->member.share.windowless = 1;
	tg_echo_floor(&s->echo, handshake_us);
}

/* Its part of the margin for the forecast's error, for one lag. Beside bottlenecked flows with a window it would be more than a
 * fair share. */
TG_INLINE tg_u32 tg_steered_margin(const struct tg_steered *s, const struct tg_tide *t)
{
	tg_u32 weight = tg_tide_weight(&s->member.share);
	tg_u64 bytes = (tg_u64)tg_tide_margin(t) * tg_tide_margin_us(t) >> TG_TIDE_Q;

	return t->windows ? 0 : tg_window_bytes(bytes * weight / tg_max(t->bottlenecked_weight, weight));
}

/* tide, as for a flow with a window (`flow.h`), of which `bytes` have arrived in all. */
TG_INLINE tg_u32 tg_steered_tide(struct tg_steered *s, struct tg_interface *i, struct tg_arrival *a, tg_u64 bytes)
{
	struct tg_tide *t;
	tg_u32 wanted;

	tg_device_alone(i, &s->member.share);
	t = tg_member_settle(&s->member, i, a);
	s->echo.floor_us += tg_member_rise(&s->member, t, a);
	TG_FORGET();
	wanted = tg_member_window(&s->member, i, t, a);
	s->margin = tg_steered_margin(s, t);
	if (a->fresh)
		tg_member_compare(&s->member, i, a, bytes);
	i->last = s->member.sharing.flow;
	return wanted;
}

/* What an arrival says: data have no delay of their own, an echo has no data. */
TG_INLINE void tg_steered_measure(const struct tg_steered *s, tg_u64 now_us, tg_u32 len, int fresh, struct tg_arrival *a)
{
	struct tg_segment data = { .now_us = now_us, .len = len };

	tg_arrival_begin(a, &data);
	a->mss = s->mss;
	a->fresh = (tg_u8)fresh;
	a->sample_us = fresh ? s->echo.rtt_us : 0;
	a->rtt_min_us = s->echo.floor_us;
	a->queue_us = tg_echo_queue_us(&s->echo);
	a->met_us = (tg_u32)now_us;
	a->one_way_us = s->echo.rtt_us;
	a->tick_us = 1;
	a->lag_us = fresh ? s->echo.floor_us : 0;
	a->fell_us = a->revealed_us = a->nearer_us = fresh ? s->echo.fell_us : 0;
}

/* Remembers the largest window of late. */
TG_INLINE void tg_steered_learn_largest(struct tg_steered *s, tg_u64 now_us)
{
	tg_u64 elapsed_us = now_us - s->recent_decayed_us;

	if (s->wanted == TG_UNLIMITED)
		return;
	if (elapsed_us >= TG_HOLD_RECENT_US) {
		if (elapsed_us > TG_SECOND_US)
			elapsed_us = TG_SECOND_US;
		s->recent_largest -= (tg_u32)(s->recent_largest * elapsed_us / TG_SECOND_US >> TG_HOLD_FORGET_SHIFT);
		s->recent_decayed_us = now_us;
	}
	s->recent_largest = tg_max(s->recent_largest, s->wanted);
}

/* An echo has come back. The first one also uses the floor of another flow with the same server. */
TG_INLINE void tg_steered_hears(struct tg_steered *s, tg_u64 now_us, tg_u32 rtt_us, tg_u32 floor_us)
{
	if (!s->echo.heard_us)
		tg_echo_floor(&s->echo, floor_us);
	tg_echo_heard(&s->echo, now_us, rtt_us);
}

/* Without an echo for so long the queue is unknown: then there is no round trip, and no window. */
TG_INLINE void tg_steered_listen(struct tg_steered *s, tg_u64 now_us)
{
	if (now_us - s->echo.heard_us <= TG_HOLD_DEAF_US)
		return;
	s->wanted = TG_UNLIMITED;
	s->echo.rtt_us = 0;
}

#endif
