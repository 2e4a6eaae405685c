/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The least of the last four to eight seconds. */
#ifndef TG_LEAST_H
#define TG_LEAST_H

#include "base.h"

#define TG_LEAST_US (4 * TG_SECOND_US) /* in so long a time a cell's queue has been empty; swept */

struct tg_least {
	tg_u64 since_us; /* when this span began; 0: nothing noted yet */
	tg_u32 now;	 /* least of this span */
	tg_u32 was;	 /* and of the one before */
};

/* Notes `value`. Until a whole span has been seen, `first` stands for the one before. */
TG_INLINE void tg_least_note(struct tg_least *l, tg_u32 value, tg_u32 first, tg_u64 now_us)
{
	if (l->since_us && now_us - l->since_us < TG_LEAST_US) {
		l->now = tg_min(l->now, value);
		return;
	}
	l->was = l->since_us ? l->now : first;
	l->now = value;
	l->since_us = now_us;
}

TG_INLINE tg_u32 tg_least(const struct tg_least *l)
{
	return tg_min(l->now, l->was);
}

#endif
