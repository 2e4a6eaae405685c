/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * A flow that tide steers: its share, its place among groups, and its own record. Flows with a window (`../flow.h`) and
 * those without (`../hold/steered.h`) measure differently, and are steered alike:
 *
 *     t = tg_member_settle      which record steers it
 *     tg_member_rise            by how much its floor is to rise first
 *     tg_member_window          the record learns from the arrival
 *     tg_member_compare         whose queue it shares, from its next packet on
 */
#ifndef TG_TIDE_MEMBER_H
#define TG_TIDE_MEMBER_H

#include "../tide.h"

struct tg_member {
	struct tg_share share;
	struct tg_sharing sharing;
	struct tg_tide own; /* its record while it is in no group */
};

/* The record that steers the flow, and the arrival as the record's flows see it. */
TG_INLINE struct tg_tide *tg_member_settle(struct tg_member *m, struct tg_interface *i, struct tg_arrival *a)
{
	struct tg_tide *t;

	tg_group_settle(i, &m->share, &m->sharing, &m->own, a);
	TG_FORGET();
	t = tg_group_record(i, &m->sharing, &m->own);
	TG_FORGET();
	tg_group_align(&m->sharing, a);
	TG_FORGET();
	return t;
}

/* The path became longer for all flows that steer by `t`. Returns by how much, so that the flow's floor rises, too.
 * The delay that was queue until now is lag. */
TG_INLINE tg_u32 tg_member_rise(struct tg_member *m, const struct tg_tide *t, struct tg_arrival *a)
{
	tg_u32 rise_us = tg_tide_rise(t, &m->share);
	tg_u32 less_us = tg_min(rise_us, a->queue_us);

	m->sharing.seen_us -= (tg_s32)rise_us;
	a->queue_us -= less_us;
	a->lag_us += less_us;
	return rise_us;
}

/* The record learns from the arrival. Returns the flow's window. */
TG_INLINE tg_u32 tg_member_window(struct tg_member *m, struct tg_interface *i, struct tg_tide *t, struct tg_arrival *a)
{
	tg_u32 wanted;

	tg_group_beside(i, &m->sharing, t, a);
	TG_FORGET();
	wanted = tg_tide_arrived(t, &m->share, a);
	if (tg_record_knows_link(t))
		i->full_us = a->now_us;
	TG_FORGET();
	return wanted;
}

/* Compares the flow's delay with others', and publishes it; `received`: its bytes in all. */
TG_INLINE void tg_member_compare(struct tg_member *m, struct tg_interface *i, struct tg_arrival *a, tg_u64 received)
{
	tg_group_compare(i, &m->share, &m->sharing, &m->own, a, received);
	TG_FORGET();
	tg_group_publish(i, &m->sharing, a);
}

#endif
