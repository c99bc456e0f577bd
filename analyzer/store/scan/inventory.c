// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The clocks of neighbouring segments are read at slightly different instants; a difference up to
 * this is not a gap.
 */
#define TOUCH_NS      10000000ull
#define CLOCK_STEP_NS 1000000000ull /* beside this, clocks are slewed by less than a thousandth */

void inventory_init(struct inventory *v)
{
	*v = (struct inventory){ 0 };
}

void inventory_release(struct inventory *v)
{
	for (size_t i = 0; i < v->nr_hosts; i++) {
		ledger_release(&v->hosts[i].ledger);
		free(v->hosts[i].covered);
		free(v->hosts[i].devices);
	}
	free(v->hosts);
	inventory_init(v);
}

static int compare_host(const void *name, const void *host)
{
	return strcmp(name, ((const struct inventory_host *)host)->host);
}

/*
 * Segments come in the order of their hosts, so a host that is not there yet comes after all
 * others. Devices and losses come in any order.
 */
static struct inventory_host *host_of(struct inventory *v, const char *host)
{
	struct inventory_host *hosts = v->nr_hosts ? &v->hosts[v->nr_hosts - 1] : NULL;

	if (hosts && strcmp(hosts->host, host) != 0)
		hosts = bsearch(host, v->hosts, v->nr_hosts, sizeof(*v->hosts), compare_host);
	if (hosts)
		return hosts;
	hosts = realloc(v->hosts, (v->nr_hosts + 1) * sizeof(*hosts));
	if (!hosts)
		return NULL;
	v->hosts = hosts;
	hosts += v->nr_hosts++;
	memset(hosts, 0, sizeof(*hosts));
	snprintf(hosts->host, sizeof(hosts->host), "%s", host);
	ledger_init(&hosts->ledger);
	return hosts;
}

struct collector {
	struct inventory *v;
	struct segment_name last; /* name of the segment before this one */
	bool any;
	uint64_t nr_here, highest; /* within its trace: number of segments, and highest sequence */
};

bool inventory_is_counted(const struct inventory_host *h, const struct inventory_device *d)
{
	return h->nr_counted && !inventory_device_requests(d);
}

static int add_span(struct inventory_host *h, uint64_t begin, uint64_t end)
{
	struct inventory_span *last = h->nr_covered ? &h->covered[h->nr_covered - 1] : NULL;

	if (begin >= end)
		return 0;
	/* Segments of one trace come in order, and most of them touch. */
	if (last && begin >= last->begin_real_ns && begin <= last->end_real_ns + TOUCH_NS) {
		if (end > last->end_real_ns)
			last->end_real_ns = end;
		return 0;
	}
	/* the array has room for a power of two */
	if ((h->nr_covered & (h->nr_covered - 1)) == 0) {
		size_t cap = h->nr_covered ? 2 * h->nr_covered : 1;
		struct inventory_span *more = realloc(h->covered, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		h->covered = more;
	}
	h->covered[h->nr_covered++] = (struct inventory_span){ begin, end };
	return 0;
}

/* Counts the missing sequence numbers of a trace, whose sequences begin at 0. */
static void end_trace(struct collector *c)
{
	if (c->any)
		host_of(c->v, c->last.host)->nr_missing += c->highest + 1 - c->nr_here;
	c->nr_here = c->highest = 0;
}

static void inventory_widen(uint64_t *begin, uint64_t *end, bool any, uint64_t from, uint64_t to)
{
	*begin = any && *begin < from ? *begin : from;
	*end = any && *end > to ? *end : to;
}

static void take_summary(struct inventory_host *h, const struct segment_facts *f)
{
	uint64_t nr = f->nr_requests - f->nr_dropped;

	if (nr)
		inventory_widen(&h->retained.begin_real_ns, &h->retained.end_real_ns,
				h->retained.nr_summarized != 0, f->first_real_ns, f->last_real_ns);
	if (f->nr_dropped)
		inventory_widen(&h->retained.dropped_begin_real_ns,
				&h->retained.dropped_end_real_ns, h->retained.nr_dropped != 0,
				f->dropped_begin_real_ns, f->dropped_end_real_ns);
	h->retained.nr_files++;
	h->retained.file_bytes += f->file_bytes;
	h->retained.nr_segments += f->nr_segments;
	h->retained.segment_bytes += f->segment_bytes;
	h->retained.nr_summarized += nr;
	h->retained.nr_dropped += f->nr_dropped;
}

/*
 * Returns the end of the watched interval in real time. A real-time clock that was set ahead
 * meanwhile passes over time in which nobody watched; so the amount by which it exceeds the
 * boot-time clock, which nobody can set, is not counted.
 */
static uint64_t inventory_watched_end(const struct segment_facts *f)
{
	uint64_t real_ns = f->end.realtime_ns - f->begin.realtime_ns;
	uint64_t boot_ns = f->end.boottime_ns - f->begin.boottime_ns;

	if (f->end.realtime_ns <= f->begin.realtime_ns ||
	    f->end.boottime_ns <= f->begin.boottime_ns)
		/* or it is an imported trace, which has no boot-time clock */
		return f->end.realtime_ns;
	if (real_ns <= boot_ns || real_ns - boot_ns <= CLOCK_STEP_NS + boot_ns / 1000)
		return f->end.realtime_ns;
	return f->begin.realtime_ns + boot_ns;
}

/* Takes a segment or a summary. */
static int take_segment(void *ctx, const struct segment_facts *f)
{
	struct collector *c = ctx;
	struct inventory_host *h = host_of(c->v, f->name.host);
	uint64_t last_sequence = f->generation ? f->last_sequence : f->name.sequence;
	bool same_host = c->any && strcmp(c->last.host, f->name.host) == 0;
	bool same_boot = same_host && strcmp(c->last.boot_id, f->name.boot_id) == 0;
	bool same_trace = same_boot && c->last.epoch == f->name.epoch;

	if (!h)
		return -ENOMEM;
	h->nr_boots += !same_boot;
	h->nr_traces += !same_trace;
	if (!same_trace)
		end_trace(c);
	if (f->generation) {
		take_summary(h, f);
	} else {
		h->nr_segments++;
		h->file_bytes += f->file_bytes;
	}
	h->nr_requests += f->nr_requests;
	h->nr_captured += f->nr_captured;
	h->nr_untimed += f->nr_untimed;
	h->nr_counted += f->source == SOURCE_DISKSTATS;
	c->nr_here += f->generation ? f->nr_segments : 1;
	c->highest = last_sequence > c->highest ? last_sequence : c->highest;
	c->last = f->name;
	c->any = true;
	return add_span(h, f->begin.realtime_ns, inventory_watched_end(f));
}

static int take_device(void *ctx, const struct segment_name *n, const struct device_facts *f)
{
	struct inventory_host *h = host_of(ctx, n->host);
	struct inventory_device *devices;
	size_t at = 0;

	if (!h)
		return -ENOMEM;
	while (at < h->nr_devices &&
	       (h->devices[at].device != f->device || strcmp(h->devices[at].name, f->name) != 0))
		at++;
	if (at == h->nr_devices) {
		devices = realloc(h->devices, (at + 1) * sizeof(*devices));
		if (!devices)
			return -ENOMEM;
		h->devices = devices;
		h->nr_devices++;
		memset(&devices[at], 0, sizeof(*devices));
		devices[at].device = f->device;
		memcpy(devices[at].name, f->name, sizeof(devices[at].name));
	}
	h->devices[at].size_bytes = f->size_bytes;
	for (int op = 0; op < NR_OPERATIONS; op++) {
		h->devices[at].requests[op] += f->requests[op];
		h->devices[at].bytes[op] += f->bytes[op];
	}
	return 0;
}

static int take_loss(void *ctx, const struct segment_name *n, const struct loss *l)
{
	struct inventory_host *h = host_of(ctx, n->host);

	return h ? ledger_add(&h->ledger, l) : -ENOMEM;
}

static int compare_span(const void *a, const void *b)
{
	const struct inventory_span *x = a, *y = b;

	return (x->begin_real_ns > y->begin_real_ns) - (x->begin_real_ns < y->begin_real_ns);
}

static int compare_device(const void *a, const void *b)
{
	const struct inventory_device *x = a, *y = b;
	int order = (x->device > y->device) - (x->device < y->device);

	return order ? order : strcmp(x->name, y->name);
}

/* Traces may overlap (two agents), and they come in the order of their boot ids and not of time. */
static void join_spans(struct inventory_host *h)
{
	size_t kept = 0;

	if (h->nr_covered > 1)
		qsort(h->covered, h->nr_covered, sizeof(*h->covered), compare_span);
	for (size_t i = 0; i < h->nr_covered; i++) {
		struct inventory_span *last = kept ? &h->covered[kept - 1] : NULL;
		const struct inventory_span at = h->covered[i];

		if (!last || at.begin_real_ns > last->end_real_ns + TOUCH_NS)
			h->covered[kept++] = at;
		else if (at.end_real_ns > last->end_real_ns)
			last->end_real_ns = at.end_real_ns;
	}
	h->nr_covered = kept;
}

int inventory_collect(struct inventory *v, struct store *store, struct err *err)
{
	struct catalog *catalog = store_catalog(store);
	struct collector c = { .v = v };
	int ret = catalog_each_kept(catalog, take_segment, &c, err);

	end_trace(&c);
	if (ret == 0)
		ret = catalog_each_device(catalog, take_device, v, err);
	if (ret == 0)
		ret = catalog_each_loss(catalog, take_loss, v, err);
	for (size_t i = 0; i < v->nr_hosts; i++) {
		struct inventory_host *h = &v->hosts[i];

		join_spans(h);
		if (h->nr_devices > 1)
			qsort(h->devices, h->nr_devices, sizeof(*h->devices), compare_device);
	}
	return ret;
}

uint64_t inventory_covered_ns(const struct inventory_host *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < h->nr_covered; i++)
		sum += h->covered[i].end_real_ns - h->covered[i].begin_real_ns;
	return sum;
}

uint64_t inventory_span_ns(const struct inventory_host *h)
{
	if (h->nr_covered == 0)
		return 0;
	return h->covered[h->nr_covered - 1].end_real_ns - h->covered[0].begin_real_ns;
}

uint64_t inventory_device_requests(const struct inventory_device *d)
{
	uint64_t sum = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		sum += d->requests[op];
	return sum;
}

uint64_t inventory_data_requests(const struct inventory_host *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < h->nr_devices; i++) {
		const uint64_t *nr = h->devices[i].requests;
		uint64_t nr_data = nr[OPERATION_READ] + nr[OPERATION_WRITE];

		sum += nr_data ? nr_data : nr[OPERATION_OTHER];
	}
	return sum;
}
