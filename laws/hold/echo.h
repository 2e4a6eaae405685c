/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Delay from echoes of our own, small packets that pass the same queue as a flow's data. Their round trip's excess over
 * the smallest is queue, in either direction.
 */
#ifndef TG_ECHO_H
#define TG_ECHO_H

#include "../magnitudes.h"

struct tg_echo {
	tg_u64 heard_us; /* when the last one came back; 0: none yet */
	tg_u32 every_us; /* time between it and the one before */
	tg_u32 rtt_us;	 /* its round trip */
	tg_u32 floor_us; /* the smallest, or more where the route has become longer; 0: not known */
	tg_u32 fell_us;	 /* by how much the last one lowered it */
	tg_u32 least_us; /* the smallest of all, whatever the route has become */
};

/* An upper bound of the round trip without a queue is known from a handshake, or from another flow's floor. */
TG_INLINE void tg_echo_floor(struct tg_echo *e, tg_u32 floor_us)
{
	if (floor_us && (!e->floor_us || floor_us < e->floor_us))
		e->floor_us = floor_us;
	if (floor_us && (!e->least_us || floor_us < e->least_us))
		e->least_us = floor_us;
}

TG_INLINE void tg_echo_heard(struct tg_echo *e, tg_u64 now_us, tg_u32 rtt_us)
{
	tg_u64 every_us = now_us - e->heard_us;

	e->every_us = every_us < TG_SECOND_US ? (tg_u32)every_us : TG_SECOND_US;
	e->heard_us = now_us;
	e->rtt_us = tg_max(rtt_us, 1);
	e->fell_us = e->floor_us > e->rtt_us ? e->floor_us - e->rtt_us : 0;
	tg_echo_floor(e, e->rtt_us);
}

TG_INLINE tg_u32 tg_echo_queue_us(const struct tg_echo *e)
{
	return e->rtt_us > e->floor_us ? e->rtt_us - e->floor_us : 0;
}

#endif
