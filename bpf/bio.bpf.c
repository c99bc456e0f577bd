// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bio.bpf.c: the life of a bio, --layer queue.
 *
 *	queue     a bio is submitted to a block device while its submitter is running (arrival)
 *	complete  it has ended. Where the driver works on bios, as dm and md do, this is
 *		  block_bio_complete. Where it works on requests, the kernel traces only
 *		  block_rq_complete, which ends the bios of the request or a part of them
 *		  (completion)
 *
 * A bio that is too long for the device is split. Its parts are bios of their own, and their
 * private pointer is the bio from which they were split. That bio has ended when as many bytes have
 * ended as it was queued with.
 *
 * This layer sees the I/O of device-mapper, md and other drivers without requests, and it sees bios
 * before they are merged or split. There is no dispatch, because each device below sends bios of
 * its own. Everything known about a bio is kept in its line of the table, because the completion
 * has already consumed the bio itself.
 */
#include "bpf/calibrate.bpf.h"
#include "bpf/compat.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/inflight.bpf.h"
#include "bpf/submitter.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Returns a line that belongs to this bio alone and has its key. A bio whose line is taken away is
 * not recorded any more, so each line that is taken away is counted. The key is written by this
 * function alone: a second write could take the line back from a bio that has got it since. Where
 * the line still has the key, the end of an earlier bio at this address was not seen.
 */
static __always_inline struct inflight *bio_line(u64 key)
{
	struct inflight *at = inflight_find(key);

	if (at) {
		enum line_found found = line_take_over(at, key);

		if (found == LINE_UNSEEN)
			unseen_emit(at, 0);
		if (found != LINE_GONE)
			return at;
	}
	at = line_claim(&inflights[inflight_set(key)], key);
	if (at)
		return at;
	at = &inflights[inflight_set(key)];
	if (__sync_lock_test_and_set(&at->key, key))
		__sync_fetch_and_add(&nr_evicted, 1);
	return at;
}

SEC("tp_btf/block_bio_queue")
int block_bio_queue(u64 *ctx)
{
	struct bio *bio = bio_arg(ctx);
	u32 device = disk_device(bio_disk(bio));
	struct cgroup *cgroup = bio_cgroup(bio);
	u64 key = inflight_key(bio);
	struct inflight *at;

	if (!device_wanted(device) || !cgroup_wanted(cgroup))
		return 0;
	at = bio_line(key);
	inflight_clear(at);
	at->flags = EVENT_BIO;
	at->arrival_ns = bpf_ktime_get_ns();
	at->sector = bio->bi_iter.bi_sector;
	at->bytes = bio->bi_iter.bi_size;
	at->device = device;
	at->cmd_flags = bio->bi_opf;
	at->cgroup_id = cgroup ? cgroup->kn->id : 0;
	submitter_note(at);
	return 0;
}

/*
 * Records the end of a bio. Where its line is taken away while the record is filled in, the bio is
 * counted as evicted, the record may mix two bios and is discarded, and the line stays with the
 * new bio.
 */
static __noinline int bio_ended(struct inflight *at, u64 key, s32 error)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct event_request *event = NULL;
	void *ring = ring_of(cpu);

	if (!was_told(at))
		event = request_reserve(ring, cpu);
	if (event) {
		event_of_line(event, at);
		event->dispatch_ns = 0;
		event->completion_ns = bpf_ktime_get_ns();
		event->cgroup_id = at->cgroup_id;
		event->error = error;
	}
	if (line_release(at, key) && event)
		request_submit(event, ring, cpu);
	else if (event)
		bpf_ringbuf_discard(event, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int block_bio_complete(u64 *ctx)
{
	/* The tracepoint has the parameters (q, bio) in every version. */
	struct bio *bio = (struct bio *)ctx[1];
	u64 key = inflight_key(bio);
	struct inflight *at = inflight_find(key);

	if (at)
		bio_ended(at, key, bio->bi_status);
	return 0;
}

/*
 * Counts nr bytes of the bio with this key as ended. Returns 0, or 1 where no such bio is in
 * flight. The function is global and takes plain numbers, so the verifier checks it once and not
 * for each turn of the loop below.
 */
__attribute__((noinline)) int bytes_ended(__u64 key, __u32 nr, __s32 error, __u32 held)
{
	struct inflight *at = inflight_find(key);

	if (!at)
		return 1;
	/*
	 * Parts may end on several CPUs at once; exactly one of them sees the sum reach the whole.
	 * Where the line has been taken away since it was found, which is counted as evicted, these
	 * bytes can end the bio that has it now too early.
	 */
	if (__sync_fetch_and_add(&at->ended_bytes, nr) + nr >= at->bytes && !held)
		bio_ended(at, key, error);
	return 0;
}

/* Returns the key of the bio that this one was split from. */
static __always_inline u64 parent_key(const struct bio *bio)
{
	u64 private = 0;

	bpf_core_read(&private, sizeof(private), &bio->bi_private);
	return inflight_key_of_number(private);
}

#define BIOS_PER_REQUEST_MAX 512

SEC("tp_btf/block_rq_complete")
int block_rq_complete(u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];
	/*
	 * In a flush sequence the data may end before the bio does; the last call shows the end of
	 * the bio.
	 */
	bool held = request_in_flush_sequence(rq);
	s32 error = (s32)ctx[1];
	u32 left = (u32)ctx[2];
	struct bio *bio = rq->bio;

	if (!device_wanted(disk_device(request_disk(rq))))
		return 0;
	for (int i = 0; i < BIOS_PER_REQUEST_MAX && bio; i++) {
		u32 size = bio->bi_iter.bi_size;

		if (left < size)
			size = left;
		if (bytes_ended(inflight_key(bio), size, error, held))
			bytes_ended(parent_key(bio), size, error, held);
		left -= size;
		if (!left)
			break;
		bio = bio->bi_next;
	}
	return 0;
}
