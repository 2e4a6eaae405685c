// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * For tests: a host's end of a VLAN trunk on kernels that have no VLAN devices. Leaving packets are tagged before the
 * agent sees them; arriving packets lose their tags after the agent has seen them.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define TG_OUTER 100 /* IEEE 802.1ad, around the other */
#define TG_INNER 7

const volatile _Bool twice = 0;

SEC("tc")
int tag(struct __sk_buff *skb)
{
	if (bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), TG_INNER))
		return TC_ACT_SHOT;
	if (twice && bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021AD), TG_OUTER))
		return TC_ACT_SHOT;
	return TC_ACT_UNSPEC;
}

SEC("tc")
int untag(struct __sk_buff *skb)
{
	if (bpf_skb_vlan_pop(skb))
		return TC_ACT_SHOT;
	if (twice && bpf_skb_vlan_pop(skb))
		return TC_ACT_SHOT;
	return TC_ACT_UNSPEC;
}
