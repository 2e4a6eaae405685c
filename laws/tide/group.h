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

#include "forecast.h"
#include "recheck.h"
#include "sharing.h"

#define TG_GROUP_BYTES (64 * TG_DEFAULT_MSS) /* choice: who has brought less shows nothing to others */
#define TG_GROUP_TURN_US (4 * TG_SECOND_US)  /* how long one flow alone may hold a place that others want; swept, */
#define TG_GROUP_TURN_ROUNDS 64u	     /* or for so many round trips, if that is longer: slow proofs need them; swept, */
#define TG_GROUP_IDLE_US (60 * TG_SECOND_US) /* choice: or a group of which nothing has come */
#define TG_GROUP_IDLE_ALONE_US TG_SECOND_US  /* choice: and a flow alone of which nothing comes */
#define TG_GROUP_SILENT_US TG_SECOND_US	     /* choice: a speaker is alone in its group if nobody has followed for so long after its turn */
#define TG_GROUP_APART_US (16 * TG_MS_US)    /* comparisons are half a round trip apart, but no less; swept */
#define TG_GROUP_CROWD 48	     /* found by others together, so that less is a proof: four proofs; swept, */
#define TG_GROUP_CROWD_MAX 64	     /* what counts of it at most; swept, */
#define TG_GROUP_CROWD_PROOF 4	     /* and the score that is a proof then; swept */
#define TG_GROUP_CROWD_US TG_SECOND_US /* after so long a part of what others have found is forgotten; swept, */
#define TG_GROUP_CROWD_SHIFT 1	     /* namely this part; swept */
#define TG_GROUP_MANY 6u	     /* members that make a common queue likely for one more; swept */
#define TG_GROUP_STOOD 96u		     /* buckets without an empty queue until a group's queue is let sink; swept, */
#define TG_GROUP_FULL 128u		     /* and after that, before a member's offset is doubted; swept */
#define TG_GROUP_SEGMENTS 2u	     /* of each hungry member: only with more may the queue run empty; swept */
#define TG_GROUP_LEFT 8u	     /* choice: so many departures make it harder to come back, each twice as hard */
#define TG_GROUP_OFFSET_PART 4u	     /* part by which an offset that is too large is lowered, each packet; swept */
#define TG_GROUP_OWN_ERROR_SHIFT 2   /* part of the usual first guess of a rate's error, where the group knew the rate; swept */
#define TG_GROUP_DIP_US TG_SECOND_US	     /* wait after the first dip; swept, */
#define TG_GROUP_DIP_MAX_US (16 * TG_SECOND_US) /* doubled up to this; swept */

/* When a record lets its queue sink again. */
struct tg_dip {
	tg_u64 at_us;
	tg_u32 wait_us;
	tg_u32 unused;
};

/* What all members of a group together found about another's queue. */
struct tg_between {
	tg_u32 name; /* the other's */
	tg_s32 score;
};

/* A place: a group's, or that of a flow alone that others compare with. */
struct tg_group {
	tg_u64 seen_us;	 /* last data of it */
	tg_u64 until_us; /* how long a flow alone may hold it, if others want it */
	tg_u64 turn_us;	 /* when another member may show what it sees */
	tg_u32 name;	 /* 0: the place is free */
	tg_u32 flow;	 /* number of the flow that shows: the speaker */
	tg_u32 shared;	 /* it is a group, whose record is here */
	tg_s32 crowd;	 /* what all others found about its queue together of late, */
	tg_u32 crowd_us; /* and since when that counts in full */
	tg_u32 invited;	 /* name of the group that its flows are found to share a queue with, */
	tg_u32 invited_place; /* where that is, */
	tg_s32 invited_bias_us; /* and how much more delay they see */
	struct tg_dip dip;
	tg_u16 parted;	 /* whether a member has left because its delays did not move with the group's */
	tg_u16 sank;	 /* whether the queue was let sink since it last ran empty, */
	tg_u32 sunk;	 /* and the buckets that it had stood by then */
	struct tg_between between[TG_GROUPS]; /* what its members found in each place */
	struct tg_moment moments[TG_MOMENTS];
	struct tg_tide tide;
};

/* What an interface's flows in one direction have in common. */
struct tg_interface {
	struct tg_group group[TG_GROUPS];
	tg_u64 full_us; /* when data last came through a queue that is known */
	tg_u32 flows;	/* that ever sent data */
	tg_u32 names;	/* given to groups */
	tg_u32 unit;	/* of a weight, where shares are by device (device.h); 0: they are by flow */
	tg_u32 last;	/* number of the flow that the last packet was of */
	tg_u32 told;	/* place in which something was shown last */
	tg_u32 places;	/* the highest that was ever taken */
	tg_u32 party;	/* whose the last packet was: a group's, or a flow's alone */
	tg_u32 party_us; /* when, */
	tg_u32 party_queue_us; /* what it had waited, */
	tg_u32 party_rounds; /* and whether round trips told that, which hold the other direction's queue as well */
	tg_u32 other_us; /* likewise of the last packet of any other */
	tg_u32 other_queue_us;
};

/* Where a flow stands. */
struct tg_sharing {
	tg_u64 next_us;	  /* when to compare again */
	struct tg_dip dip;
	tg_u32 flow;	  /* number, from 1 */
	tg_u32 place;
	tg_u32 name;	  /* of the group that it is in, or holds a place for; 0: none */
	tg_u32 joined;	  /* whether it is in it */
	tg_s32 offset_us; /* by how much more queueing delay its group sees than its own floor shows */
	tg_u32 left;	  /* how often it has left a group */
	tg_u32 heard;	  /* which of its speaker's moments is beside the packet, or TG_MOMENTS */
	tg_u32 turn;	  /* place to compare with in turn */
	tg_s32 seen_us;	  /* by how much more of a queue it sees than when it began */
	tg_u32 bared_us;  /* what the floor of its delay has fallen by, and RTTmin has not, */
	tg_u32 nearer_us; /* and the opposite */
	tg_u32 found;	  /* place whose queue was found to be the flow's as well, or TG_GROUPS */
	struct tg_look looks[TG_GROUPS];
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
	return tg_group_has(i, s) ? &tg_group_at(i, s->place)->tide : own;
}

TG_INLINE tg_s64 tg_rate_plus(tg_s64 rate, tg_s64 by)
{
	return rate + by > 0 ? rate + by : 0;
}

/* From now on `by` more arrives for this record, or less. */
TG_INLINE void tg_group_shift(struct tg_tide *t, tg_s64 by)
{
	t->sum = 0;
	for (tg_u32 n = 0; n < TG_TIDE_BUCKETS; n++) {
		tg_u64 bytes = (tg_u64)(by < 0 ? -by : by) * t->width_us[n] >> TG_TIDE_Q;

		if (by >= 0)
			t->bytes[n] += bytes;
		else
			t->bytes[n] -= bytes < t->bytes[n] ? bytes : t->bytes[n];
		t->sum += t->bytes[n];
		t->forecast[n] = tg_rate_plus(t->forecast[n], by);
		TG_FORGET();
	}
	tg_tide_set_forecast(t, tg_rate_plus(t->m, by));
	t->touched_m = tg_rate_plus(t->touched_m, by);
}

/* A flow's record is merged into its group's: the one that knows its link is kept, and the other's rate is added. */
TG_INLINE void tg_group_merge(struct tg_tide *t, const struct tg_tide *own)
{
	tg_s64 by = own->state == TG_TIDE_STARTING ? tg_tide_rate(own) : own->m;

	if (t->state == TG_TIDE_STARTING && own->state != TG_TIDE_STARTING) {
		by = tg_tide_rate(t);
		*t = *own;
	}
	if (t->state != TG_TIDE_STARTING)
		tg_group_shift(t, by);
}

/* The flow's part in its present record; `hungry` until more is known. A flow of a known device takes its part from the
 * device's. */
TG_INLINE void tg_group_begin(struct tg_tide *t, struct tg_share *share, int hungry)
{
	share->risen_us = t->risen_us;
	share->span = t->span;
	share->fallen_us = 0;
	share->epoch = t->epoch;
	share->bytes = 0;
	share->hungry_epoch = 0;
	share->touched_h_us = share->h_us;
	if (!hungry || share->part)
		return;
	share->hungry_epoch = t->epoch + 1;
	t->hungry += tg_max(share->weight, 1);
	t->hungry_now += tg_max(share->weight, 1);
	t->wanting += tg_max(share->weight, 1);
	t->wanting_now += tg_max(share->weight, 1);
}

/* How much more queueing delay the flow sees than what it was compared with, on average, by its present floor. */
TG_INLINE tg_s32 tg_group_bias(const struct tg_sharing *s, const struct tg_look *l)
{
	return l->bias_us + s->seen_us;
}

/* The flow's floor is taken to hide so much of the queue. */
TG_INLINE void tg_group_set_offset(struct tg_sharing *s, tg_s32 offset_us)
{
	s->seen_us += offset_us - s->offset_us;
	s->offset_us = offset_us;
}

/* It hides less, by `by` at most. */
TG_INLINE void tg_group_lower_offset(struct tg_sharing *s, tg_u32 by)
{
	tg_group_set_offset(s, s->offset_us - (tg_s32)tg_min(by, (tg_u32)s->offset_us));
}

/* The flow enters the group in `place`. If it sees less delay than the others there, its floor hides a queue; if it
 * sees more, their floors do, and they are rechecked. */
TG_INLINE void tg_group_enter(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			      const struct tg_tide *own, tg_u32 place, const struct tg_arrival *a)
{
	struct tg_look *l = &s->looks[place % TG_GROUPS];
	struct tg_group *g = tg_group_at(i, place);
	tg_s32 bias_us;

	if (g->shared) {
		tg_group_merge(&g->tide, own);
	} else {
		g->tide = *own;
		g->invited = 0;
	}
	TG_FORGET();
	g->shared = 1;
	s->place = place;
	s->name = g->name;
	s->joined = 1;
	bias_us = l->name == g->name ? tg_group_bias(s, l) : 0;
	tg_group_set_offset(s, bias_us < 0 ? -bias_us : 0);
	if (share->h_us > (tg_u32)s->offset_us)
		share->h_us -= (tg_u32)s->offset_us;
	if (bias_us > (tg_s32)TG_TIDE_FALL_US && g->tide.state == TG_TIDE_RUNNING &&
	    tg_tide_recheck_affordable(&g->tide, a->now_us))
		tg_tide_recheck_fallen(&g->tide, a);
	TG_FORGET();
	*l = (struct tg_look){ .name = g->name, .score = TG_SHARING_SURE };
	tg_group_begin(&g->tide, share, 1);
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
	struct tg_tide *t = &tg_group_at(i, s->place)->tide;
	tg_s64 rate = (tg_s64)(((tg_u64)share->was << TG_TIDE_Q) / tg_max(t->epoch_us, 1));

	if (rate > t->m)
		rate = t->m;
	tg_group_shift(t, -rate);
	TG_FORGET();
	tg_group_forget_offset(share, s);
	*own = (struct tg_tide){ 0 };
	own->h_us = tg_max(share->h_us, 1);
	own->lag_moved_at_us = a->now_us;
	own->arrived_us = a->now_us;
	own->mss = t->mss;
	tg_least_note(&own->base_us, own->h_us, own->h_us, a->now_us);
	tg_tide_restart(own, a->now_us);
	TG_FORGET();
	if (t->state != TG_TIDE_STARTING && rate > 0) {
		tg_tide_run(own, rate);
		own->d1 >>= TG_GROUP_OWN_ERROR_SHIFT;
		own->d2 = own->d1;
	}
	s->name = 0;
	s->joined = 0;
	tg_group_begin(own, share, 0);
}

/* Its delays do not move with the group's any more: it leaves, and each time it takes more to come back. */
TG_INLINE void tg_group_part(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
			     struct tg_tide *own, const struct tg_arrival *a)
{
	tg_group_at(i, s->place)->parted = 1;
	tg_group_leave(i, share, s, own, a);
	s->left = tg_min(s->left + 1, TG_GROUP_LEFT);
	s->looks[s->place % TG_GROUPS].score = (tg_s16)-(TG_SHARING_PROOF / 2 << s->left);
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
		g->flow = s->flow;
		g->shared = 0;
		g->invited = 0;
		g->crowd = 0;
		g->dip = (struct tg_dip){ 0 };
		g->sank = 0;
		g->parted = 0;
		s->place = n;
		s->name = g->name;
		i->places = tg_max(i->places, n);
		return;
	}
}

/* A member has found that the flow alone in `g` shares its queue. */
TG_INLINE void tg_group_invite(struct tg_group *g, const struct tg_sharing *s,
			       const struct tg_look *l)
{
	if (g->invited)
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
	struct tg_look *l = &s->looks[g->invited_place % TG_GROUPS];
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
	if (g->shared) {
		tg_group_leave(i, share, s, own, a);
	} else {
		l->bias_us = g->invited_bias_us - s->seen_us;
		g->invited = 0;
		tg_group_free(g);
	}
	tg_group_enter(i, share, s, own, place, a);
}

/* Another flow has the flow's place by now: it goes on with its own record, unchanged. */
TG_INLINE void tg_group_lose(struct tg_share *share, struct tg_sharing *s, struct tg_tide *own)
{
	if (s->joined) {
		tg_group_forget_offset(share, s);
		tg_group_begin(own, share, 0);
	}
	s->name = 0;
	s->joined = 0;
}

/* Whether nobody else of its group has shown anything for long. */
TG_INLINE int tg_group_alone(const struct tg_group *g, const struct tg_sharing *s, tg_u64 now_us)
{
	return s->joined && g->flow == s->flow && now_us > g->turn_us + TG_GROUP_SILENT_US;
}

/* Whether those who were in its group have left it alone there, as their delays did not move with its own. Who was there
 * and is done says nothing about its floor. */
TG_INLINE int tg_group_deserted(const struct tg_group *g, const struct tg_sharing *s, tg_u64 now_us)
{
	return g->parted && tg_group_alone(g, s, now_us);
}

/* A packet of the flow has arrived: settles which group the flow is in. A flow that starts is left to start. */
TG_INLINE void tg_group_arrives(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
				struct tg_tide *own, const struct tg_arrival *a)
{
	struct tg_group *g = tg_group_at(i, s->place);

	if (!s->flow)
		s->flow = ++i->flows;
	if (s->name != g->name)
		tg_group_lose(share, s, own);
	if (tg_group_alone(g, s, a->now_us))
		tg_group_forget_offset(share, s);
	if (!s->name || (!s->joined && own->state == TG_TIDE_STARTING))
		return;
	if (g->invited)
		tg_group_follow(i, share, s, own, g, a);
	else if (g->shared && !s->joined)
		tg_group_enter(i, share, s, own, s->place, a);
}

/* By what both the delay's floor and RTTmin fall, they hid a queue that is seen from now on. A peer's clock that is set,
 * or swings, moves the floor of the delay alone. */
TG_INLINE void tg_group_bare(struct tg_sharing *s, const struct tg_arrival *a)
{
	tg_u32 bared_us;

	s->bared_us += a->bared_us;
	s->nearer_us += a->nearer_us;
	bared_us = tg_min(s->bared_us, s->nearer_us);
	s->bared_us -= bared_us;
	s->nearer_us -= bared_us;
	s->seen_us += (tg_s32)bared_us;
}

/* Converts an arrival to the group's view: a queue that the flow's floor hides is no part of its lag. The floor hides
 * that much less when it has fallen. */
TG_INLINE void tg_group_align(struct tg_sharing *s, struct tg_arrival *a)
{
	tg_s32 by;

	tg_group_bare(s, a);
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
TG_INLINE void tg_group_realign(struct tg_sharing *s, const struct tg_look *l, const struct tg_moment *m,
				tg_u32 queue_us, const struct tg_tide *t)
{
	tg_u32 empty_us = tg_tide_empty_us(t);
	tg_s32 bias_us = tg_group_bias(s, l);

	if (s->offset_us <= 0)
		return;
	if (m->queue_us <= empty_us && queue_us > m->queue_us + empty_us)
		tg_group_lower_offset(s, (queue_us - m->queue_us) / TG_GROUP_OFFSET_PART);
	else if (t->wanting >= TG_GROUP_MANY && bias_us > (tg_s32)tg_max(TG_SHARING_MOVE_US, TG_SHARING_NOISE * l->noise_us))
		tg_group_lower_offset(s, (tg_u32)bias_us / TG_GROUP_OFFSET_PART);
}

/* Whether the group's queue could run empty. Many small windows, rounded up to whole segments, keep a queue. */
TG_INLINE int tg_group_may_empty(const struct tg_tide *t)
{
	return (tg_u64)t->m * t->h_us >> TG_TIDE_Q > (tg_u64)TG_GROUP_SEGMENTS * t->mss * t->wanting;
}

/* Whether the group's queue has not run empty for long: of many flows, not even when it was let sink. */
TG_INLINE int tg_group_stands(const struct tg_group *g)
{
	if (g->tide.wanting < TG_GROUP_MANY)
		return g->tide.backlogged > TG_GROUP_FULL;
	return g->sank && g->tide.backlogged > g->sunk + TG_GROUP_FULL;
}

/* The flow's own delay shows no queue, and its group's queue has not run empty for long: then the delay that others see
 * beyond it is theirs alone. Without this one member with another queue behind the common one would slow down all. */
TG_INLINE void tg_group_doubt_offset(struct tg_interface *i, struct tg_sharing *s, const struct tg_tide *t, tg_u32 queue_us)
{
	if (s->offset_us > 0 && tg_group_stands(tg_group_at(i, s->place)) &&
	    queue_us <= tg_tide_empty_us(t) && tg_group_may_empty(t))
		tg_group_lower_offset(s, (tg_u32)s->offset_us / TG_GROUP_OFFSET_PART + TG_MS_US);
}

#endif
