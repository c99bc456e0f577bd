// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_who.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/store/segment_facts.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/u64map.h"

#define BATCH 1024

struct page_name {
	char name[SEGMENT_PATH_BYTES];
	double requests, reads, bytes, time_s, timed;
};

/* Names and their sums. The last entry holds all names for which there is no room. */
struct page_names {
	struct page_name *items; /* owned; PAGE_WHO_NAMES + 1 */
	size_t nr;
	struct u64map by_name; /* hash of the name: index */
	struct u64map by_id;   /* ids of processes or cgroups in the current segment: index */
};

struct page_who {
	const struct page_device_question *q;
	uint32_t device;
	uint64_t deadline_ns, nr_decoded, nr_taken;
	uint64_t begin_ns, end_ns; /* real time */
	double read_from_s;
	struct page_names processes, cgroups;
};

static int page_names_init(struct page_names *n)
{
	u64map_init(&n->by_name);
	u64map_init(&n->by_id);
	n->items = calloc(PAGE_WHO_NAMES + 1, sizeof(*n->items));
	return n->items ? 0 : -ENOMEM;
}

static void page_names_release(struct page_names *n)
{
	u64map_release(&n->by_name);
	u64map_release(&n->by_id);
	free(n->items);
}

/* Returns the index of a name; PAGE_WHO_NAMES if there is no room; -ENOMEM. */
static int64_t page_names_find(struct page_names *n, const char *name)
{
	uint64_t hash = XXH3_64bits(name, strlen(name));
	uint32_t at = u64map_find(&n->by_name, hash);

	if (at != U64MAP_NONE)
		return at;
	if (n->nr == PAGE_WHO_NAMES)
		return PAGE_WHO_NAMES;
	if (u64map_put(&n->by_name, hash, (uint32_t)n->nr) < 0)
		return -ENOMEM;
	snprintf(n->items[n->nr].name, sizeof(n->items[n->nr].name), "%s", name);
	return (int64_t)n->nr++;
}

/* Records the name that the segment gives to an id. Id 0 belongs to nobody. */
static int page_names_put(struct page_names *n, uint64_t id, const char *name)
{
	int64_t at = page_names_find(n, name);

	if (at < 0)
		return (int)at;
	return u64map_put(&n->by_id, id, (uint32_t)at);
}

static int page_names_of_segment(struct page_who *w, const struct segment_header *h)
{
	int ret = 0;

	u64map_clear(&w->processes.by_id);
	u64map_clear(&w->cgroups.by_id);
	for (size_t i = 0; i < h->nr_processes && ret == 0; i++)
		ret = page_names_put(&w->processes, h->processes[i].pid, h->processes[i].comm);
	for (size_t i = 0; i < h->nr_cgroups && ret == 0; i++)
		ret = page_names_put(&w->cgroups, h->cgroups[i].id, h->cgroups[i].path);
	return ret;
}

static void page_names_count(struct page_names *n, uint64_t id, const struct request *r)
{
	uint32_t at = u64map_find(&n->by_id, id);
	struct page_name *name;

	/* An id without a name counts under the empty name, which the page shows as unknown. */
	if (at == U64MAP_NONE) {
		int64_t unknown = page_names_find(n, "");

		at = unknown < 0 ? PAGE_WHO_NAMES : (uint32_t)unknown;
	}
	name = &n->items[at];
	name->requests++;
	name->reads += r->operation == OPERATION_READ;
	name->bytes += request_is_data(r) ? (double)r->bytes : 0;
	if (!(r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL | REQUEST_PAUSED))) {
		name->time_s += (double)(r->completion_ns - r->arrival_ns) / 1e9;
		name->timed++;
	}
}

static int page_who_visit(void *ctx, const struct segment_header *h, struct segment_reader *reader)
{
	struct page_who *w = ctx;
	struct request batch[BATCH];
	int64_t nr;
	int ret = page_names_of_segment(w, h);

	if (ret < 0)
		return ret;
	while ((nr = segment_reader_next(reader, batch, BATCH)) > 0) {
		w->nr_decoded += (uint64_t)nr;
		for (int64_t i = 0; i < nr; i++) {
			const struct request *r = &batch[i];
			uint64_t real_ns = real_from_anchor(&h->begin, r->completion_ns);

			if (r->device != w->device || real_ns < w->begin_ns || real_ns >= w->end_ns)
				continue;
			w->nr_taken++;
			page_names_count(&w->processes, r->pid, r);
			page_names_count(&w->cgroups, r->cgroup_id, r);
		}
	}
	return (int)nr;
}

static int page_name_by_requests(const void *a, const void *b)
{
	const struct page_name *x = a, *y = b;

	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Lists the busiest names. All others are added up as one entry whose name is null. */
static json_t *page_names_json(struct page_names *n)
{
	struct page_name *others = &n->items[PAGE_WHO_NAMES];
	json_t *list = json_array();

	qsort(n->items, n->nr, sizeof(*n->items), page_name_by_requests);
	for (size_t i = PAGE_WHO_SHOWN; i < n->nr; i++) {
		others->requests += n->items[i].requests;
		others->reads += n->items[i].reads;
		others->bytes += n->items[i].bytes;
		others->time_s += n->items[i].time_s;
		others->timed += n->items[i].timed;
	}
	for (size_t i = 0; i <= PAGE_WHO_SHOWN; i++) {
		const struct page_name *name = i < PAGE_WHO_SHOWN ? &n->items[i] : others;
		json_t *object;

		if (name->requests <= 0)
			continue;
		object = json_object();
		json_object_set_new(object, "name",
				    name == others ? json_null() : json_text(name->name));
		json_object_set_new(object, "requests", json_number(name->requests));
		json_object_set_new(object, "reads", json_number(name->reads));
		json_object_set_new(object, "bytes", json_number(name->bytes));
		json_object_set_new(object, "response_mean_s",
				    json_number(name->timed > 0 ? name->time_s / name->timed
								: NAN));
		json_array_append_new(list, object);
	}
	return list;
}

static int page_who_read(struct page_who *w, struct page_store *store, struct err *err)
{
	struct page_question q = { .host = w->q->host,
				   .begin_real_ns = w->begin_ns,
				   .end_real_ns = w->end_ns,
				   .deadline_ns = w->deadline_ns,
				   .nr_most = PAGE_DEVICE_SEGMENTS };
	struct page_segment *segments = NULL;
	bool whole = true;
	size_t nr = 0;
	int ret = page_store_find(store, &q, &segments, &nr, &whole, err);

	w->read_from_s = NAN;
	for (size_t i = nr; i-- > 0 && ret == 0;) {
		struct err why = { 0 };

		if (clock_monotonic_ns() > w->deadline_ns || w->nr_decoded > PAGE_WHO_REQUESTS) {
			w->read_from_s = (double)segments[i].end_real_ns / 1e9;
			break;
		}
		if (!segments[i].nr_requests)
			continue; /* The agent kept profiles only. */
		ret = page_store_segment(store, &segments[i].name, page_who_visit, w, &why);
		if (ret < 0 && ret != -ENOMEM)
			/* The segment was removed by retention meanwhile, or it is damaged. */
			ret = 0;
	}
	if (!whole && !isfinite(w->read_from_s))
		w->read_from_s = nr ? (double)segments[0].begin_real_ns / 1e9 : w->q->begin_s;
	free(segments);
	return ret;
}

int page_who_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		  struct err *err)
{
	struct page_who w = { .q = q };
	unsigned int major, minor;
	int end = 0, ret = page_device_check(q, err);

	if (ret < 0)
		return ret;
	if (sscanf(q->device, "%u:%u%n", &major, &minor, &end) != 2 || q->device[end])
		return err_set(err, EINVAL, "device: expected a number such as 8:0");
	w.device = device_make(major, minor);
	w.begin_ns = (uint64_t)(q->begin_s * 1e9);
	w.end_ns = (uint64_t)fmin(q->end_s * 1e9, 1.8e19);
	w.deadline_ns = clock_monotonic_ns() + PAGE_WHO_S * CLOCK_NS_PER_S;
	ret = page_names_init(&w.processes);
	if (ret == 0)
		ret = page_names_init(&w.cgroups);
	if (ret == 0)
		ret = page_who_read(&w, store, err);
	if (ret == 0) {
		*out = json_object();
		json_object_set_new(*out, "schema", json_string("blkcast.who/1"));
		json_object_set_new(*out, "begin_s", json_number(q->begin_s));
		json_object_set_new(*out, "end_s", json_number(q->end_s));
		json_object_set_new(*out, "requests", json_integer((json_int_t)w.nr_taken));
		json_object_set_new(*out, "read_from_s", json_number(w.read_from_s));
		json_object_set_new(*out, "processes", page_names_json(&w.processes));
		json_object_set_new(*out, "cgroups", page_names_json(&w.cgroups));
	}
	page_names_release(&w.processes);
	page_names_release(&w.cgroups);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory for the answer") : ret;
}
