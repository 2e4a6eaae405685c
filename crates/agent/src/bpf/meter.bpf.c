// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/* Counts what the sockets of one control group receive and send. Lets every packet pass. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Bytes from the IP header on, by direction as the agent counts them: 0 arrives, 1 leaves. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} bytes SEC(".maps");

static int count(const struct __sk_buff *skb, __u32 direction)
{
	__u64 *sum = bpf_map_lookup_elem(&bytes, &direction);

	if (sum)
		__sync_fetch_and_add(sum, skb->len);
	return 1;
}

SEC("cgroup_skb/ingress")
int arrives(struct __sk_buff *skb)
{
	return count(skb, 0);
}

SEC("cgroup_skb/egress")
int leaves(struct __sk_buff *skb)
{
	return count(skb, 1);
}
