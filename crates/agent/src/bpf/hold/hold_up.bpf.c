// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The hold of uploads: like that of downloads (hold.bpf.c), with the law for uploads (laws/hold/upload.h). It is an
 * object of its own because it is attached only where uploads are held, so that others need not pay for it, and because
 * the kernel's verifier limits each object's size. Its records are in the same map as those of downloads.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "hold/uploads.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "hold/hooks.h"
