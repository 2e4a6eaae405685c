/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Fairness by device: a group's window is divided among the devices whose flows want more than they get, and a
 * device's part among its flows.
 *
 * share.h divides only by weight. Here a flow's weight is its part of its device's weight, so that the weights of a
 * device's flows add up to the device's. So a device with sixteen flows gets what one with a single flow gets.
 *
 *     flow's weight = device's weight, less what its limited flows take, / its bottlenecked flows
 *
 * Without more rules a device with many limited flows (flows that are not bottlenecked) would get more than its part.
 * While none of its flows is bottlenecked, its weight is divided among all that have data: measured by so small a part,
 * many small flows count as bottlenecked. If some are bottlenecked, the bytes of the others are subtracted from their
 * device's part only.
 */
#ifndef TG_TIDE_DEVICE_H
#define TG_TIDE_DEVICE_H

#include "group.h"
#include "share.h"

#define TG_DEVICE_EPOCHS 4u  /* choice: a device of which nothing comes for longer is counted anew */
#define TG_DEVICE_UNIT 4096u /* arithmetic: parts of a device's weight: so many flows can divide it */

/* A device's flows in one group, in this epoch and in the last epoch before it in which any of them had data. */
struct tg_device_group {
	tg_u32 name;		    /* the group's; 0: none */
	tg_u32 epoch;
	tg_u32 bottlenecked_weight; /* weight of those that want more */
	tg_u32 bottlenecked_weight_now;
	tg_u32 active_weight;	    /* of those that had data */
	tg_u32 active_weight_now;
	tg_u32 limited_bytes;	    /* bytes of those that do not want more */
	tg_u32 limited_bytes_now;
};

/* What a device has behind an interface, in one direction. */
struct tg_device {
	tg_u32 weight; /* its weight among the devices; 0 counts as 1 */
	tg_u32 unused;
	struct tg_device_group groups[TG_GROUPS];
};

/* Brings the counts to the group's present epoch. */
TG_INLINE void tg_device_turn(struct tg_device_group *p, const struct tg_group *g)
{
	tg_u32 epoch = tg_record_epoch(&g->record);
	int follows = p->name == g->name && epoch - p->epoch <= TG_DEVICE_EPOCHS;

	if (p->name == g->name && p->epoch == epoch)
		return;
	p->bottlenecked_weight = follows ? p->bottlenecked_weight_now : 0;
	p->active_weight = follows ? p->active_weight_now : 0;
	p->limited_bytes = follows ? p->limited_bytes_now : 0;
	p->bottlenecked_weight_now = 0;
	p->active_weight_now = 0;
	p->limited_bytes_now = 0;
	p->name = g->name;
	p->epoch = epoch;
}

/* Counts what the flow has brought since its last packet. */
TG_INLINE void tg_device_count(struct tg_device_group *p, const struct tg_tide *t, struct tg_share *s,
			       tg_u32 bytes)
{
	tg_u32 weight = tg_max(s->weight, 1);

	if (s->device_epoch != tg_record_epoch(t) + 1) {
		s->device_epoch = tg_record_epoch(t) + 1;
		s->device_bottlenecked = 0;
		p->active_weight_now += weight;
	}
	if (!tg_record_bottlenecked(t, s)) {
		p->limited_bytes_now += bytes;
	} else if (!s->device_bottlenecked) {
		s->device_bottlenecked = 1;
		p->bottlenecked_weight_now += weight;
	}
}

/* The part of the device's weight that its bottlenecked flows have: the weight less what its other flows take of the link.
 * But no bottlenecked flow has less than an even part among all of them. */
TG_INLINE tg_u64 tg_device_left(const struct tg_device_group *p, const struct tg_tide *t, tg_u64 whole,
				tg_u32 bottlenecked, tg_u32 active)
{
	tg_u64 taken = tg_record_weight_of(t, p->limited_bytes);

	return tg_max64(taken < whole ? whole - taken : 0, whole * bottlenecked / tg_max(active, bottlenecked));
}

/* The flow's weight beside all others of the group. */
TG_INLINE tg_u32 tg_device_weight(const struct tg_device *d, const struct tg_device_group *p,
				  const struct tg_tide *t, const struct tg_share *s)
{
	tg_u64 whole = (tg_u64)tg_max(d->weight, 1) * TG_DEVICE_UNIT;
	tg_u32 bottlenecked = tg_max(p->bottlenecked_weight, p->bottlenecked_weight_now);
	tg_u32 active = tg_max(p->active_weight, p->active_weight_now);
	tg_u32 weight = tg_max(s->weight, 1);

	if (!bottlenecked)
		return (tg_u32)tg_max64(whole * weight / tg_max(active, weight), 1);
	whole = tg_device_left(p, t, whole, bottlenecked, active);
	if (!tg_record_bottlenecked(t, s))
		bottlenecked += weight;
	return (tg_u32)tg_max64(whole * weight / tg_max(bottlenecked, weight), 1);
}

/* A flow whose device is unknown has the weight of a device. */
TG_INLINE void tg_device_alone(const struct tg_interface *i, struct tg_share *s)
{
	s->effective_weight = i->unit * tg_max(s->weight, 1);
}

/* Before the law learns from a packet of the flow, which has brought `received` bytes in all so far: its weight as one
 * of its device's flows. A flow with an unknown device (null), or in no group, has the whole weight of a device. */
TG_INLINE void tg_device_weigh(struct tg_device *d, struct tg_interface *i, struct tg_share *s,
			       const struct tg_sharing *sharing, tg_u64 received)
{
	tg_u32 place = sharing->place % TG_GROUPS;
	struct tg_group *g = tg_group_at(i, place);
	tg_u32 bytes = (tg_u32)received - s->device_bytes;

	s->device_bytes = (tg_u32)received;
	i->unit = TG_DEVICE_UNIT;
	tg_device_alone(i, s);
	if (!d)
		return;
	s->effective_weight = TG_DEVICE_UNIT * tg_max(d->weight, 1);
	if (!tg_group_has(i, sharing))
		return;
	tg_device_turn(&d->groups[place], g);
	TG_FORGET();
	if (bytes)
		tg_device_count(&d->groups[place], &g->record, s, bytes);
	TG_FORGET();
	s->effective_weight = tg_device_weight(d, &d->groups[place], &g->record, s);
}

#endif
