/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * The mechanisms around the law's core, each with a switch. All are 1, so a compiler sees no switch; `./dev ablate` builds
 * the laws with variables in their place, turns one after another off, and says what that changes.
 */
#ifndef TG_MECHANISMS_H
#define TG_MECHANISMS_H

#include "base.h"

/* Whose queue it is (tide/whose_queue.h, tide/floors.h). */
#define TG_WITH_WHOSE_QUEUE 1	  /* ablation: where a queue stands, a question tells whose it is */
#define TG_WITH_OTHERS_VETO 1	  /* ablation: a queue in which other flows of ours wait is not another machine's */
#define TG_WITH_FALL_RECHECKS 1	  /* ablation: floors that have fallen by much are rechecked */

/* The forecast and its window (tide/forecast.h, tide/share.h). */
#define TG_WITH_STOOD_FALLS 1	 /* ablation: a lower count counts once the queue has stood through two buckets */
#define TG_WITH_NEAR_MARGIN 1	 /* ablation: the margin is for 10 ms at least */
#define TG_WITH_BASE_MARGIN 1	 /* ablation: beside uploads of ours the margin is for the least lag */
#define TG_WITH_IDLE_START 1	 /* ablation: after idleness a window leaves room for slow start */
#define TG_WITH_LIMITED_REST 1	 /* ablation: what limited flows take is not shared among the others */
#define TG_WITH_WHOLE_SEGMENTS 1 /* ablation: small windows are whole segments */

/* Shares by device (tide/device.h, tide/share.h, tide.h). */
#define TG_WITH_FAR_EPOCHS 1	/* ablation: an epoch is the farthest bottlenecked flow's round trip */
#define TG_WITH_OUTAGE_EPOCHS 1	/* ablation: an outage is no part of an epoch */

/* Groups (tide/group.h, tide/search.h, tide/sharing.h). */
#define TG_WITH_LIKELY_PROOF 1	   /* ablation: where many share a queue, half a proof is enough */
#define TG_WITH_POOLED_GROUPS 1	   /* ablation: what members find about another group counts together */
#define TG_WITH_INVITATIONS 1	   /* ablation: members invite flows alone */
#define TG_WITH_OFFSETS 1	   /* ablation: a flow that sees less delay than its group is taken to have a floor that hides it */
#define TG_WITH_REALIGNMENT 1	   /* ablation: offsets are lowered by what others see */
#define TG_WITH_LONE_DRAINS 1	   /* ablation: a flow alone beside others drains its queue now and then */
#define TG_WITH_REVEALED_FLOORS 1  /* ablation: a floor that falls corrects comparisons */
#define TG_WITH_LEVEL_COMPARISON 1 /* ablation: members at another level leave */
#define TG_WITH_NOISE_THRESHOLD 1  /* ablation: movements within the noise do not count */

/* Clocks (delay.h, flow.h). */
#define TG_WITH_CLOCK_DOUBT 1 /* ablation: an impossible clock is not believed */
#define TG_WITH_CLOCK_DRIFT 1 /* ablation: floors follow the peer's clock */

/* The hold (hold.h, hold/). */
#define TG_WITH_SIGNALS 1	  /* ablation: a window that has outgrown its use is signalled */
#define TG_WITH_COUNTED_ANSWERS 1 /* ablation: between two echoes, answers tell what has passed */

#endif
