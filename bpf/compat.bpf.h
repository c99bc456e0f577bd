/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * compat.bpf.h: one accessor per kernel change. Nothing here looks at a kernel version: members
 * are asked for by BTF, and the prototypes of the tracepoints by the loader, which sets
 * queue_is_first_arg before the programs are verified, so that only the path that fits is seen.
 */
#ifndef BPF_COMPAT_BPF_H
#define BPF_COMPAT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * (q, rq) until a54895fa057c (5.11, and 5.10.137 of the stable tree), (rq) after it.
 * Set from the prototype of btf_trace_block_rq_issue.
 */
const volatile bool queue_before_request = false;

/* Two loads and no choice of the place: before 5.12 the verifier lets no such address be computed. */
static __always_inline u64 first_or_second(const u64 *ctx, bool is_second)
{
	u64 arg;

	if (is_second) {
		arg = ctx[1];
		asm volatile("" : "+r"(arg));
	} else {
		arg = ctx[0];
	}
	return arg;
}

static __always_inline struct request *request_arg(const u64 *ctx)
{
	return (struct request *)first_or_second(ctx, queue_before_request);
}

/* block_bio_queue: (q, bio) until e8a676d61c07 (5.11), (bio) after it; not in the stable trees. */
const volatile bool queue_before_bio = false;

static __always_inline struct bio *bio_arg(const u64 *ctx)
{
	return (struct bio *)first_or_second(ctx, queue_before_bio);
}

/* NULL for a queue without a disk: admin queues, tapes, disks under removal. */
static __always_inline struct gendisk *request_disk(const struct request *rq)
{
	const struct request___disk *old = (const void *)rq;

	if (bpf_core_field_exists(old->rq_disk))
		return old->rq_disk;
	return rq->q->disk;
}

static __always_inline struct gendisk *bio_disk(const struct bio *bio)
{
	const struct bio___disk *old = (const void *)bio;

	if (bpf_core_field_exists(old->bi_disk))
		return old->bi_disk;
	return bio->bi_bdev->bd_disk;
}

/* major << 20 | minor; 0 where there is no disk. Unique for hidden multipath disks too, whose dev_t is 0:0. */
static __always_inline u32 disk_device(const struct gendisk *disk)
{
	return disk ? (u32)disk->major << 20 | (u32)disk->first_minor : 0;
}

/*
 * Whether the times that the kernel notes now for the running task come from a cache: since 6.9 a
 * task that holds requests back in a plug has one time for all it does under it.
 */
static __always_inline bool time_is_cached(void)
{
	if (!bpf_core_field_exists(((struct blk_plug *)0)->cur_ktime))
		return false;
	return bpf_get_current_task_btf()->flags & PF_BLOCK_TS; /* the helper is older, 5.11 */
}

/*
 * Macros until 5f89154e8e9e (6.11), then an enum, at first without a name: CO-RE finds no value of
 * such a one, so the loader looks for it in the kernel's BTF.
 */
const volatile struct request_masks request_masks = { 1u << 4, 1u << 13 };

/* Part of a flush sequence: the data step of a write, or the flush command the kernel made for it. */
static __always_inline bool request_in_flush_sequence(const struct request *rq)
{
	return rq->rq_flags & request_masks.flush_sequence;
}

/* Whether the kernel notes times in the request for its statistics; else they are of an earlier life. */
static __always_inline bool request_keeps_times(const struct request *rq)
{
	return rq->rq_flags & request_masks.io_stat;
}

/*
 * What a flush sequence takes away from a request's flags before anything but its start is told
 * (which is not, before 6.5): its bio still has it.
 */
static __always_inline u32 bio_flush_flag(const struct request *rq)
{
	u32 bit = 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);

	return rq->bio ? rq->bio->bi_opf & bit : 0;
}

/* No data of its own, and a flush asked for: what fsync sends when all is written. */
static __always_inline bool is_empty_flush(u32 cmd_flags, u32 bytes)
{
	u32 bit = 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);

	return !bytes && (cmd_flags & bit);
}

/* The block cgroup that pays for the bio, as blktrace finds it; right for writeback on cgroup v2. */
static __always_inline struct cgroup *bio_cgroup(const struct bio *bio)
{
	if (!bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	return bio->bi_blkg->blkcg->css.cgroup;
}

#endif
