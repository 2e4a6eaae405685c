/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The least of the last four to eight seconds. */
#ifndef TG_WINDOWED_MIN_H
#define TG_WINDOWED_MIN_H

#include "magnitudes.h"

#define TG_WINDOWED_MIN_US TG_FORGET_US	/* one span: the minimum is of the last one to two */

struct tg_windowed_min {
	tg_u64 since_us; /* when this span began; 0: nothing noted yet */
	tg_u32 now;	 /* smallest value of this span */
	tg_u32 was;	 /* smallest value of the span before */
};

/* Notes `value`. Until a whole span has been seen, `first` stands for the one before. */
TG_INLINE void tg_windowed_min_update(struct tg_windowed_min *l, tg_u32 value, tg_u32 first, tg_u64 now_us)
{
	if (l->since_us && now_us - l->since_us < TG_WINDOWED_MIN_US) {
		l->now = tg_min(l->now, value);
		return;
	}
	l->was = l->since_us ? l->now : first;
	l->now = value;
	l->since_us = now_us;
}

TG_INLINE tg_u32 tg_windowed_min_value(const struct tg_windowed_min *l)
{
	return tg_min(l->now, l->was);
}

#endif
