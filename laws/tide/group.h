/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* Groups: the flows of an interface that were found to share a queue, and steer by one record. */
#ifndef TG_TIDE_GROUP_H
#define TG_TIDE_GROUP_H

#include "forecast.h"
#include "recheck.h"
#include "sharing.h"

#define TG_GROUP_BYTES (64 * TG_DEFAULT_MSS) /* a flow that has brought less shows nothing to others */
#define TG_GROUP_TURN_US (4 * TG_SECOND_US)  /* how long one flow alone may hold a place that others want */
#define TG_GROUP_IDLE_US (60 * TG_SECOND_US) /* and a group of which nothing comes */

/* What an interface's flows in one direction have in common. */
struct tg_interface {
	struct tg_group group[TG_GROUPS];
	tg_u64 full_us; /* when data last came of a queue that is known */
	tg_u32 flows;	/* that ever sent data */
	tg_u32 names;	/* given to groups */
	tg_u32 last;	/* flow of the last packet */
	tg_u32 spare;
};

/* Whether the flow is one of a group. */
TG_INLINE int tg_group_has(const struct tg_interface *i, const struct tg_sharing *s)
{
	const struct tg_group *g = &i->group[s->place % TG_GROUPS];

	return s->joined && s->name == g->name;
}

/* Whether it holds a place by itself, for others to compare with. */
TG_INLINE int tg_group_shows(const struct tg_interface *i, const struct tg_sharing *s)
{
	const struct tg_group *g = &i->group[s->place % TG_GROUPS];

	return s->name && s->name == g->name && !s->joined;
}

/* What arrives there from now on is `by` more or less. */
TG_INLINE void tg_tide_shift(struct tg_tide *t, tg_s64 by)
{
	for (tg_u32 n = 0; n < TG_TIDE_BUCKETS; n++) {
		tg_s64 bytes = (tg_s64)t->bytes[n];
		tg_s64 more = by >= 0 ? (tg_s64)((tg_u64)by * t->width_us[n] >> TG_TIDE_Q)
				      : -(tg_s64)((tg_u64)-by * t->width_us[n] >> TG_TIDE_Q);

		if (bytes + more < 0)
			more = -bytes;
		t->bytes[n] += (tg_u64)more;
		t->sum += (tg_u64)more;
		t->forecast[n] = t->forecast[n] + by > 0 ? t->forecast[n] + by : 0;
	}
	t->m = t->m + by > 0 ? t->m + by : 0;
	t->touched_m = t->touched_m + by > 0 ? t->touched_m + by : 0;
}

/* The flow's record becomes part of its group's: that of the two which knows its link is kept, with
 * what the other brings. */
TG_INLINE void tg_group_merge(struct tg_tide *t, const struct tg_tide *own)
{
	tg_s64 by = own->state == TG_TIDE_STARTING ? tg_tide_rate(own) : own->m;

	if (t->state == TG_TIDE_STARTING && own->state != TG_TIDE_STARTING) {
		by = tg_tide_rate(t);
		*t = *own;
	}
	if (t->state != TG_TIDE_STARTING)
		tg_tide_shift(t, by);
}

/* The flow steers by the record of the group in `place` from now on. */
TG_INLINE void tg_group_enter(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			      const struct tg_tide *own, tg_u32 place)
{
	struct tg_group *g = &i->group[place % TG_GROUPS];
	struct tg_tide *t = &g->tide;
	tg_u32 weight = share->weight ? share->weight : 1;

#ifdef TG_TRACE
	__builtin_printf("%.3f join flow %u place %u name %u shared %u m %lld own %lld bias %d state %u\n", own->arrived_us / 1e6, s->flow, place, g->name, g->shared, (long long)t->m*8>>24, (long long)own->m*8>>24, s->looks[place].bias_us, own->state);
#endif
	if (g->shared)
		tg_group_merge(t, own);
	else
		*t = *own;
	g->shared = 1;
	s->place = place;
	s->name = g->name;
	s->joined = 1;
	s->offset_us = -s->looks[place % TG_GROUPS].bias_us;
	s->looks[place % TG_GROUPS].bias_us = 0;
	if ((tg_s32)share->h_us > s->offset_us)
		share->h_us -= (tg_u32)s->offset_us;
	s->looks[place % TG_GROUPS].name = g->name;
	s->looks[place % TG_GROUPS].flow = 0;
	s->looks[place % TG_GROUPS].score = TG_SHARING_SURE;
	share->risen_us = t->risen_us;
	share->span = t->span;
	share->fallen_us = 0;
	share->epoch = t->epoch;
	share->bytes = 0;
	share->hungry_epoch = t->epoch + 1;
	t->hungry += weight;
	t->hungry_now += weight;
}

/* It steers by its own again, with the rate that it had. */
TG_INLINE void tg_group_leave(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			      struct tg_tide *own, const struct tg_arrival *a)
{
	struct tg_tide *t = &i->group[s->place % TG_GROUPS].tide;
	tg_s64 rate = (tg_s64)(((tg_u64)share->was << TG_TIDE_Q) / tg_max(t->epoch_us, 1));

#ifdef TG_TRACE
	__builtin_printf("%.3f leave flow %u place %u score %d m %lld rate %lld q %u gq %u\n", a->now_us / 1e6, s->flow, s->place, s->looks[s->place].score, (long long)t->m*8>>24, (long long)rate*8>>24, a->queue_us, i->group[s->place].queue_us);
#endif
	if (rate > t->m)
		rate = t->m;
	tg_tide_shift(t, -rate);
	share->h_us += (tg_u32)s->offset_us;
	s->offset_us = 0;
	*own = (struct tg_tide){ 0 };
	own->h_us = tg_max(share->h_us, 1);
	own->lag_us = a->now_us;
	own->arrived_us = a->now_us;
	own->mss = t->mss;
	tg_least_note(&own->base_us, own->h_us, own->h_us, a->now_us);
	tg_tide_restart(own, a->now_us);
	if (t->state != TG_TIDE_STARTING && rate > 0) {
		tg_tide_run(own, rate);
		own->d1 = own->d1 >> 2;
		own->d2 = own->d1;
		own->touched_us = a->now_us;
	}
	s->name = 0;
	s->joined = 0;
	share->risen_us = 0;
	share->span = 0;
	share->fallen_us = 0;
	share->epoch = 0;
	share->bytes = 0;
	share->hungry_epoch = 0;
}

/* Gives a place up. */
TG_INLINE void tg_group_free(struct tg_group *g)
{
	g->name = 0;
}

/* Whether a place may be taken. */
TG_INLINE int tg_group_vacant(const struct tg_group *g, tg_u64 now_us)
{
	if (!g->name)
		return 1;
	if (g->shared)
		return now_us > g->seen_us + TG_GROUP_IDLE_US;
	return now_us > g->since_us + TG_GROUP_TURN_US || now_us > g->seen_us + TG_SECOND_US;
}

/* A flow alone takes a place, if there is one, so that others can compare with it. */
TG_INLINE void tg_group_show(struct tg_interface *i, struct tg_sharing *s, tg_u64 now_us)
{
	for (tg_u32 n = 0; n < TG_GROUPS; n++) {
		struct tg_group *g = &i->group[n];

		if (!tg_group_vacant(g, now_us))
			continue;
		*g = (struct tg_group){ 0 };
		g->name = ++i->names;
		g->since_us = now_us;
		s->place = n;
		s->name = g->name;
		return;
	}
}

/* The record that steers the flow. */
TG_INLINE struct tg_tide *tg_group_record(struct tg_interface *i, const struct tg_sharing *s,
					  struct tg_tide *own)
{
	return tg_group_has(i, s) ? &i->group[s->place % TG_GROUPS].tide : own;
}

/* A member has found that the flow alone in `g` shares its queue. */
TG_INLINE void tg_group_invite(struct tg_group *g, const struct tg_sharing *s, const struct tg_look *l)
{
	if (g->invited)
		return;
	g->invited = s->name;
	g->invited_place = s->place;
	g->invited_bias_us = -l->bias_us;
}

/* A packet of the flow has arrived: what it is a part of. */
TG_INLINE void tg_group_arrives(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
				  struct tg_tide *own)
{
	struct tg_group *g = &i->group[s->place % TG_GROUPS];
	tg_u32 invited;

	if (!s->flow)
		s->flow = ++i->flows;
	if (s->name && s->name != g->name) {
		s->name = 0;
		s->joined = 0;
	}
	if (!s->name || s->joined)
		return;
	if (g->shared) {
		tg_group_enter(i, share, s, own, s->place);
		return;
	}
	invited = g->invited_place % TG_GROUPS;
	if (!g->invited || i->group[invited].name != g->invited)
		return;
	if (s->looks[invited].name == g->invited && s->looks[invited].score < TG_SHARING_LEAST) {
		g->invited = 0;
		return;
	}
	tg_group_free(g);
	s->looks[invited].bias_us = g->invited_bias_us;
	tg_group_enter(i, share, s, own, invited);
}

/* Sees an arrival as the group does: a queue that the flow's floor hides is no part of its lag. */
TG_INLINE void tg_group_align(struct tg_sharing *s, struct tg_arrival *a)
{
	tg_s32 by;

	if (s->offset_us > 0) {
		by = (tg_s32)tg_min(a->fell_us, (tg_u32)s->offset_us);
		s->offset_us -= by;
		a->fell_us -= (tg_u32)by;
	}
	by = s->offset_us;
	if (!by)
		return;
	a->queue_us = (tg_s32)a->queue_us + by > 0 ? a->queue_us + (tg_u32)by : 0;
	if (a->lag_us)
		a->lag_us = (tg_s32)a->lag_us > by ? a->lag_us - (tg_u32)by : 1;
	if (by > 0)
		a->rtt_min_us = (tg_s32)a->rtt_min_us > by ? a->rtt_min_us - (tg_u32)by : 1;
}

TG_INLINE int tg_group_beside(const struct tg_group *g, tg_u64 now_us, tg_u32 beside_us)
{
	return now_us < g->seen_us + beside_us && g->seen_us < now_us + beside_us;
}

/* A flow alone beside others lets the queue sink. */
TG_INLINE void tg_group_dip(struct tg_sharing *s, struct tg_tide *own, const struct tg_arrival *a)
{
	if (own->state != TG_TIDE_RUNNING || a->now_us < s->dip_us)
		return;
	tg_tide_begin_recheck(own, a, own->h_us / 2);
	s->dip_wait_us = tg_min(tg_max(2 * s->dip_wait_us, TG_SECOND_US), TG_TIDE_RECHECK_MAX_US);
	s->dip_us = own->recheck_end_us + s->dip_wait_us;
}

/* Compares the flow with what is in place `n`, if that was heard just now: `s->found` is the first that it
 * is proven to share a queue with. Its results lie in the records, where the verifier forgets them
 * between one place and the next. */
TG_INLINE void tg_group_look(struct tg_interface *i, struct tg_sharing *s, tg_u32 n,
			     const struct tg_arrival *a, tg_u32 h_us, tg_u32 beside_us,
			     tg_u32 mine_us, tg_u32 tick_us, tg_u32 apart_us)
{
	struct tg_group *g = &i->group[n];
	struct tg_look *l = &s->looks[n];
	int member = tg_group_has(i, s);
	int own = member && n == s->place;
	int together;

	if (!g->name || g->flow == s->flow || !tg_group_beside(g, a->now_us, beside_us))
		return;
#ifdef TG_TRACE_LOOKS
	__builtin_printf("%.3f look flow %u at %u speaker %u mine %u its %u score %d\n", a->now_us/1e6, s->flow, n, g->flow, a->queue_us, g->queue_us, l->score);
#endif
	s->next_us = a->now_us + h_us / 16;
	together = tg_sharing_look(l, g, mine_us, a->queue_us, tick_us, own, (tg_u32)a->now_us,
				   apart_us);
	if (own)
		tg_sharing_realign(s, l, together);
	if (l->score < TG_SHARING_PROOF)
		return;
	if (member && !g->shared)
		tg_group_invite(g, s, l);
	else if (s->found == TG_GROUPS && !(member && n >= s->place))
		s->found = n;
}

/* Compares the flow with the interface's groups. */
TG_INLINE void tg_group_compare(struct tg_interface *i, struct tg_share *share,
				  struct tg_sharing *s, struct tg_tide *own, const struct tg_arrival *a,
				  tg_u32 mine_us, tg_u32 tick_us, tg_u64 received)
{
	const struct tg_tide *t = tg_group_record(i, s, own);
	tg_u32 h_us = t->h_us;
	tg_u32 segment_us = tg_tide_segment_us(t);
	tg_u32 beside_us = tg_max(tg_max(TG_SHARING_BESIDE_US, h_us / 32), 2 * segment_us);
	tg_u32 apart_us = tg_max(share->h_us / 2, 16 * TG_MS_US);

	if (i->last == s->flow || a->now_us < s->next_us)
		return;
	s->found = TG_GROUPS;
	for (tg_u32 n = 0; n < TG_GROUPS; n++) {
		tg_group_look(i, s, n, a, h_us, beside_us, mine_us, tg_max(tick_us, segment_us / 2),
			      apart_us);
		TG_FORGET();
	}
	if (tg_group_has(i, s) && s->looks[s->place % TG_GROUPS].score <= 0) {
		tg_group_leave(i, share, s, own, a);
		s->left = tg_min(s->left + 1, 8);
		s->looks[s->place % TG_GROUPS].score = -(6 << s->left);
		return;
	}
	if (s->found < TG_GROUPS) {
		if (tg_group_has(i, s))
			tg_group_leave(i, share, s, own, a);
		else if (s->name)
			tg_group_free(&i->group[s->place % TG_GROUPS]);
		TG_FORGET();
		tg_group_enter(i, share, s, own, s->found);
		return;
	}
	if (!s->name && received >= TG_GROUP_BYTES)
		tg_group_show(i, s, a->now_us);
	if (!tg_group_has(i, s))
		tg_group_dip(s, own, a);
}

/* What others compare with. */
TG_INLINE void tg_group_publish(struct tg_interface *i, const struct tg_sharing *s,
				const struct tg_arrival *a, tg_u32 mine_us)
{
	struct tg_group *g = &i->group[s->place % TG_GROUPS];

	i->last = s->flow;
	if (!s->name || s->name != g->name)
		return;
	if (g->flow != s->flow) {
		if (a->now_us < g->turn_us)
			return;
		g->flow = s->flow;
		g->turn_us = a->now_us + g->tide.h_us;
	}
	g->seen_us = a->now_us;
	g->heard++;
	g->queue_us = a->queue_us;
	g->delay_us = mine_us;
}

#endif
