/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * compat.bpf.h: one accessor for each change of the kernel. Nothing here depends on a kernel
 * version. Members are looked up in the kernel's BTF, and the prototypes of tracepoints by the
 * loader, which sets queue_is_first_arg before the programs are verified; the verifier then sees
 * only the path that applies.
 */
#ifndef BPF_COMPAT_BPF_H
#define BPF_COMPAT_BPF_H

#include "bpf/event.h"
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * The parameters are (q, rq) until commit a54895fa057c (Linux 5.11, and 5.10.137 of the stable
 * tree), and (rq) after it. The loader sets this from the prototype of btf_trace_block_rq_issue.
 */
const volatile bool queue_before_request = false;

/*
 * Loads both arguments and then chooses one: before Linux 5.12 the verifier rejects an address that
 * is computed from the choice.
 */
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

/*
 * The parameters of block_bio_queue are (q, bio) until commit e8a676d61c07 (Linux 5.11), and (bio)
 * after it. The stable trees did not take the change.
 */
const volatile bool queue_before_bio = false;

static __always_inline struct bio *bio_arg(const u64 *ctx)
{
	return (struct bio *)first_or_second(ctx, queue_before_bio);
}

/* Returns NULL for a queue without a disk: admin queues, tapes, disks that are being removed. */
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

/*
 * Returns major << 20 | minor, or 0 where there is no disk. The number is unique also for hidden
 * multipath disks, whose dev_t is 0:0.
 */
static __always_inline u32 disk_device(const struct gendisk *disk)
{
	return disk ? (u32)disk->major << 20 | (u32)disk->first_minor : 0;
}

/*
 * Returns whether the times that the kernel notes now for the running task come from a cache. Since
 * Linux 6.9 a task that holds requests back in a plug uses one time for everything it does under
 * this plug.
 */
static __always_inline bool time_is_cached(void)
{
	if (!bpf_core_field_exists(((struct blk_plug *)0)->cur_ktime))
		return false;
	return bpf_get_current_task_btf()->flags & PF_BLOCK_TS; /* the helper is older (5.11) */
}

/*
 * The flags are macros until commit 5f89154e8e9e (Linux 6.11) and then an enum that at first has no
 * name. CO-RE cannot find values of an enum without a name, so the loader looks them up in the
 * kernel's BTF.
 */
const volatile struct request_masks request_masks = { 1u << 4, 1u << 13 };

/*
 * Returns whether the request is part of a flush sequence: the data step of a write, or the flush
 * command that the kernel made for it.
 */
static __always_inline bool request_in_flush_sequence(const struct request *rq)
{
	return rq->rq_flags & request_masks.flush_sequence;
}

/*
 * Returns whether the kernel notes times in the request for its statistics. Otherwise the times
 * there belong to an earlier request.
 */
static __always_inline bool request_keeps_times(const struct request *rq)
{
	return rq->rq_flags & request_masks.io_stat;
}

/*
 * Returns the flags that a flush sequence removes from a request before anything but its start is
 * traced (before Linux 6.5 the start is not traced either). The bio still has them.
 */
static __always_inline u32 bio_flush_flag(const struct request *rq)
{
	u32 bit = 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);

	return rq->bio ? rq->bio->bi_opf & bit : 0;
}

/*
 * Returns whether the request has no data and asks for a flush, which fsync sends when everything
 * has been written.
 */
static __always_inline bool is_empty_flush(u32 cmd_flags, u32 bytes)
{
	u32 bit = 1u << bpf_core_enum_value(enum req_flag_bits, __REQ_PREFLUSH);

	return !bytes && (cmd_flags & bit);
}

/*
 * Returns the block cgroup that pays for the bio, found as blktrace finds it. It is correct for
 * writeback on cgroup v2.
 */
static __always_inline struct cgroup *bio_cgroup(const struct bio *bio)
{
	if (!bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	return bio->bi_blkg->blkcg->css.cgroup;
}

#endif
