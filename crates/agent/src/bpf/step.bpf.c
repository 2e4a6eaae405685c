// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * One step of the laws, run inside the kernel on a state that user space hands in and takes out again, so that a test
 * can compare the kernel's compilation with the host's.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "shared.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct tg_step {
	struct tg_flow flow;
	struct tg_interface path;
	struct tg_params params;
	struct tg_segment arrives;
	struct tg_arrival measured; /* by the previous step, until this one measures */
	struct tg_ack leaves;
	tg_u64 leaves_us;
	tg_u32 tsval;
	tg_u32 raw; /* the window field that comes out */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_step);
} steps SEC(".maps");

SEC("syscall")
int step(void *unused)
{
	__u32 zero = 0;
	struct tg_step *s = bpf_map_lookup_elem(&steps, &zero);

	(void)unused;
	if (!s)
		return 1;
	tg_flow_data_in(&s->flow, &s->params, &s->path, &s->arrives, &s->measured);
	s->raw = tg_flow_ack_out(&s->flow, &s->leaves, s->leaves_us, s->arrives.stamped, s->tsval);
	return 0;
}

/* The same for an upload: an acknowledgement arrives, then data leave. */
struct tg_upload_step {
	struct tg_upload upload;
	struct tg_interface path;
	struct tg_params params;
	struct tg_ack ack;
	struct tg_segment arrives;
	struct tg_arrival measured;
	tg_u64 leaves_us;
	tg_u32 mss;
	tg_u32 tsval;
	tg_u32 raw; /* the window field that our stack reads */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tg_upload_step);
} upload_steps SEC(".maps");

SEC("syscall")
int upload_step(void *unused)
{
	__u32 zero = 0;
	struct tg_upload_step *s = bpf_map_lookup_elem(&upload_steps, &zero);

	(void)unused;
	if (!s)
		return 1;
	s->raw = tg_upload_ack_in(&s->upload, &s->params, &s->path, &s->ack, &s->arrives, &s->measured);
	tg_upload_data_out(&s->upload, s->mss, s->tsval, s->leaves_us);
	return 0;
}
