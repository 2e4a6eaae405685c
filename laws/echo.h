/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Delay from questions of our own: an echo that we ask for every few packets goes through the queue that
 * the data go through. What its round trip has more than the smallest is queue, on either way.
 */
#ifndef TG_ECHO_H
#define TG_ECHO_H

#include "base.h"

struct tg_echo {
	tg_u64 heard_us;  /* when the last answer came */
	tg_u32 every_us;  /* how long the one before was ago */
	tg_u32 rtt_us;	  /* its round trip; 0: none yet */
	tg_u32 floor_us;  /* the smallest, or more where the route has become longer */
	tg_u32 fell_us;	  /* by how much the last answer lowered it */
};

TG_INLINE void tg_echo_heard(struct tg_echo *e, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_u64 every_us = now_us - e->heard_us;

	rtt_us = tg_max(rtt_us, 1);
	e->every_us = every_us < TG_SECOND_US ? (tg_u32)every_us : TG_SECOND_US;
	e->heard_us = now_us;
	e->rtt_us = rtt_us;
	if (!e->floor_us)
		e->floor_us = rtt_us;
	e->fell_us = rtt_us < e->floor_us ? e->floor_us - rtt_us : 0;
	e->floor_us -= e->fell_us;
}

TG_INLINE void tg_echo_raise(struct tg_echo *e, tg_u32 by_us)
{
	e->floor_us += by_us;
}

/* The round trip by now: an answer that does not come has waited for longer. */
TG_INLINE tg_u32 tg_echo_rtt_us(const struct tg_echo *e, tg_u64 now_us)
{
	tg_u64 late_us = now_us - e->heard_us;

	if (!e->rtt_us || late_us < 2 * e->every_us)
		return e->rtt_us;
	late_us -= 2 * e->every_us;
	return e->rtt_us + (late_us < TG_SECOND_US ? (tg_u32)late_us : TG_SECOND_US);
}

TG_INLINE tg_u32 tg_echo_queue_us(const struct tg_echo *e, tg_u64 now_us)
{
	tg_u32 rtt_us = tg_echo_rtt_us(e, now_us);

	return rtt_us > e->floor_us ? rtt_us - e->floor_us : 0;
}

#endif
