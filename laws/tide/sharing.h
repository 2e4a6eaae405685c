/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether flows share a queue: whether their delays move together.
 */
#ifndef TG_TIDE_SHARING_H
#define TG_TIDE_SHARING_H

#include "path.h"

#define TG_GROUPS 8u
#define TG_SHARING_MOVE_US (4 * TG_MS_US)
#define TG_SHARING_BESIDE_US (4 * TG_MS_US) /* packets this close met the same queue */
#define TG_SHARING_PROOF 12
#define TG_SHARING_FAR_US (16 * TG_MS_US)
#define TG_SHARING_SURE 24
#define TG_SHARING_LEAST (-10)
#define TG_SHARING_TURN 8 /* what one speaker can count against at most */
#define TG_SHARING_TOGETHER 3
#define TG_SHARING_APART 2 /* what one contradiction weighs */

/* A place for a group, or for one flow that others compare with. */
struct tg_group {
	tg_u64 seen_us;	  /* last data of it */
	tg_u64 since_us;  /* when the place was taken */
	tg_u32 queue_us;  /* forward queueing delay of those */
	tg_u32 delay_us;  /* one-way delay but for a constant of the flow's */
	tg_u32 flow;	  /* number of the flow whose they are: the speaker */
	tg_u64 turn_us;	  /* when another may speak */
	tg_u32 heard;	  /* counts what it has said */
	tg_u32 invited;	  /* name of the group that the flow alone is found to share a queue with */
	tg_u32 invited_place;
	tg_s32 invited_bias_us; /* and how much more delay it sees */
	tg_u32 unused;
	tg_u32 name;	  /* 0: the place is free */
	tg_u32 shared;	  /* by several flows, whose record is here */
	struct tg_tide tide;
};

/* How a flow's delays compare with those of one place. */
struct tg_look {
	tg_u32 name;	/* of what it was compared with */
	tg_u32 mine_us; /* one-way delays when they were last compared */
	tg_u32 its_us;
	tg_u32 level_us; /* its queueing delay then */
	tg_s32 bias_us; /* how much more queueing delay the flow sees, on average */
	tg_s32 score;	/* for and against */
	tg_u32 flow;	/* with whom it was last compared */
	tg_u32 heard;
	tg_u32 speaker;
	tg_u32 against; /* what this one has counted against */
	tg_u32 since_us; /* when */
	tg_u32 fell;	/* both delays fell together last */
};

struct tg_sharing {
	tg_u64 next_us; /* when to compare again */
	tg_u32 flow;	/* number, from 1 */
	tg_u32 place;
	tg_u32 name;	/* of the group that the flow is in, or that it holds a place for; 0: none */
	tg_u32 joined;	/* whether its record is that group's */
	tg_u64 dip_us;
	tg_u32 dip_wait_us;
	tg_s32 offset_us; /* by how much more queueing delay its group sees than its own floor shows */
	tg_u32 left; /* how often it has left a group */
	tg_u32 found; /* place of the first that shares its queue, as last compared; TG_GROUPS: none */
	tg_u32 spare[10];
	struct tg_look looks[TG_GROUPS];
};

TG_INLINE tg_u32 tg_sharing_magnitude(tg_s32 x)
{
	return (tg_u32)(x < 0 ? -x : x);
}

TG_INLINE void tg_sharing_score(struct tg_look *l, int by, int member)
{
	int score = l->score + by;

	if (by < 0 && member) {
		if (l->against >= TG_SHARING_TURN)
			return;
		l->against -= by;
	}
	if (score > TG_SHARING_SURE)
		score = TG_SHARING_SURE;
	if (by < 0 && score < TG_SHARING_LEAST)
		score = l->score < TG_SHARING_LEAST ? l->score : TG_SHARING_LEAST;
	l->score = score;
}

TG_INLINE void tg_sharing_anchor(struct tg_look *l, const struct tg_group *g, tg_u32 mine_us,
				 tg_u32 now_us)
{
	l->mine_us = mine_us;
	l->its_us = g->delay_us;
	l->level_us = g->queue_us;
	l->flow = g->flow;
	l->since_us = now_us;
	l->heard = g->heard;
}

/* Compares by how much both delays have moved since they were last compared. */
TG_INLINE int tg_sharing_moved(struct tg_look *l, const struct tg_group *g, tg_u32 mine_us,
				tg_u32 tick_us, int member, tg_u32 now_us)
{
	tg_s32 mine = (tg_s32)(mine_us - l->mine_us);
	int same = l->flow == g->flow;
	tg_s32 its = (tg_s32)(same ? g->delay_us - l->its_us : g->queue_us - l->level_us);
	tg_u32 apart = tg_sharing_magnitude(mine - its);
	tg_u32 moved = tg_max(tg_sharing_magnitude(mine), tg_sharing_magnitude(its));

	if (moved < tg_max(same ? TG_SHARING_MOVE_US : TG_SHARING_FAR_US, 4 * tick_us))
		return 0;
#ifdef TG_TRACE_EVENTS
	if (!TG_EV || TG_EV==g->flow) __builtin_printf("  event %s mine %d its %d  queue %u score %d\n", g->shared ? "group" : "lone", mine, its, g->queue_us, l->score);
#endif
	tg_sharing_anchor(l, g, mine_us, now_us);
	if (apart > moved / 4 + TG_MS_US) {
		tg_sharing_score(l, -TG_SHARING_APART, member);
		return 0;
	}
	if (mine >= 0)
		tg_sharing_score(l, TG_SHARING_TOGETHER, member);
	else if (!l->fell)
		tg_sharing_score(l, 2, member);
	l->fell = mine < 0;
	return 1;
}

/* A packet of the flow `s` met a queue of `queue_us`, and its one-way delay is `mine_us`. */
TG_INLINE int tg_sharing_look(struct tg_look *l, const struct tg_group *g, tg_u32 mine_us,
			       tg_u32 queue_us, tg_u32 tick_us, int member, tg_u32 now_us,
			       tg_u32 apart_us)
{
	tg_s32 more = (tg_s32)(queue_us - g->queue_us);

	if (l->name != g->name) {
		*l = (struct tg_look){ 0 };
		l->name = g->name;
	}
	if (l->heard == g->heard)
		return 0;
	if (!l->flow) {
		l->bias_us = more;
		tg_sharing_anchor(l, g, mine_us, now_us);
		return 0;
	}
	l->heard = g->heard;
	if (now_us - l->since_us < apart_us)
		return 0;
	if (l->speaker != g->flow) {
		l->speaker = g->flow;
		l->against = 0;
	}
	if (more >= l->bias_us)
		l->bias_us += (tg_s32)((tg_u32)(more - l->bias_us) >> 3);
	else
		l->bias_us -= (tg_s32)((tg_u32)(l->bias_us - more) >> 3);
	if (member && tg_sharing_magnitude(more) >
			      tg_max(2 * TG_SHARING_MOVE_US, tg_max(queue_us, g->queue_us) / 2))
		tg_sharing_score(l, -1, member);
	return tg_sharing_moved(l, g, mine_us, tick_us, member, now_us);
}

/* A flow that sees its group's queue by an offset: how much of that was wrong. It only ever shrinks, or
 * flows would drag each other along. */
TG_INLINE void tg_sharing_realign(struct tg_sharing *s, struct tg_look *l, int together)
{
	tg_s32 by = l->bias_us >= 0 ? (tg_s32)((tg_u32)l->bias_us >> 4)
				    : -(tg_s32)((tg_u32)-l->bias_us >> 4);

	if (together && s->offset_us <= 0 && l->bias_us > (tg_s32)TG_SHARING_BESIDE_US)
		by = l->bias_us >> 2;
	else if (s->offset_us > 0)
		by = by < 0 ? 0 : by < s->offset_us ? by : s->offset_us;
	else
		by = by > 0 ? 0 : by > s->offset_us ? by : s->offset_us;
	s->offset_us -= by;
	l->bias_us -= by;
}

#endif
