/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/array.h"
#include "formats/foreign/event_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/u64map.h"
#include "formats/pairing.h"

/* One device that events name. */
struct traced {
	uint32_t device;
	uint32_t index;	   /* its index in f->devices */
	bool has_requests; /* it has events of requests (made, inserted or dispatched) */
	bool has_bios;	   /* it has events of queued bios */
	bool is_below;	   /* it takes bios from another traced device */
	uint64_t nr_left_out;
};

/* The last bios that were passed down and have not been queued below yet. */
#define NR_PASSED 64
struct passed {
	uint32_t device;
	uint64_t sector;
};

struct event_trace {
	struct foreign *f;
	struct pairing *pairing;
	uint8_t layer;
	struct traced *devices; /* owned */
	size_t nr_devices, cap_devices;
	size_t last;		 /* index of the device that was looked up last */
	struct u64map by_number; /* maps a device's number to its index in devices */
	struct request *ready;	 /* owned; [at, nr) are ready */
	size_t at, nr, cap;
	bool has_ends; /* the trace has a completion */
	/* the trace has an event before a completion: queued, made, inserted or dispatched */
	bool has_begins;
	struct passed passed[NR_PASSED];
	unsigned int next_passed;
	uint64_t nr_before; /* requests that began before the trace */
	int error;
};

static struct traced *event_trace_find(struct event_trace *t, uint32_t device)
{
	uint32_t found;

	if (t->last < t->nr_devices && t->devices[t->last].device == device)
		return &t->devices[t->last];
	found = u64map_find(&t->by_number, device);
	if (found == U64MAP_NONE)
		return NULL;
	t->last = found;
	return &t->devices[found];
}

static int event_trace_enter(struct event_trace *t, uint32_t device, struct text name,
			     struct traced **out)
{
	int64_t index;

	*out = event_trace_find(t, device);
	if (*out)
		return 0;
	if (array_grow(&t->devices, &t->cap_devices, t->nr_devices + 1, sizeof(*t->devices)))
		return -ENOMEM;
	index = foreign_device_numbered(t->f, device, name);
	if (index < 0)
		return (int)index;
	if (u64map_put(&t->by_number, device, (uint32_t)t->nr_devices) < 0)
		return -ENOMEM;
	*out = &t->devices[t->nr_devices];
	**out = (struct traced){ .device = device, .index = (uint32_t)index };
	t->last = t->nr_devices++;
	return 0;
}

static bool grow_ready(struct event_trace *t)
{
	size_t cap = t->cap ? 2 * t->cap : 1024;
	struct request *ready = realloc(t->ready, cap * sizeof(*ready));

	if (!ready)
		return false;
	t->ready = ready;
	t->cap = cap;
	return true;
}

/*
 * Takes a request from the pairing, decides whether it counts, and keeps it until the caller takes
 * it.
 */
static void event_trace_paired(void *ctx, const struct request *r, unsigned int begun_by)
{
	struct event_trace *t = ctx;
	struct traced *d = event_trace_find(t, r->device);

	if (t->layer == LAYER_DEVICE && !d->has_requests) {
		d->nr_left_out++;
		return;
	}
	if (begun_by == BLOCK_COMPLETE) {
		t->nr_before += !d->is_below; /* otherwise it was passed down from another device */
		return;
	}
	if (t->nr == t->cap && !grow_ready(t)) {
		t->error = -ENOMEM;
		return;
	}
	t->ready[t->nr] = *r;
	t->ready[t->nr++].device = d->index;
}

int event_trace_new(struct event_trace **out, struct foreign *f)
{
	struct event_trace *t = calloc(1, sizeof(*t));
	struct pairing_config config = { .source = SOURCE_IMPORT };
	int ret;

	if (!t)
		return -ENOMEM;
	t->f = f;
	t->layer = f->options->layer &&
				   text_is(text_make(f->options->layer, strlen(f->options->layer)),
					   "queue")
			   ? LAYER_QUEUE
			   : LAYER_DEVICE;
	config.layer = t->layer;
	ret = pairing_new(&t->pairing, &config, &(struct pairing_sink){ event_trace_paired, t });
	if (ret < 0) {
		free(t);
		return ret;
	}
	*out = t;
	return 0;
}

void event_trace_free(struct event_trace *t)
{
	if (!t)
		return;
	pairing_free(t->pairing);
	u64map_release(&t->by_number);
	free(t->devices);
	free(t->ready);
	free(t);
}

/* Returns whether this bio was already counted at an upper device. Each bio matches once. */
static bool was_passed(struct event_trace *t, const struct block_event *e)
{
	for (unsigned int i = 0; i < NR_PASSED; i++) {
		struct passed *p = &t->passed[i];

		if (p->device != e->device || p->sector != e->sector || p->device == 0)
			continue;
		p->device = 0;
		return true;
	}
	return false;
}

int event_trace_add(struct event_trace *t, const struct block_event *e, struct text name)
{
	struct traced *d;
	int ret = event_trace_enter(t, e->device, name, &d);

	if (ret < 0)
		return ret;
	t->has_ends |= e->kind == BLOCK_COMPLETE;
	t->has_begins |= e->kind == BLOCK_QUEUE || e->kind == BLOCK_GETRQ ||
			 e->kind == BLOCK_INSERT || e->kind == BLOCK_ISSUE;
	d->has_bios |= e->kind == BLOCK_QUEUE;
	d->has_requests |=
		e->kind == BLOCK_GETRQ || e->kind == BLOCK_INSERT || e->kind == BLOCK_ISSUE;
	if (t->layer == LAYER_QUEUE && e->kind == BLOCK_QUEUE && d->is_below && was_passed(t, e)) {
		d->nr_left_out++;
		return 0;
	}
	return pairing_add(t->pairing, e);
}

int event_trace_remap(struct event_trace *t, uint32_t from_device, const struct block_event *e,
		      struct text name)
{
	uint32_t to_device = e->device;
	struct traced *from, *to;
	int ret;

	from = event_trace_find(t, from_device);
	if (!from || !from->has_bios || from_device == to_device)
		return 0; /* a partition has no events of its own */
	ret = event_trace_enter(t, to_device, name, &to);
	if (ret < 0)
		return ret;
	to->is_below = true;
	t->passed[t->next_passed++ % NR_PASSED] = (struct passed){ to_device, e->sector };
	return 0;
}

void event_trace_gap(struct event_trace *t, uint32_t device, uint64_t time_ns)
{
	pairing_gap(t->pairing, device, time_ns);
}

void event_trace_end(struct event_trace *t)
{
	char *at = t->f->note, *end = at + sizeof(t->f->note);
	const char *comma = "";

	pairing_settle(t->pairing, 0, UINT64_MAX);
	if (t->has_ends && !t->has_begins) {
		snprintf(at, (size_t)(end - at),
			 "it has completions (C) but no issues (D) or queues (Q), so that no "
			 "request has a beginning");
		return;
	}
	at += snprintf(at, (size_t)(end - at), "counted at layer %s", layer_name(t->layer));
	for (size_t i = 0; i < t->nr_devices && at < end; i++) {
		const struct traced *d = &t->devices[i];

		if (d->nr_left_out)
			at += snprintf(at, (size_t)(end - at),
				       "%s left out at %" PRIu32 ":%" PRIu32 ": %" PRIu64,
				       *comma ? comma : "; bios of stacked devices",
				       device_major(d->device), device_minor(d->device),
				       d->nr_left_out);
		comma = d->nr_left_out ? "," : comma;
	}
	if (t->nr_before && at < end)
		snprintf(at, (size_t)(end - at),
			 "; %" PRIu64 " under way before the trace left out", t->nr_before);
}

size_t event_trace_take(struct event_trace *t, struct request *out, size_t max)
{
	size_t nr = t->nr - t->at < max ? t->nr - t->at : max;

	if (nr == 0)
		return 0;
	memcpy(out, t->ready + t->at, nr * sizeof(*out));
	t->at += nr;
	if (t->at == t->nr)
		t->at = t->nr = 0;
	return nr;
}

int event_trace_error(const struct event_trace *t)
{
	return t->error;
}
