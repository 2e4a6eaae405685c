/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Whether flows share a queue: whether their delays move together.
 *
 * Packets of two flows that meet in one queue wait equally long there (Rubenstein, Kurose and Towsley, "Detecting
 * shared congestion of flows via end-to-end measurement", IEEE/ACM ToN 2002; RFC 8382 is the deployed form for media).
 * Queues hidden by floors, and the unshared parts of the paths, are constants, so movements are compared: by how much
 * both delays have changed since they were last compared, half a round trip and some milliseconds of queue ago.
 *
 * A fall proves less than a rise: any two queues that nothing enters fall alike, by a millisecond each millisecond.
 * Agreement also proves little if it is much smaller than the two flows' difference from packet to packet.
 */
#ifndef TG_TIDE_SHARING_H
#define TG_TIDE_SHARING_H

#include "path.h"

#define TG_GROUPS 8u				 /* choice: a flow keeps 44 bytes for each */
#define TG_DELAY_SAMPLES 64u			 /* arithmetic: a quarter of a second of 4 ms each */
#define TG_DELAY_SAMPLES_BESIDE 6u		 /* of them looked at: so many may be close enough on a slow link; the verifier's work */
#define TG_DELAY_SAMPLE_SHIFT 12		 /* 4 ms, a cell's burst: packets this close met the same queue */
#define TG_SHARING_MOVE_US TG_CELL_BURST_US	 /* a smaller movement is noise */
#define TG_SHARING_FAR_US (2 * TG_CELL_BURST_US) /* a smaller movement is noise where two reporters of a group have seen it */
#define TG_SHARING_NOISE 3u			 /* a movement below so many times what differs from packet to packet is noise, too; swept */
#define TG_SHARING_ALIKE TG_QUARTER		 /* part of a movement, by which two alike may differ */
#define TG_SHARING_ROSE 3			 /* for a common queue, if both rose: roughly the logarithm of its odds; swept */
#define TG_SHARING_FELL 2			 /* for it, if both fell: less, as any two queues that nothing enters fall alike; swept */
#define TG_SHARING_APART 2			 /* against it, if they did not move alike; swept */
#define TG_SHARING_ANOTHER 1			 /* against it, if they stand at another level; swept */
#define TG_SHARING_SAME 1			 /* for it, if they stand at one level */
#define TG_SHARING_LEVEL_MOVES 2u		 /* movements by which two levels differ at least; swept */
#define TG_SHARING_LEVEL_DIVISOR 2u		 /* part of the larger one by which they differ at least; swept */
#define TG_SHARING_PROOF (4 * TG_SHARING_ROSE)	 /* four rises */
#define TG_SHARING_SURE (2 * TG_SHARING_PROOF)	 /* the highest score */
#define TG_SHARING_LEAST (-10)			 /* what counts against it at most; swept */
#define TG_SHARING_TURN 8u			 /* what one reporter's turn can count against at most; swept */

/* What a flow saw at one time. */
struct tg_delay_sample {
	tg_u32 us;
	tg_u32 flow;	 /* its number; 0: nothing yet */
	tg_u32 delay_us; /* one-way delay but for a constant of the flow's */
	tg_u32 queue_us; /* forward queueing delay */
};

/* How a flow's delays compare with those of one place. */
struct tg_comparison {
	tg_u32 name;	 /* name of the group, or flow alone, that it was compared with */
	tg_u32 mine_us;	 /* the flow's one-way delay when the two were last compared */
	tg_u32 its_us;
	tg_u32 level_us; /* the place's queueing delay then */
	tg_u32 flow;	 /* number of the flow that had reported it */
	tg_u32 since_us; /* when they were last compared */
	tg_u32 seen_us;	 /* when the sample was taken that was compared with last */
	tg_s32 bias_us;	 /* how much more queueing delay the flow sees, on average, by the floor that it began with */
	tg_u32 noise_us; /* by how much that varies */
	tg_u32 turn_us;	 /* when this reporter's turn ends */
	tg_u8 against;	 /* how much this reporter has counted against it */
	tg_u8 fell;	 /* both delays fell when last they moved together */
	tg_s16 score;	 /* for a common queue, or against it */
};

TG_INLINE tg_u32 tg_magnitude(tg_s32 x)
{
	return x < 0 ? -(tg_u32)x : (tg_u32)x;
}

/* value + (target - value) / 2^shift, rounded towards value, without signed division. */
TG_INLINE tg_s32 tg_towards(tg_s32 value, tg_s32 target, tg_u32 shift)
{
	if (target >= value)
		return value + (tg_s32)((tg_u32)(target - value) >> shift);
	return value - (tg_s32)((tg_u32)(value - target) >> shift);
}

/* Counts for a common queue, or against it; no single reporter can count away all of a member's score. */
TG_INLINE void tg_comparison_count(struct tg_comparison *l, tg_s32 by, int member)
{
	tg_s32 score;

	if (by < 0 && member) {
		if (l->against >= TG_SHARING_TURN)
			return;
		l->against += (tg_u8)tg_magnitude(by);
	}
	score = l->score + by;
	if (score > TG_SHARING_SURE)
		score = TG_SHARING_SURE;
	/* A flow that has left a group starts from a lower score. */
	if (by < 0 && score < TG_SHARING_LEAST)
		score = l->score < TG_SHARING_LEAST ? l->score : TG_SHARING_LEAST;
	l->score = (tg_s16)score;
	TG_FORGET();
}

TG_INLINE void tg_comparison_anchor(struct tg_comparison *l, const struct tg_delay_sample *m, tg_u32 mine_us,
			      tg_u32 now_us)
{
	l->mine_us = mine_us;
	l->its_us = m->delay_us;
	l->level_us = m->queue_us;
	l->flow = m->flow;
	l->since_us = now_us;
}

/* Compares by how much both delays have moved. If another flow has become the reporter, one-way delays cannot be
 * compared, but queueing delays can, as well as the floors agree. */
TG_INLINE void tg_comparison_moved(struct tg_comparison *l, const struct tg_delay_sample *m, tg_u32 mine_us,
			     tg_u32 least_us, tg_u32 now_us, int member)
{
	int same = l->flow == m->flow;
	tg_s32 mine = (tg_s32)(mine_us - l->mine_us);
	tg_s32 its = (tg_s32)(same ? m->delay_us - l->its_us : m->queue_us - l->level_us);
	tg_u32 moved = tg_max(tg_magnitude(mine), tg_magnitude(its));
	tg_u32 slack_us;

	slack_us = tg_max(TG_MS_US, least_us / TG_SHARING_ALIKE);
	least_us = tg_max(least_us, same ? TG_SHARING_MOVE_US : TG_SHARING_FAR_US);
	if (moved < tg_max(least_us, TG_WITH_NOISE_THRESHOLD ? TG_SHARING_NOISE * l->noise_us : 0))
		return;
	tg_comparison_anchor(l, m, mine_us, now_us);
	TG_FORGET();
	if (tg_magnitude(mine - its) > moved / TG_SHARING_ALIKE + slack_us) {
		tg_comparison_count(l, -TG_SHARING_APART, member);
		return;
	}
	if (mine >= 0)
		tg_comparison_count(l, TG_SHARING_ROSE, member);
	else if (!l->fell)
		tg_comparison_count(l, TG_SHARING_FELL, member);
	l->fell = mine < 0;
}

/* Delays that move together may still stand at different levels: a member that sees another level has
 * another queue, or another floor. */
TG_INLINE int tg_comparison_is_another(const struct tg_comparison *l, const struct tg_delay_sample *m, tg_u32 queue_us)
{
	tg_u32 least_us = tg_max(TG_SHARING_LEVEL_MOVES * TG_SHARING_MOVE_US, TG_SHARING_NOISE * l->noise_us);

	return tg_magnitude((tg_s32)(queue_us - m->queue_us)) >
	       tg_max(least_us, tg_max(queue_us, m->queue_us) / TG_SHARING_LEVEL_DIVISOR);
}

#endif
