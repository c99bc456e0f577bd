/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_blktrace_events: turns records into requests, and counts the requests that were lost.
 *
 * Where the kernel had no room for events, the number of lost requests is the difference between
 * the kernel's count of completed requests and the number of requests handed over.
 */
#include <math.h>
#include <time.h>

#include "agent/source/blktrace/source_blktrace_state.h"
#include "base/system/clock.h"

#define FORGET_NS 30000000000ull /* A request that a gap left open is given up after this time. */

/* ---- requests ---- */

static void name_issuer(struct source *s, struct request *r, unsigned int begun_by)
{
	const struct tid_entry *e;
	bool is_new;

	if (r->flags & REQUEST_NO_ISSUER)
		return;
	e = tid_cache_find(&s->tids, r->tid, s->now_ns, &is_new);
	/*
	 * A worker thread runs queues for other threads. Where it inserted the request, the
	 * submitter is unknown.
	 */
	if (begun_by == BLOCK_INSERT && e->is_kernel_thread) {
		r->tid = r->pid = 0;
		r->flags |= REQUEST_NO_ISSUER;
		return;
	}
	r->pid = e->pid;
	r->flags |= e->is_kernel_thread ? REQUEST_KERNEL_THREAD : 0;
	if (is_new && s->sink)
		s->sink->task(s->sink->ctx, e->tid, e->pid, e->comm, e->is_kernel_thread);
}

struct traced_disk *blktrace_disk_of(const struct source *s, uint32_t device)
{
	if (s->current && s->current->disk.device == device)
		return s->current;
	for (size_t i = 0; i < s->nr_disks; i++)
		if (s->disks[i]->disk.device == device)
			return s->disks[i];
	return NULL;
}

void blktrace_on_request(void *ctx, const struct request *paired, unsigned int begun_by)
{
	struct source *s = ctx;
	struct traced_disk *d = blktrace_disk_of(s, paired->device);
	struct request r = *paired;

	/*
	 * The end of the request is missing, so the present moment is used; none of its times is
	 * kept.
	 */
	if (r.flags & REQUEST_NO_COMPLETION) {
		r.arrival_ns = r.dispatch_ns = r.completion_ns = s->now_ns;
		r.flags |= REQUEST_NO_DISPATCH;
	}
	name_issuer(s, &r, begun_by);
	if (d)
		d->delivered += !(r.flags & REQUEST_PASSTHROUGH);
	s->nr_polled++;
	if (s->sink)
		s->sink->request(s->sink->ctx, &r);
}

static void source_blktrace_events_tell(const struct source *s, enum loss_cause cause, uint64_t nr,
					uint32_t device)
{
	if (nr && s->sink)
		s->sink->lost(s->sink->ctx, cause, nr, device);
}

/* ---- events ---- */

void blktrace_on_gap(struct source *s, struct traced_disk *d, uint64_t time_ns)
{
	pairing_gap(s->pairing, d->disk.device, time_ns);
	if (time_ns > d->gap_ns)
		d->gap_ns = time_ns;
	d->is_lossy = true;
	d->is_settled = false;
}

static void on_record(struct source *s, struct traced_disk *d, const struct blktrace_record *record)
{
	struct block_event e = record->event;
	struct blktrace_zfcp zfcp;

	if (record->type == BLKTRACE_PROCESS) {
		tid_cache_note(&s->tids, e.tid, record->comm);
	} else if (record->type == BLKTRACE_EVENT && e.kind == BLOCK_DRIVER_DATA) {
		/*
		 * Where memory is short, only the latencies are missing, and their count shows
		 * that.
		 */
		if (!blktrace_zfcp(relay_merge_reader(&d->merge), record, &zfcp))
			zfcp_detail_add(&d->zfcp, &zfcp);
	} else if (record->type == BLKTRACE_EVENT) {
		d->events++;
		e.device = d->disk.device;
		if (pairing_add(s->pairing, &e))
			source_blktrace_events_tell(s, LOSS_REORDER, 1, e.device);
	}
}

void blktrace_hand_over(struct source *s, struct traced_disk *d, uint64_t before_ns)
{
	const struct blktrace_record *record;
	uint64_t skipped;
	uint32_t missing;

	s->current = d;
	while ((record = relay_merge_next(&d->merge, before_ns, &missing))) {
		if (missing) {
			d->missing += missing;
			blktrace_on_gap(s, d, record->event.time_ns);
		}
		on_record(s, d, record);
	}
	relay_merge_trim(&d->merge);
	s->current = NULL;
	skipped = relay_merge_skipped(&d->merge);
	source_blktrace_events_tell(s, LOSS_DECODE, skipped - d->skipped, d->disk.device);
	d->skipped = skipped;
}

/* ---- losses ---- */

/*
 * Events may have been dropped until the counter was read, which is later than the beginning of the
 * poll: a poll takes its time, above all where it was held up and finds full rings.
 */
void blktrace_look_for_drops(struct source *s)
{
	for (size_t i = 0; i < s->nr_disks; i++) {
		struct traced_disk *d = s->disks[i];
		uint64_t dropped = blktrace_disk_dropped(&d->disk);

		if (dropped > d->dropped)
			blktrace_on_gap(s, d, clock_monotonic_ns());
		d->dropped = dropped > d->dropped ? dropped : d->dropped;
	}
}

/*
 * Estimates the loss where the kernel does not count requests: the missed events divided by the
 * events that one request causes.
 */
static uint64_t lost_by_events(const struct traced_disk *d)
{
	uint64_t missed = d->dropped > d->missing ? d->dropped : d->missing;

	if (!d->delivered || !d->events)
		return missed ? 1 : 0;
	return (uint64_t)ceil((double)missed * (double)d->delivered / (double)d->events);
}

/*
 * Counts the requests completed before this poll, minus those handed over, minus those that may
 * still be in flight. The result is exact once the disk was idle, and never exceeds the true loss.
 */
void blktrace_reconcile(struct source *s, struct traced_disk *d)
{
	uint64_t known, lost;

	if (d->has_base) {
		known = d->base + d->delivered + pairing_doubtful(s->pairing, d->disk.device);
		lost = d->completed > known ? d->completed - known : 0;
	} else {
		lost = lost_by_events(d);
	}
	if (lost > d->told) {
		source_blktrace_events_tell(s, LOSS_KERNEL, lost - d->told, d->disk.device);
		d->told = lost;
	}
	if (d->is_settled)
		d->is_lossy = false;
}

/*
 * Gives up requests that ended unseen. A request that began some time ago on a disk which had
 * nothing in flight before this poll has ended unseen. After a gap this is concluded at once.
 * Otherwise two looks must agree, because the kernel counts a request only once it is at the
 * driver, and a request may be on its way there for as long as its thread gets no CPU. On a disk
 * that is never idle, requests that a gap left open are given up after a time.
 */
static void source_blktrace_events_settle(struct source *s, struct traced_disk *d)
{
	/* The monotonic clock begins at boot, so its value can be below SETTLE_NS. */
	uint64_t before_ns = s->now_ns > SETTLE_NS ? s->now_ns - SETTLE_NS : 0;

	if (d->was_idle && (d->is_lossy || d->was_idle_before)) {
		pairing_settle(s->pairing, d->disk.device, before_ns);
		d->is_settled = before_ns > d->gap_ns;
	} else if (d->is_lossy && s->now_ns > d->gap_ns + FORGET_NS) {
		pairing_settle(s->pairing, d->disk.device, d->gap_ns);
		d->is_settled = true;
	}
}

void blktrace_look_before(struct source *s)
{
	const struct timespec visible = { .tv_nsec = VISIBLE_NS };
	bool has_held = pairing_held(s->pairing, 0), any_lossy = false;

	for (size_t i = 0; i < s->nr_disks; i++) {
		struct traced_disk *d = s->disks[i];

		d->was_idle_before = d->was_idle;
		d->was_idle = (has_held || d->is_lossy) &&
			      s->kernel->in_flight(s->kernel->ctx, d->disk.device) == 0;
		any_lossy |= d->is_lossy;
		if (d->is_lossy && d->has_base &&
		    s->kernel->completed(s->kernel->ctx, d->disk.device, &d->completed))
			d->has_base = false;
	}
	if (any_lossy) /* Everything that was counted has been handed over. */
		nanosleep(&visible, NULL);
}

void blktrace_look_after(struct source *s)
{
	for (size_t i = 0; i < s->nr_disks; i++)
		source_blktrace_events_settle(s, s->disks[i]);
	for (size_t i = 0; i < s->nr_disks; i++)
		if (s->disks[i]->is_lossy)
			blktrace_reconcile(s, s->disks[i]);
	s->last_settle_ns = s->now_ns;
}
