// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/* Delays UDP over IPv4 by a fixed time, for tests of queueing disciplines. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "hold/departure_time.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile __u64 wait_us = 0;

SEC("tc")
int udp_waits(struct __sk_buff *skb)
{
	__u8 protocol = 0;

	bpf_skb_load_bytes(skb, ETH_HLEN + offsetof(struct iphdr, protocol), &protocol, 1);
	if (skb->protocol == bpf_htons(ETH_P_IP) && protocol == IPPROTO_UDP)
		depart_at(skb, bpf_ktime_get_ns() / 1000 + wait_us);
	return TC_ACT_UNSPEC;
}
