/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only */
/* The programs of an object that has in() and out(), each told the length of the link-layer header: for interfaces with
 * an Ethernet header, and for those without (TUN, WireGuard, PPP, raw IP modems). */
#ifndef TG_PROGRAMS_H
#define TG_PROGRAMS_H

SEC("tc")
int ethernet_arrives(struct __sk_buff *skb)
{
	return in(skb, ETH_HLEN);
}

SEC("tc")
int ethernet_leaves(struct __sk_buff *skb)
{
	return out(skb, ETH_HLEN);
}

SEC("tc")
int ip_arrives(struct __sk_buff *skb)
{
	return in(skb, 0);
}

SEC("tc")
int ip_leaves(struct __sk_buff *skb)
{
	return out(skb, 0);
}

#endif
