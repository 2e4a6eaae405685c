/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Groups: flows that were found to share a queue, and steer by one record.
 *
 * Until proven otherwise a flow shares no queue: it is steered by its own record. An interface has places for eight
 * groups. A flow in no group takes a free place and publishes its delays there; the others compare with them (search.h,
 * sharing.h). The first flow that is found to share its queue makes it a group, with one record for both. In a group
 * flows publish in turns. Members compare, too: they leave a group that they no longer move with, move to an older one
 * that they also move with, and invite single flows.
 */
#ifndef TG_TIDE_GROUP_H
#define TG_TIDE_GROUP_H

#include "record.h"
#include "sharing.h"

#define TG_GROUP_BYTES TG_BULK_BYTES		 /* a flow that has brought less shows nothing to others */
#define TG_GROUP_TURN_US TG_FORGET_US		 /* how long a flow alone may hold a place that others want */
#define TG_GROUP_TURN_ROUNDS 64u		 /* for how many round trips it may, if that is longer: slow proofs need them; swept */
#define TG_GROUP_IDLE_US (60 * TG_SECOND_US)	 /* choice: how long an idle group keeps its place */
#define TG_GROUP_IDLE_ALONE_US TG_SHORT_US	 /* how long an idle flow alone keeps its place */
#define TG_GROUP_SILENT_US TG_SHORT_US		 /* a reporter is alone in its group if nobody has followed for so long after its turn */
#define TG_GROUP_APART_US (4 * TG_CELL_BURST_US) /* comparisons are half a round trip apart, but no less */
#define TG_GROUP_MANY 6u			 /* members that make a common queue likely for one more; swept */
#define TG_GROUP_OFFSET_DIVISOR TG_QUARTER	 /* part by which an offset that is too large is lowered, each packet */
#define TG_GROUP_DRAIN_US TG_SHORT_US		 /* wait after the first drain */
#define TG_GROUP_DRAIN_MAX_US TG_RARELY_US	 /* the longest wait, to which it is doubled */

/* What all members of a group together found about another's queue. */
struct tg_between {
	tg_u32 name; /* the other's */
	tg_s32 score;
};

/* A place: a group's, or that of a flow alone that others compare with. */
struct tg_group {
	tg_u64 seen_us;			      /* when its last data came */
	tg_u64 until_us;		      /* until when a flow alone may hold it, if others want it */
	tg_u64 turn_us;			      /* when another member may show what it sees */
	tg_u32 name;			      /* 0: the place is free */
	tg_u32 reporter;		      /* number of the flow whose delays are shown */
	tg_u32 shared;			      /* it is a group, whose record is here */
	tg_u32 invited;			      /* name of the group whose queue its flows were found to share; 0: none */
	tg_u32 invited_place;		      /* place of that group */
	tg_s32 invited_bias_us;		      /* how much more delay its flows see than that group's */
	struct tg_between between[TG_GROUPS]; /* what its members found in each place */
	struct tg_delay_sample samples[TG_DELAY_SAMPLES];
	struct tg_tide record;
};

/* What an interface's flows in one direction have in common. */
struct tg_interface {
	struct tg_group group[TG_GROUPS];
	tg_u64 full_us;	       /* when data last came over a path whose link is known */
	tg_u32 flows;	       /* flows that ever sent data */
	tg_u32 names;	       /* names given to groups */
	tg_u32 unit;	       /* unit of weights, where shares are by device (device.h); 0: they are by flow */
	tg_u32 last;	       /* number of the last packet's flow */
	tg_u32 published;      /* place in which something was shown last */
	tg_u32 places;	       /* the highest that was ever taken */
	tg_u32 party;	       /* party of the last packet: a group, or a flow alone */
	tg_u32 party_us;       /* when that packet came */
	tg_u32 party_queue_us; /* how long that packet had waited */
	tg_u32 party_rounds;   /* whether round trips told that, which include the other direction's queue */
	tg_u32 other_us;       /* when the last packet of any other party came */
	tg_u32 other_queue_us;
};

/* A flow's place among the groups. */
struct tg_sharing {
	tg_u64 next_us;	    /* when to compare again */
	tg_u64 drain_us;    /* when to drain again, while it is in no group */
	tg_u32 flow;	    /* number, from 1 */
	tg_u32 place;
	tg_u32 name;	    /* name of its group, or of the place that it holds alone; 0: none */
	tg_u32 joined;	    /* whether it is in a group */
	tg_s32 offset_us;   /* by how much more queueing delay its group sees than its own floor shows */
	tg_u32 turn;	    /* place to compare with in turn */
	tg_s32 seen_us;	    /* by how much more of a queue it sees than when it began */
	tg_u32 revealed_us; /* what the floor of its delay has fallen by, and RTTmin has not */
	tg_u32 nearer_us;   /* what RTTmin has fallen by, and that floor has not */
	tg_u32 drain_wait_us; /* how long after the last drain the next one comes */
	struct tg_comparison comparisons[TG_GROUPS];
};

TG_INLINE struct tg_group *tg_group_at(struct tg_interface *i, tg_u32 place)
{
	return &i->group[place % TG_GROUPS];
}

/* Whether the flow is in a group. */
TG_INLINE int tg_group_has(struct tg_interface *i, const struct tg_sharing *s)
{
	return s->joined && s->name == tg_group_at(i, s->place)->name;
}

/* The record that steers the flow. */
TG_INLINE struct tg_tide *tg_group_record(struct tg_interface *i, const struct tg_sharing *s,
					  struct tg_tide *own)
{
	return tg_group_has(i, s) ? &tg_group_at(i, s->place)->record : own;
}

/* How much more queueing delay the flow sees than what it was compared with, on average, by its present floor. */
TG_INLINE tg_s32 tg_group_bias(const struct tg_sharing *s, const struct tg_comparison *l)
{
	return l->bias_us + s->seen_us;
}

/* The flow's floor is assumed to hide `offset_us` of the queue. */
TG_INLINE void tg_group_set_offset(struct tg_sharing *s, tg_s32 offset_us)
{
	s->seen_us += offset_us - s->offset_us;
	s->offset_us = offset_us;
}

/* The floor hides less: lowers the offset by `by` at most. */
TG_INLINE void tg_group_lower_offset(struct tg_sharing *s, tg_u32 by)
{
	tg_group_set_offset(s, s->offset_us - (tg_s32)tg_min(by, (tg_u32)s->offset_us));
}

/* The flow enters the group in `place`. If it sees less delay than the others there, its floor hides a queue; if it
 * sees more, their floors do, and they are rechecked. */
TG_INLINE void tg_group_enter(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			      const struct tg_tide *own, tg_u32 place, const struct tg_arrival *a)
{
	struct tg_comparison *l = &s->comparisons[place % TG_GROUPS];
	struct tg_group *g = tg_group_at(i, place);
	tg_s32 bias_us;

	if (g->shared) {
		tg_record_merge(&g->record, own);
	} else {
		g->record = *own;
		g->invited = 0;
	}
	TG_FORGET();
	g->shared = 1;
	s->place = place;
	s->name = g->name;
	s->joined = 1;
	bias_us = l->name == g->name ? tg_group_bias(s, l) : 0;
	tg_group_set_offset(s, TG_WITH_OFFSETS && bias_us < 0 ? -bias_us : 0);
	if (share->h_us > (tg_u32)s->offset_us)
		share->h_us -= (tg_u32)s->offset_us;
	tg_record_check_floors(&g->record, bias_us, a);
	TG_FORGET();
	*l = (struct tg_comparison){ .name = g->name, .score = TG_SHARING_SURE };
	tg_record_enter(&g->record, share, 1);
}

/* The flow's floor is no longer assumed to hide a queue that other members see. */
TG_INLINE void tg_group_forget_offset(struct tg_share *share, struct tg_sharing *s)
{
	if (share->h_us)
		share->h_us = tg_max(share->h_us + (tg_u32)s->offset_us, 1);
	tg_group_set_offset(s, 0);
}

/* It steers by its own record again, with the rate that it had. */
TG_INLINE void tg_group_leave(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			      struct tg_tide *own, const struct tg_arrival *a)
{
	struct tg_tide *t = &tg_group_at(i, s->place)->record;
	tg_s64 rate = tg_record_rate_of(t, share);

	tg_record_shift(t, -rate);
	TG_FORGET();
	tg_group_forget_offset(share, s);
	tg_record_found(own, t, share, rate, a->now_us);
	s->name = 0;
	s->joined = 0;
	tg_record_enter(own, share, 0);
}

/* Its delays do not move with the group's any more: it leaves, and it takes twice a proof to come back. */
TG_INLINE void tg_group_split(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			     struct tg_tide *own, const struct tg_arrival *a)
{
	tg_group_leave(i, share, s, own, a);
	s->comparisons[s->place % TG_GROUPS].score = -TG_SHARING_PROOF;
}

TG_INLINE void tg_group_free(struct tg_group *g)
{
	g->name = 0;
}

TG_INLINE int tg_group_vacant(const struct tg_group *g, tg_u64 now_us)
{
	if (!g->name)
		return 1;
	if (g->shared)
		return now_us > g->seen_us + TG_GROUP_IDLE_US;
	return now_us > g->until_us || now_us > g->seen_us + TG_GROUP_IDLE_ALONE_US;
}

/* The flow gives up its place: it leaves its group, or frees the place that it holds alone. If others have made that
 * place a group while the flow still started, it is theirs. */
TG_INLINE void tg_group_quit(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			     struct tg_tide *own, const struct tg_arrival *a)
{
	struct tg_group *g = tg_group_at(i, s->place);

	if (tg_group_has(i, s))
		tg_group_leave(i, share, s, own, a);
	else if (s->name == g->name && !g->shared)
		tg_group_free(g);
}

/* A flow alone takes a place, if there is one, so that others can compare with it. */
TG_INLINE void tg_group_show(struct tg_interface *i, struct tg_sharing *s, tg_u64 now_us, tg_u32 round_us)
{
	for (tg_u32 n = 0; n < TG_GROUPS; n++) {
		struct tg_group *g = tg_group_at(i, n);

		if (!tg_group_vacant(g, now_us))
			continue;
		g->name = ++i->names;
		g->until_us = now_us + tg_max(TG_GROUP_TURN_US, TG_GROUP_TURN_ROUNDS * round_us);
		g->seen_us = now_us;
		g->turn_us = 0;
		g->reporter = s->flow;
		g->shared = 0;
		g->invited = 0;
		s->place = n;
		s->name = g->name;
		i->places = tg_max(i->places, n);
		return;
	}
}

/* A member has found that the flow alone in `g` shares its queue. */
TG_INLINE void tg_group_invite(struct tg_group *g, const struct tg_sharing *s,
			       const struct tg_comparison *l)
{
	if (!TG_WITH_INVITATIONS || g->invited)
		return;
	g->invited = s->name;
	g->invited_place = s->place;
	g->invited_bias_us = -tg_group_bias(s, l);
}

/* A flow of `g` follows an invitation, unless it has left that group for a reason. */
TG_INLINE void tg_group_follow(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			       struct tg_tide *own, struct tg_group *g,
			       const struct tg_arrival *a)
{
	struct tg_comparison *l = &s->comparisons[g->invited_place % TG_GROUPS];
	tg_u32 name = g->invited;
	tg_u32 place = g->invited_place;

	/* Other members may still follow the invitation, as long as that group exists. */
	if (tg_group_at(i, place)->name != name) {
		g->invited = 0;
		return;
	}
	if (l->name == name && l->score < TG_SHARING_LEAST) {
		if (!g->shared)
			g->invited = 0;
		return;
	}
	if (l->name != name) {
		l->name = name;
		l->bias_us = g->invited_bias_us - s->seen_us;
	}
	if (!g->shared) {
		l->bias_us = g->invited_bias_us - s->seen_us;
		g->invited = 0;
	}
	tg_group_quit(i, share, s, own, a);
	TG_FORGET();
	tg_group_enter(i, share, s, own, place, a);
}

/* Another flow has taken the flow's place: it goes on with its own record, unchanged. */
TG_INLINE void tg_group_lose(struct tg_share *share, struct tg_sharing *s, struct tg_tide *own)
{
	if (s->joined) {
		tg_group_forget_offset(share, s);
		tg_record_enter(own, share, 0);
	}
	s->name = 0;
	s->joined = 0;
}

/* Whether no other member of its group has shown anything for long. */
TG_INLINE int tg_group_alone(const struct tg_group *g, const struct tg_sharing *s, tg_u64 now_us)
{
	return s->joined && g->reporter == s->flow && now_us > g->turn_us + TG_GROUP_SILENT_US;
}

/* A packet of the flow has arrived: settles which group the flow is in. A flow that starts is left to start. */
TG_INLINE void tg_group_settle(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
				struct tg_tide *own, const struct tg_arrival *a)
{
	struct tg_group *g = tg_group_at(i, s->place);

	if (!s->flow)
		s->flow = ++i->flows;
	if (s->name != g->name)
		tg_group_lose(share, s, own);
	if (tg_group_alone(g, s, a->now_us))
		tg_group_forget_offset(share, s);
	if (!s->name || (!s->joined && !tg_record_knows_link(own)))
		return;
	if (g->invited)
		tg_group_follow(i, share, s, own, g, a);
	else if (g->shared && !s->joined)
		tg_group_enter(i, share, s, own, s->place, a);
}

/* If both the delay's floor and RTTmin fall by an amount, they hid a queue of that size, which is seen from now on.
 * If a peer's clock is set, or swings, only the floor of the delay moves. */
TG_INLINE void tg_group_reveal(struct tg_sharing *s, const struct tg_arrival *a)
{
	tg_u32 revealed_us;

	s->revealed_us += a->revealed_us;
	s->nearer_us += a->nearer_us;
	revealed_us = tg_min(s->revealed_us, s->nearer_us);
	s->revealed_us -= revealed_us;
	s->nearer_us -= revealed_us;
	if (TG_WITH_REVEALED_FLOORS)
		s->seen_us += (tg_s32)revealed_us;
}

/* Converts an arrival to the group's view: a queue that the flow's floor hides is no part of its lag. A floor that
 * has fallen hides less, by as much. */
TG_INLINE void tg_group_align(struct tg_sharing *s, struct tg_arrival *a)
{
	tg_s32 by;

	tg_group_reveal(s, a);
	if (s->offset_us > 0) {
		by = (tg_s32)tg_min(a->fell_us, (tg_u32)s->offset_us);
		tg_group_lower_offset(s, (tg_u32)by);
		a->fell_us -= (tg_u32)by;
	}
	by = s->offset_us;
	a->queue_us = (tg_s32)a->queue_us + by > 0 ? a->queue_us + (tg_u32)by : 0;
	if (a->lag_us)
		a->lag_us = (tg_s32)a->lag_us > by ? a->lag_us - (tg_u32)by : 1;
	if (by > 0)
		a->rtt_min_us = (tg_s32)a->rtt_min_us > by ? a->rtt_min_us - (tg_u32)by : 1;
}

/* If others of its group see no queue but the flow does, or see less than it does on average, its floor hides less than
 * was assumed. */
TG_INLINE void tg_group_realign(struct tg_sharing *s, const struct tg_comparison *l, const struct tg_delay_sample *m,
				tg_u32 queue_us, const struct tg_tide *t)
{
	tg_u32 empty_us = tg_record_empty_us(t);
	tg_s32 bias_us = tg_group_bias(s, l);

	if (!TG_WITH_REALIGNMENT || s->offset_us <= 0)
		return;
	if (m->queue_us <= empty_us && queue_us > m->queue_us + empty_us)
		tg_group_lower_offset(s, (queue_us - m->queue_us) / TG_GROUP_OFFSET_DIVISOR);
	else if (tg_record_flows(t) >= TG_GROUP_MANY && bias_us > (tg_s32)tg_max(TG_SHARING_MOVE_US, TG_SHARING_NOISE * l->noise_us))
		tg_group_lower_offset(s, (tg_u32)bias_us / TG_GROUP_OFFSET_DIVISOR);
}

#endif
