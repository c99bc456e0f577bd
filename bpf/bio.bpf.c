// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * bio.bpf.c: the life of a bio, --layer queue.
 *
 *	queue     a bio is submitted to a block device, its submitter is running  (arrival)
 *	complete  it has ended, all its splits and clones included                (completion)
 *
 * This layer sees what device-mapper, md and other drivers without requests do, and bios before
 * they are merged or split. There is no dispatch: each device below sends bios of its own.
 * All that is to be known of a bio stands in its line: completion has consumed the bio itself.
 */
#include "bpf/compat.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/inflight.bpf.h"
#include "bpf/submitter.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/block_bio_queue")
int block_bio_queue(u64 *ctx)
{
	struct bio *bio = bio_arg(ctx);
	u32 device = disk_device(bio_disk(bio));
	struct cgroup *cgroup = bio_cgroup(bio);
	struct inflight *at;

	if (!device_wanted(device) || !cgroup_wanted(cgroup))
		return 0;
	at = inflight_begin(inflight_key(bio));
	at->arrival_ns = bpf_ktime_get_ns();
	at->sector = bio->bi_iter.bi_sector;
	at->bytes = bio->bi_iter.bi_size;
	at->device = device;
	at->cmd_flags = bio->bi_opf;
	at->cgroup_id = cgroup ? cgroup->kn->id : 0;
	submitter_note(at);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int block_bio_complete(u64 *ctx)
{
	struct bio *bio = (struct bio *)ctx[1]; /* (q, bio) in every version */
	struct inflight *at = inflight_find(inflight_key(bio));
	struct event_request *event;
	u32 cpu;
	void *ring;

	if (!at)
		return 0;
	cpu = bpf_get_smp_processor_id();
	ring = ring_of(cpu);
	event = request_reserve(ring, cpu);
	if (event) {
		event->kind = EVENT_REQUEST;
		event->flags = EVENT_BIO | at->flags;
		event->requeues = 0;
		event->cmd_flags = at->cmd_flags;
		event->arrival_ns = at->arrival_ns;
		event->dispatch_ns = 0;
		event->completion_ns = bpf_ktime_get_ns();
		event->sector = at->sector;
		event->cgroup_id = at->cgroup_id;
		event->bytes = at->bytes;
		event->device = at->device;
		event->tid = (u32)at->pid_tgid;
		event->pid = at->pid_tgid >> 32;
		event->error = bio->bi_status;
		request_submit(event, ring, cpu);
	}
	at->key = 0;
	return 0;
}
