// SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
/*
 * The hold of uploads: as that of downloads (hold.bpf.c), by the law of what is sent from here (laws/hold/upload.h). It is an
 * object of its own, since it is attached only where uploads are held, which nobody else is to pay for, and since the
 * kernel's verifier bounds each object's work. Its records lie among those of downloads.
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

#include "held_uploads.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "hold_hooks.h"
