/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/*
 * Which flows are steered: the first of the administrator's rules that matches a flow decides.
 *
 * A flow is checked against them when it is found, and again when they have changed: at a packet that leaves, since
 * only such a packet has its socket (user and cgroup) with it. Arriving packets follow the verdict in the flow's
 * record.
 */
#ifndef TG_RULES_H
#define TG_RULES_H

#include "config.h"

/* Whether the kernel tells a packet's cgroup; if not, the verifier does not look at the call. */
const volatile bool sees_cgroups = true;

static __always_inline int in_range(__be16 port, const tg_u16 range[2])
{
	__u16 host = bpf_ntohs(port);

	return !range[1] || (range[0] <= host && host <= range[1]);
}

static __always_inline int in_prefix(const struct tg_key *key, const struct tg_rule *rule)
{
	__u32 differs = 0;

	for (int i = 0; i < 4; i++)
		differs |= (key->remote[i] ^ rule->prefix[i]) & rule->mask[i];
	return !rule->family || (rule->family == key->family && !differs);
}

/* Forwarded packets have no socket, and so no user and no cgroup. */
static __always_inline int of_owner(struct __sk_buff *skb, const struct tg_rule *rule)
{
	if (!rule->asks_uid && !rule->cgroup)
		return 1;
	if (!skb->sk)
		return 0;
	if (rule->asks_uid && bpf_get_socket_uid(skb) != rule->uid)
		return 0;
	if (!rule->cgroup)
		return 1;
	return sees_cgroups &&
	       bpf_skb_ancestor_cgroup_id(skb, rule->cgroup_level) == rule->cgroup;
}

_Static_assert(TG_RULES <= 64, "a bit for each");

/* The rules that match the flow `key`, apart from user and cgroup: a bit each. A global function: the verifier checks
 * it once. */
__noinline __u64 rules_about(const struct tg_key *key, __u32 generation)
{
	__u32 set = generation & 1;
	struct tg_rules *rules = bpf_map_lookup_elem(&rule_sets, &set);
	__u64 about = 0;

	if (!rules || !key)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TG_RULES; i++) {
		const struct tg_rule *rule = &rules->rule[i];

		if (i >= rules->count)
			break;
		if ((!rule->ifindex || rule->ifindex == key->ifindex) &&
		    in_range(key->local_port, rule->local_port) &&
		    in_range(key->remote_port, rule->remote_port) && in_prefix(key, rule))
			about |= 1ULL << i;
	}
	return about;
}

/* The weight of the share of the flow `key`, or TG_DENIED. */
TG_ON_ITS_OWN __u32 verdict(struct __sk_buff *skb, const struct tg_key *key, __u32 generation)
{
	__u32 set = generation & 1;
	struct tg_rules *rules = bpf_map_lookup_elem(&rule_sets, &set);
	__u64 about = rules_about(key, generation);

	if (!rules)
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TG_RULES; i++) {
		const struct tg_rule *rule = &rules->rule[i];

		if ((about >> i & 1) && of_owner(skb, rule))
			return rule->weight;
	}
	return rules->otherwise;
}

/*
 * Checks a flow against the rules, if they have changed. Returns whether it is steered from now on and was not before:
 * then its measurements are out of date. The told window is noted all the time.
 */
static __always_inline int judge(struct __sk_buff *skb, const struct tg_packet *p,
				 struct tg_connection *c, struct tg_flow *f)
{
	__u32 generation = config.rules;
	__u8 was_denied = c->denied;
	__u32 weight;

	if (c->judged == generation)
		return 0;
	weight = verdict(skb, &p->key, generation);
	c->judged = generation;
	c->denied = weight == TG_DENIED;
	f->member.share.weight = c->denied ? 0 : weight;
	return was_denied && !c->denied;
}

#endif
