/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * How flows find whose queue they share: with which observations a packet is compared, what many findings prove
 * together, and what a flow publishes.
 */
#ifndef TG_TIDE_SEARCH_H
#define TG_TIDE_SEARCH_H

#include "group.h"

#define TG_GROUP_ROUND_DIVISOR 12u		   /* part of a round trip that two samples may be apart, if round trips tell delays; swept */
#define TG_GROUP_QUEUE_DIVISOR 2u		   /* part of a queue that two packets of uploads may be apart: it moves by less in that time; a trial */
#define TG_GROUP_BESIDE_DIVISOR TG_EMPTY_DIVISOR   /* part of a lag that two packets may be apart: a queue moves as an empty one may */
#define TG_GROUP_APART_DIVISOR 2u		   /* part of a round trip between two comparisons: a window shows after a whole one; swept */
#define TG_GROUP_COMPARISONS 64u		   /* comparisons in a round trip at most: the packet's work */
#define TG_GROUP_TICKS 4u			   /* of the peer's clock, that a movement has at least: one at either end of two delays */
#define TG_GROUP_SENDING 2u			   /* segments that are being sent, between two packets beside each other at most */
#define TG_GROUP_ROUND_MOVES TG_SHARING_ALIKE	   /* a queue moves by no more than the time between two packets: that is as much of a movement as two alike may differ by */
#define TG_GROUP_NOISE_DIVISOR TG_TIDE_LAG_DIVISOR /* part by which the average difference follows, a comparison */
#define TG_GROUP_BIAS_SHIFT 3			   /* part by which the average follows of how much more of a queue one flow sees; swept */
#define TG_GROUP_LIKELY 2			   /* part of a proof that is enough where many share the queue; swept */
#define TG_GROUP_BESIDE_ROUNDS 2u		   /* what another party saw counts for so many round trips; swept */

/* Finds what `flow`, or else another member of `g`, saw when the packet met the queue: sets `a->nearest` to the
 * index of that sample, or to TG_DELAY_SAMPLES. Several are looked at, since an upload's time there becomes known
 * late. */
TG_INLINE void tg_group_lookup(const struct tg_group *g, struct tg_arrival *a, tg_u32 flow, tg_u32 beside_us)
{
	tg_u32 met_us = a->met_us;
	tg_u32 next = (met_us >> TG_DELAY_SAMPLE_SHIFT) + 1;

	a->nearest = TG_DELAY_SAMPLES;
	/* No sample in the other slots can be so close. */
	for (tg_u32 n = 0; n < TG_DELAY_SAMPLES_BESIDE && (n < 2 || (n - 2) << TG_DELAY_SAMPLE_SHIFT < beside_us); n++) {
		const struct tg_delay_sample *m = &g->samples[(next - n) % TG_DELAY_SAMPLES];

		if (!m->flow || tg_magnitude((tg_s32)(met_us - m->us)) > beside_us ||
		    (a->nearest != TG_DELAY_SAMPLES && m->flow != flow && m->flow != g->reporter))
			continue;
		a->nearest = (next - n) % TG_DELAY_SAMPLES;
		if (m->flow == flow)
			break;
		TG_FORGET();
	}
	TG_FORGET();
}

/* Whether the flow's own delay shows no queue. */
TG_INLINE int tg_group_free_way(const struct tg_sharing *s, const struct tg_tide *t, tg_u32 queue_us)
{
	tg_u32 hidden_us = s->offset_us > 0 ? (tg_u32)s->offset_us : 0;

	return queue_us <= hidden_us + tg_record_empty_us(t);
}

/* The score of the levels of a member's queue and its group's at one time. If the member waits where the others see
 * no queue, its queue is another one; if all wait equally long, it is the same. A flow that sees less queue may have
 * a floor that hides it. */
TG_INLINE tg_s32 tg_group_level(const struct tg_sharing *s, const struct tg_tide *t, const struct tg_comparison *l,
				const struct tg_delay_sample *m, tg_u32 queue_us)
{
	tg_u32 empty_us = tg_record_empty_us(t);
	tg_u32 apart_us = tg_magnitude((tg_s32)(queue_us - m->queue_us));

	if ((queue_us > m->queue_us || tg_group_free_way(s, t, queue_us)) && tg_comparison_is_another(l, m, queue_us))
		return -TG_SHARING_ANOTHER;
	if (m->queue_us <= empty_us)
		return queue_us > empty_us && s->offset_us <= 0 ? -TG_SHARING_ANOTHER : 0;
	return queue_us > empty_us && apart_us < tg_max(m->queue_us, queue_us) / TG_SHARING_ALIKE ? TG_SHARING_SAME : 0;
}

/* Compares a packet of the flow with a sample that was shown in one place at about the same time. */
TG_INLINE void tg_group_compare_sample(struct tg_sharing *s, const struct tg_group *g, struct tg_comparison *l,
			     const struct tg_delay_sample *m, const struct tg_arrival *a,
			     const struct tg_tide *t, tg_u32 apart_us, int member)
{
	tg_s32 more = (tg_s32)(a->queue_us - m->queue_us);
	tg_s32 bias_us = more - s->seen_us;
	tg_u32 met_us = a->met_us;
	tg_u32 least_us;

	if (l->name != g->name)
		*l = (struct tg_comparison){ .name = g->name };
	if (!l->flow) {
		l->bias_us = bias_us;
		tg_comparison_anchor(l, m, a->one_way_us, met_us);
	}
	TG_FORGET();
	if (l->seen_us == m->us || met_us - l->since_us < apart_us)
		return;
	l->seen_us = m->us;
	if (l->turn_us != (tg_u32)g->turn_us) {
		l->turn_us = (tg_u32)g->turn_us;
		l->against = 0;
	}
	TG_FORGET();
	l->noise_us = tg_approach(l->noise_us, tg_magnitude(bias_us - l->bias_us), 1, TG_GROUP_NOISE_DIVISOR);
	TG_FORGET();
	l->bias_us = tg_towards(l->bias_us, bias_us, TG_GROUP_BIAS_SHIFT);
	TG_FORGET();
	if (TG_WITH_LEVEL_COMPARISON && member)
		tg_comparison_count(l, tg_group_level(s, t, l, m, a->queue_us), member);
	TG_FORGET();
	least_us = TG_GROUP_TICKS * a->tick_us;
	/* A queue moves by no more than the time in between. */
	if (a->rounds || a->upload)
		least_us = tg_max(least_us, TG_GROUP_ROUND_MOVES * tg_magnitude((tg_s32)(met_us - m->us)));
	tg_comparison_moved(l, m, a->one_way_us, least_us, met_us, member);
	TG_FORGET();
	if (member)
		tg_group_realign(s, l, m, a->queue_us, t);
}

/* A member's findings about another group's queue count for its whole group. Once the queue is proven to be common, the
 * group in the higher place is invited to the lower. */
TG_INLINE void tg_group_pool(struct tg_interface *i, const struct tg_sharing *s, tg_u32 n,
			     const struct tg_comparison *l, tg_s32 by)
{
	struct tg_group *own = tg_group_at(i, s->place);
	struct tg_group *g = tg_group_at(i, n);
	struct tg_between *b = &own->between[n % TG_GROUPS];
	tg_s32 score;

	if (b->name != g->name)
		*b = (struct tg_between){ .name = g->name };
	score = b->score + by;
	if (score > TG_SHARING_SURE)
		score = TG_SHARING_SURE;
	if (score < TG_SHARING_LEAST)
		score = TG_SHARING_LEAST;
	b->score = score;
	if (score < TG_SHARING_PROOF)
		return;
	if (n > s->place) {
		tg_group_invite(g, s, l);
	} else if (!own->invited) {
		own->invited = g->name;
		own->invited_place = n;
		own->invited_bias_us = tg_group_bias(s, l);
	}
}

/* The score that proves that a flow shares the queue of `g`: less if many share it already, since their queue is likely
 * to be that of one more, and on a router, whose devices are behind one access link. */
TG_INLINE tg_s32 tg_group_proof(const struct tg_interface *i, const struct tg_sharing *s,
				const struct tg_group *g)
{
	const struct tg_group *own = &i->group[s->place % TG_GROUPS];
	tg_u32 members = g->shared ? tg_record_flows(&g->record) : 0;

	if (s->joined && own->shared)
		members = tg_max(members, tg_record_flows(&own->record));
	return TG_WITH_LIKELY_PROOF && (i->unit || members >= TG_GROUP_MANY) ? TG_SHARING_PROOF / TG_GROUP_LIKELY : TG_SHARING_PROOF;
}

/* Compares with what is shown in place `n`: `a->found` is that place if its queue is found to be the flow's as well. */
TG_INLINE void tg_group_compare_place(struct tg_interface *i, struct tg_sharing *s, tg_u32 n,
			    const struct tg_tide *t, struct tg_arrival *a, tg_u32 beside_us,
			    tg_u32 apart_us)
{
	struct tg_group *g = tg_group_at(i, n);
	struct tg_comparison *l = &s->comparisons[n % TG_GROUPS];
	int member = tg_group_has(i, s);
	tg_s32 before;

	if (!g->name || g->reporter == s->flow)
		return;
	tg_group_lookup(g, a, l->name == g->name && l->flow ? l->flow : g->reporter, beside_us);
	if (a->nearest == TG_DELAY_SAMPLES)
		return;
	s->next_us = a->now_us + tg_record_lag_us(t) / TG_GROUP_COMPARISONS;
	before = l->name == g->name ? l->score : 0;
	TG_FORGET();
	tg_group_compare_sample(s, g, l, &g->samples[a->nearest % TG_DELAY_SAMPLES], a, t, apart_us,
		      member && n == s->place);
	TG_FORGET();
	if (TG_WITH_POOLED_GROUPS && member && g->shared && n != s->place && l->score != before)
		tg_group_pool(i, s, n, l, l->score - before);
	TG_FORGET();
	if (l->score < tg_group_proof(i, s, g))
		return;
	if (member && !g->shared)
		tg_group_invite(g, s, l);
	else if (!(member && n >= s->place))
		a->found = n;
}

/* Compares with the sample that was published last, and with each place in turn: to compare each packet with all of
 * them would be too much work for the verifier, and for the packet. */
TG_INLINE void tg_group_search(struct tg_interface *i, const struct tg_share *share,
			       struct tg_sharing *s, const struct tg_tide *t,
			       struct tg_arrival *a)
{
	tg_u32 beside_us = tg_max(tg_max(1u << TG_DELAY_SAMPLE_SHIFT, tg_record_lag_us(t) / TG_GROUP_BESIDE_DIVISOR),
				  TG_GROUP_SENDING * tg_record_segment_us(t));
	tg_u32 apart_us = tg_max(share->h_us / TG_GROUP_APART_DIVISOR, TG_GROUP_APART_US);

	/* Uploads come in one burst a round trip, and would only ever meet those of the same phase. */
	if (a->upload)
		beside_us = tg_max(beside_us, a->queue_us / TG_GROUP_QUEUE_DIVISOR);
	if (a->rounds)
		beside_us = tg_max(beside_us, (tg_record_lag_us(t) + a->queue_us) / TG_GROUP_ROUND_DIVISOR);

	a->found = TG_GROUPS;
	s->turn = s->turn % TG_GROUPS ? s->turn - 1 : i->places;
	TG_FORGET();
	tg_group_compare_place(i, s, i->published % TG_GROUPS, t, a, beside_us, apart_us);
	TG_FORGET();
	tg_group_compare_place(i, s, s->turn % TG_GROUPS, t, a, beside_us, apart_us);
}

/* A flow in no group, beside others, lets its queue drain now and then: so it learns what its floor hides, and the others
 * see whether their delays fall with it. */
TG_INLINE void tg_group_drain(struct tg_sharing *s, struct tg_tide *own, const struct tg_arrival *a)
{
	if (!tg_record_is_free(own) || a->now_us < s->drain_us)
		return;
	s->drain_wait_us = tg_min(tg_max(2 * s->drain_wait_us, TG_GROUP_DRAIN_US), TG_GROUP_DRAIN_MAX_US);
	s->drain_us = tg_record_drain(own, a) + s->drain_wait_us;
}

/* Whether another party has seen something of late. A flow whose delays are round trips has few samples, so it is
 * compared even if no other flow's packet came in between; therefore this, and not a comparison, tells that it is
 * not alone. */
TG_INLINE int tg_group_has_company(const struct tg_interface *i, const struct tg_tide *t, const struct tg_arrival *a)
{
	return (tg_u32)a->now_us - i->other_us < TG_GROUP_BESIDE_ROUNDS * (tg_record_lag_us(t) + a->queue_us);
}

/* Settles which place the flow has from its next packet on. `received`: its bytes in all. */
TG_INLINE void tg_group_compare(struct tg_interface *i, struct tg_share *share, struct tg_sharing *s,
				struct tg_tide *own, struct tg_arrival *a, tg_u64 received)
{
	if ((i->last == s->flow && !a->rounds) || a->now_us < s->next_us)
		return;
	tg_group_search(i, share, s, tg_group_record(i, s, own), a);
	TG_FORGET();
	if (tg_group_has(i, s) && s->comparisons[s->place % TG_GROUPS].score <= 0) {
		tg_group_split(i, share, s, own, a);
	} else if (a->found < TG_GROUPS && (tg_group_has(i, s) || tg_record_knows_link(own))) {
		tg_group_quit(i, share, s, own, a);
		TG_FORGET();
		tg_group_enter(i, share, s, own, a->found, a);
	} else if (!tg_group_has(i, s)) {
		if (!s->name && received >= TG_GROUP_BYTES)
			tg_group_show(i, s, a->now_us, tg_record_lag_us(own) + a->queue_us);
		if (TG_WITH_LONE_DRAINS && (!a->rounds || tg_group_has_company(i, own, a)))
			tg_group_drain(s, own, a);
	}
}

/* Notes what another party, which does not steer by this record, saw of late. */
TG_INLINE void tg_group_beside(struct tg_interface *i, const struct tg_sharing *s, struct tg_tide *t,
			       struct tg_arrival *a)
{
	tg_u32 party = tg_group_has(i, s) ? s->name | 1u << 31 : s->flow;
	tg_u32 now_us = (tg_u32)a->now_us;

	if (i->party != party) {
		i->other_us = i->party_us;
		i->other_queue_us = i->party_queue_us;
		i->party = party;
	}
	i->party_us = now_us;
	i->party_queue_us = a->queue_us;
	i->party_rounds = (tg_u32)!a->stamped | a->rounds;
	t->beside = (tg_u32)tg_group_has_company(i, t, a);
	a->beside_us = t->beside ? i->other_queue_us : 0;
}

/* Shows what the flow saw, if it is its turn. */
TG_INLINE void tg_group_publish(struct tg_interface *i, const struct tg_sharing *s,
			     const struct tg_arrival *a)
{
	struct tg_group *g = tg_group_at(i, s->place);
	tg_u32 met_us = a->met_us;

	if (!s->name || s->name != g->name)
		return;
	g->seen_us = tg_max64(g->seen_us, a->now_us);
	if (g->reporter != s->flow) {
		if (a->now_us < g->turn_us)
			return;
		g->reporter = s->flow;
		g->turn_us = a->now_us + tg_record_lag_us(&g->record);
	}
	i->published = s->place;
	g->samples[(met_us >> TG_DELAY_SAMPLE_SHIFT) % TG_DELAY_SAMPLES] = (struct tg_delay_sample){
		.us = met_us,
		.flow = s->flow,
		.delay_us = a->one_way_us,
		.queue_us = a->queue_us,
	};
}

#endif
