/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_requests: the way of one request from the source into reorder, and from there into the
 * window of its device and into the stream of segments. A device is added when its first request
 * comes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/pipeline_state.h"
#include "base/memory/array.h"

void pipeline_name_devices(struct pipeline *p)
{
	struct segment_device *facts;

	if (!p->stream)
		return;
	facts = calloc(p->devices.nr ? p->devices.nr : 1, sizeof(*facts));
	for (size_t i = 0; facts && i < p->devices.nr; i++)
		facts[i] = p->devices.all[i].facts;
	if (!facts || stream_set_devices(p->stream, facts, p->devices.nr))
		log_say(p->config.log, LEVEL_WARN, "device_not_named", "why=\"no memory\"");
	free(facts);
}

static void traced_describe(struct pipeline *p, struct traced *t, uint32_t device)
{
	struct pipeline_device facts = { .is_hidden = false };

	t->facts.device = device;
	if (!p->config.describe || p->config.describe(device, &facts))
		snprintf(facts.name, sizeof(facts.name), "%u:%u", device_major(device),
			 device_minor(device));
	memcpy(t->facts.name, facts.name, sizeof(t->facts.name));
	memcpy(t->facts.file_system, facts.file_system, sizeof(t->facts.file_system));
	t->facts.size_bytes = facts.size_bytes;
	t->is_hidden = facts.is_hidden;
	for (size_t i = 0; i < p->config.source_config.nr_devices; i++)
		t->is_named |= p->config.source_config.devices[i] == device;
	t->is_hidden &= !t->is_named;
	if (p->config.key)
		pseudonym_device(p->config.key, t->facts.name, t->facts.name);
}

/* Initializes a device. On -ENOMEM the caller has nothing to release. */
static int traced_init(struct pipeline *p, struct traced *t, uint32_t device)
{
	struct window_config config = { .leave_out_own = p->config.leave_out_own };

	*t = (struct traced){ .seen.device = device };
	traced_describe(p, t, device);
	if (p->config.key && place_map_new(&t->places, p->config.key, p->config.key_host, device,
					   t->facts.size_bytes))
		return -ENOMEM;
	if (!window_new(&t->window, &config, p->window.begin_ns))
		return 0;
	place_map_free(t->places);
	return -ENOMEM;
}

static struct traced *traced_add(struct pipeline *p, uint32_t device)
{
	size_t nr = p->devices.nr + 1;
	struct traced *devices = realloc(p->devices.all, nr * sizeof(*devices));
	struct account_count *seen;

	if (devices)
		p->devices.all = devices;
	seen = realloc(p->devices.seen, (nr + 1) * sizeof(*seen));
	if (seen)
		p->devices.seen = seen;
	if (!devices || !seen || traced_init(p, &devices[nr - 1], device))
		return NULL;
	p->devices.last = p->devices.nr++;
	pipeline_name_devices(p);
	log_say(p->config.log, LEVEL_INFO, "device_traced", "name=%s device=%u:%u",
		devices[nr - 1].facts.name, device_major(device), device_minor(device));
	return &devices[nr - 1];
}

struct traced *pipeline_device(struct pipeline *p, uint32_t device)
{
	if (p->devices.last < p->devices.nr &&
	    p->devices.all[p->devices.last].facts.device == device)
		return &p->devices.all[p->devices.last];
	for (size_t i = 0; i < p->devices.nr; i++)
		if (p->devices.all[i].facts.device == device) {
			p->devices.last = i;
			return &p->devices.all[i];
		}
	return traced_add(p, device);
}

static void request_take(struct pipeline *p, const struct request *r)
{
	struct traced *t = pipeline_device(p, r->device);
	struct request moved;

	p->nr_captured++;

	if (t && t->places) {
		moved = *r;
		place_map_request(t->places, &moved);
		r = &moved;
	}
	if (t) {
		t->seen.nr++;
		t->seen.nr_countable += !(r->flags & REQUEST_PASSTHROUGH);
	}
	if (!t) {
		pipeline_on_lost(p, LOSS_REORDER, 1, 0);
	} else if (reorder_add(p->reorder, r)) {
		t->lost_in_window++;
		pipeline_lost(p, LOSS_REORDER, 1, r->device);
	}
}

static void request_hold(struct pipeline *p, const struct request *r)
{
	struct pipeline_held *h = &p->held;

	if (array_grow(&h->requests, &h->cap, h->nr + 1, sizeof(*h->requests))) {
		pipeline_on_lost(p, LOSS_REORDER, 1, r->device);
		return;
	}
	h->requests[h->nr++] = *r;
}

static void request_feed(struct pipeline *p, const struct request *r)
{
	struct request marked = *r;

	if (r->pid == p->own_pid && !(r->flags & REQUEST_NO_ISSUER))
		marked.flags |= REQUEST_OWN;
	if (p->pauses.stalls.nr && stalls_hold(&p->pauses.stalls, r))
		marked.flags |= REQUEST_PAUSED;
	request_take(p, &marked);
}

void pipeline_feed_held(struct pipeline *p)
{
	for (size_t i = 0; i < p->held.nr; i++)
		request_feed(p, &p->held.requests[i]);
	free(p->held.requests);
	p->held = (struct pipeline_held){ 0 };
}

void pipeline_on_request(void *ctx, const struct request *r)
{
	struct pipeline *p = ctx;

	p->poll.nr++;
	if (p->held.is_cutover || (p->pauses.is_stalled && pipeline_pause_ask(p, r)))
		request_hold(p, r);
	else
		request_feed(p, r);
}

void pipeline_on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread)
{
	struct pipeline *p = ctx;

	(void)kernel_thread;
	if (p->stream)
		stream_task(p->stream, tid, pid, comm);
	if (p->who)
		pipeline_who_task(p->who, tid, pid, comm);
}

/*
 * A window takes a run of consecutive requests of its device at once, which is cheaper than one by
 * one.
 */
void pipeline_on_release(void *ctx, struct request *r, size_t nr)
{
	struct pipeline *p = ctx;

	for (size_t i = 0, run; i < nr; i += run) {
		struct traced *t = pipeline_device(p, r[i].device);

		for (run = 1; i + run < nr && r[i + run].device == r[i].device; run++)
			;
		if (t && window_add_many(t->window, r + i, run))
			log_say(p->config.log, LEVEL_WARN, "window_incomplete",
				"device=%s why=\"no memory\"", t->facts.name);
		if (t && p->overhead.level != OVERHEAD_FULL)
			t->shed_in_window += run;
	}
	p->window.nr_requests += nr;
	if (p->who)
		pipeline_who_add(p->who, r, nr);
	if (p->stream && p->overhead.level == OVERHEAD_FULL)
		stream_add(p->stream, r, nr);
}
