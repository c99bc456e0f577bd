// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/foreign/foreign.h"

/* One host: the segment that is being filled, and what names its stream. */
struct stream {
	struct request *held; /* owned; the requests of the segment */
	size_t nr, cap;
	uint32_t *devices; /* owned; indexes of the devices in the segment, SEGMENT_MAX_DEVICES */
	uint32_t nr_devices;
	uint64_t sequence, epoch;
	uint64_t begin_ns; /* begin of the segment, in the trace's time */
	uint64_t last_ns;  /* latest arrival */
	uint64_t end_ns;   /* latest completion */
	uint64_t first_ns; /* first time of the stream */
	uint64_t nr_lost;
	const char *format;
};

struct import_writer {
	struct import_stage *stage;
	struct import_result *result;
	struct segment_writer *segment;
	struct stream *streams; /* owned; one per host */
	/* owned; by device: sequence + 1 of the segment that last named it */
	uint64_t *met;
	size_t cap_devices;
	int64_t offset_ns;
	struct buf bytes;
};

int import_writer_new(struct import_writer **out, struct import_stage *stage,
		      struct import_result *result)
{
	struct import_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->stage = stage;
	w->result = result;
	buf_init(&w->bytes);
	if (segment_writer_new(&w->segment) < 0) {
		free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void import_writer_free(struct import_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->streams && i < w->result->nr_hosts; i++) {
		free(w->streams[i].held);
		free(w->streams[i].devices);
	}
	free(w->streams);
	free(w->met);
	segment_writer_free(w->segment);
	buf_release(&w->bytes);
	free(w);
}

void import_writer_set_offset(struct import_writer *w, int64_t offset_ns)
{
	w->offset_ns = offset_ns;
}

int64_t import_writer_host(struct import_writer *w, const char *name)
{
	struct import_result *r = w->result;
	struct import_host *hosts;
	struct stream *streams;

	for (size_t i = 0; i < r->nr_hosts; i++)
		if (strcmp(r->hosts[i].name, name) == 0)
			return (int64_t)i;
	streams = realloc(w->streams, (r->nr_hosts + 1) * sizeof(*streams));
	if (streams)
		w->streams = streams;
	hosts = realloc(r->hosts, (r->nr_hosts + 1) * sizeof(*hosts));
	if (hosts)
		r->hosts = hosts;
	if (!streams || !hosts)
		return -ENOMEM;
	streams[r->nr_hosts] = (struct stream){ 0 };
	streams[r->nr_hosts].devices = malloc(SEGMENT_MAX_DEVICES * sizeof(uint32_t));
	if (!streams[r->nr_hosts].devices)
		return -ENOMEM;
	hosts[r->nr_hosts] = (struct import_host){ 0 };
	snprintf(hosts[r->nr_hosts].name, sizeof(hosts->name), "%s", name);
	return (int64_t)r->nr_hosts++;
}

static bool number_taken(const struct import_result *r, uint32_t host, uint32_t number)
{
	for (size_t i = 0; i < r->nr_devices; i++)
		if (r->devices[i].host == host && r->devices[i].number == number)
			return true;
	return false;
}

static uint32_t free_number(const struct import_result *r, uint32_t host)
{
	uint32_t minor = 0;

	while (number_taken(r, host, device_make(FOREIGN_MAJOR_NAMED, minor)))
		minor++;
	return device_make(FOREIGN_MAJOR_NAMED, minor);
}

static int grow_devices(struct import_writer *w)
{
	size_t cap = w->cap_devices ? 2 * w->cap_devices : 64;
	struct import_device *devices = realloc(w->result->devices, cap * sizeof(*devices));
	uint64_t *met;

	if (!devices)
		return -ENOMEM;
	w->result->devices = devices;
	met = realloc(w->met, cap * sizeof(*met));
	if (!met)
		return -ENOMEM;
	w->met = met;
	w->cap_devices = cap;
	return 0;
}

int64_t import_writer_device(struct import_writer *w, uint32_t host, const char *name,
			     uint32_t number)
{
	struct import_result *r = w->result;
	struct import_device *d;

	for (size_t i = 0; i < r->nr_devices; i++) {
		d = &r->devices[i];
		if (d->host == host && strcmp(d->name, name) == 0 &&
		    (d->number == number || device_major(number) == FOREIGN_MAJOR_NAMED))
			return (int64_t)i;
	}
	if (r->nr_devices == FOREIGN_DEVICES_MAX)
		return -ENFILE;
	if (r->nr_devices == w->cap_devices && grow_devices(w) < 0)
		return -ENOMEM;
	if (device_major(number) == FOREIGN_MAJOR_NAMED && number_taken(r, host, number))
		number = free_number(r, host);
	d = &r->devices[r->nr_devices];
	*d = (struct import_device){ .number = number, .host = host };
	snprintf(d->name, sizeof(d->name), "%s", name);
	w->met[r->nr_devices] = 0;
	return (int64_t)r->nr_devices++;
}

/*
 * The content of the first segment determines the name of the stream, so the name does not depend
 * on the machine or on a library.
 */
static void name_stream(struct import_host *host, const struct import_writer *w,
			const struct stream *st)
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_canonical_t hash;
	char *at = host->boot_id;

	if (!state)
		return;
	XXH3_128bits_reset(state);
	for (size_t i = 0; i < st->nr; i++) {
		const struct request *r = &st->held[i];
		const struct import_device *d = &w->result->devices[r->device];
		uint64_t fields[] = { r->arrival_ns, r->dispatch_ns, r->completion_ns, r->sector,
				      r->cgroup_id,  r->bytes,	     d->number,	       r->tid,
				      r->pid,	     r->flags,	     r->queue_depth,   r->error,
				      r->requeues,   r->operation,   r->layer };
		uint8_t bytes[sizeof(fields)];

		for (size_t k = 0; k < sizeof(fields); k++)
			bytes[k] = (uint8_t)(fields[k / 8] >> 8 * (k % 8));
		XXH3_128bits_update(state, bytes, sizeof(bytes));
	}
	for (uint32_t i = 0; i < st->nr_devices; i++) {
		const char *name = w->result->devices[st->devices[i]].name;

		XXH3_128bits_update(state, name, strlen(name) + 1);
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	at += snprintf(at, 8, "import-");
	for (size_t i = 0; i < sizeof(hash.digest); i++)
		at += snprintf(at, 3, "%02x", hash.digest[i]);
}

static struct clock_anchor import_writer_anchor(const struct import_writer *w, uint64_t ns)
{
	return (struct clock_anchor){ ns, ns, ns + (uint64_t)w->offset_ns };
}

/*
 * Orders the devices of the segment by number, so that their order does not depend on the requests.
 */
static int compare_device(const void *a, const void *b)
{
	const struct segment_device *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

static struct segment_device *name_devices(const struct import_writer *w, const struct stream *st)
{
	struct segment_device *devices = calloc(st->nr_devices + 1, sizeof(*devices));

	for (uint32_t i = 0; devices && i < st->nr_devices; i++) {
		const struct import_device *d = &w->result->devices[st->devices[i]];

		devices[i].device = d->number;
		snprintf(devices[i].name, sizeof(devices[i].name), "%s", d->name);
	}
	if (devices && st->nr_devices > 1)
		qsort(devices, st->nr_devices, sizeof(*devices), compare_device);
	return devices;
}

static int add_held(struct import_writer *w, const struct stream *st, struct err *err)
{
	for (size_t i = 0; i < st->nr; i++) {
		struct request r = st->held[i];
		int ret;

		r.device = w->result->devices[r.device].number;
		ret = segment_writer_add(w->segment, &r);
		if (ret < 0)
			return err_set(err, -ret, "request %zu: %s", i,
				       request_check(&r) ? request_check(&r) : strerror(-ret));
	}
	return 0;
}

/* Encodes the segment and stages it. end_ns is the end of its watched interval. */
static int write_segment(struct import_writer *w, uint32_t at, uint64_t end_ns,
			 const struct ledger *ledger, struct err *err)
{
	struct import_host *host = &w->result->hosts[at];
	struct stream *st = &w->streams[at];
	struct segment_header h = { .source = SOURCE_IMPORT, .layer = st->held[0].layer };
	struct segment_device *devices = name_devices(w, st);
	int ret = devices ? add_held(w, st, err) : -ENOMEM;

	if (st->sequence == 0)
		name_stream(host, w, st);
	snprintf(h.host, sizeof(h.host), "%s", host->name);
	snprintf(h.boot_id, sizeof(h.boot_id), "%s", host->boot_id);
	snprintf(h.agent_version, sizeof(h.agent_version), "import %s", st->format);
	h.epoch = st->epoch;
	h.sequence = st->sequence;
	h.begin = import_writer_anchor(w, st->begin_ns);
	h.end = import_writer_anchor(w, end_ns);
	h.nr_captured = st->nr + (ledger ? st->nr_lost : 0);
	h.devices = devices;
	h.nr_devices = st->nr_devices;
	h.ledger = ledger;
	buf_clear(&w->bytes);
	if (ret == 0)
		ret = segment_writer_finish(w->segment, &h, &w->bytes);
	if (ret == 0)
		ret = import_stage_add(w->stage, &w->bytes, err);
	free(devices);
	st->sequence++;
	st->begin_ns = end_ns;
	st->nr = 0;
	st->nr_devices = 0;
	return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
}

static int grow_held(struct stream *st)
{
	size_t cap = st->cap ? 2 * st->cap : 1024;
	struct request *held;

	if (cap > SEGMENT_MAX_REQUESTS)
		cap = SEGMENT_MAX_REQUESTS;
	held = realloc(st->held, cap * sizeof(*held));
	if (!held)
		return -ENOMEM;
	st->held = held;
	st->cap = cap;
	return 0;
}

static uint64_t import_writer_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void note_times(struct import_writer *w, struct import_host *host, struct stream *st,
		       const struct request *r)
{
	uint64_t apart = r->arrival_ns - st->first_ns;

	if (host->nr_requests == 0) {
		st->first_ns = st->begin_ns = r->arrival_ns;
		st->epoch = r->arrival_ns + (uint64_t)w->offset_ns;
		apart = 0;
	}
	if (r->arrival_ns < st->first_ns)
		apart = st->first_ns - r->arrival_ns;
	if (host->resolution_ns == 0 || apart % host->resolution_ns)
		host->resolution_ns = import_writer_gcd(host->resolution_ns, apart);
	if (r->arrival_ns > st->last_ns)
		st->last_ns = r->arrival_ns;
	if (r->completion_ns > st->end_ns)
		st->end_ns = r->completion_ns;
	host->nr_requests++;
}

static bool import_writer_is_far(const struct stream *st, const struct request *r)
{
	return r->completion_ns > st->begin_ns + SEGMENT_MAX_SPAN_NS;
}

int import_writer_add(struct import_writer *w, const struct request *r, const char *format,
		      struct err *err)
{
	struct import_device *d = &w->result->devices[r->device];
	struct import_host *host = &w->result->hosts[d->host];
	struct stream *st = &w->streams[d->host];
	bool is_new = w->met[r->device] != st->sequence + 1;
	int ret = 0;

	if (st->nr == SEGMENT_MAX_REQUESTS || (is_new && st->nr_devices == SEGMENT_MAX_DEVICES) ||
	    (st->nr && import_writer_is_far(st, r))) {
		ret = write_segment(w, d->host, st->last_ns, NULL, err);
		is_new = true;
	}
	/* A segment of years would be refused, so the time without requests is left out. */
	if (import_writer_is_far(st, r))
		st->begin_ns = r->arrival_ns;
	if (ret == 0 && st->nr == st->cap && grow_held(st) < 0)
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret < 0)
		return ret;
	if (is_new) {
		w->met[r->device] = st->sequence + 1;
		st->devices[st->nr_devices++] = r->device;
	}
	st->format = format;
	note_times(w, host, st, r);
	st->held[st->nr++] = *r;
	d->requests[r->operation]++;
	d->nr_timed += !(r->flags & REQUEST_NO_COMPLETION);
	return 0;
}

int import_writer_lose(struct import_writer *w, uint32_t host, uint64_t nr)
{
	if (host >= w->result->nr_hosts)
		return 0;
	w->streams[host].nr_lost += nr;
	return 0;
}

int import_writer_finish(struct import_writer *w, struct err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < w->result->nr_hosts && ret == 0; i++) {
		struct import_host *host = &w->result->hosts[i];
		struct stream *st = &w->streams[i];
		struct ledger ledger;

		ledger_init(&ledger);
		host->begin_real_ns = st->epoch;
		host->end_real_ns = st->end_ns + (uint64_t)w->offset_ns;
		ret = ledger_add(&ledger, &(struct loss){ .cause = LOSS_DECODE,
							  .count_known = true,
							  .count = st->nr_lost,
							  .begin_real_ns = st->epoch,
							  .end_real_ns = host->end_real_ns });
		if (ret == 0 && st->nr)
			ret = write_segment(w, i, st->end_ns, &ledger, err);
		ledger_release(&ledger);
	}
	return ret;
}
