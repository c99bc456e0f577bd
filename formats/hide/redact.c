/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hide/redact.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "formats/hide/place_map.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment.h"

/*
 * Maps are kept for the next segment, up to these bounds, and computed again where they are
 * missing. Disks of 1 TiB have maps of 32 KiB, the largest are of 128 KiB.
 */
#define MAX_MAPS	512
#define MAX_MAP_REGIONS (4u << 20) /* regions of all maps together, two bytes each */

struct known_map {
	char host[SEGMENT_NAME_BYTES];
	uint32_t device;
	uint64_t size_bytes;
	struct place_map *map;
};

struct redactor {
	const struct pseudonym_key *key;
	struct segment_writer *writer;
	struct known_map maps[MAX_MAPS];
	size_t nr_maps;
	uint64_t nr_regions;	    /* regions of all maps */
	struct request *requests;   /* owned; those of the segment under way */
	struct request **by_device; /* owned; the same requests, device by device */
	size_t cap_requests, cap_by_device;
};

int redactor_new(struct redactor **out, const struct pseudonym_key *k)
{
	struct redactor *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->key = k;
	if (segment_writer_new(&r->writer)) {
		free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

static void forget_maps(struct redactor *r)
{
	for (size_t i = 0; i < r->nr_maps; i++)
		place_map_free(r->maps[i].map);
	r->nr_maps = 0;
	r->nr_regions = 0;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	forget_maps(r);
	segment_writer_free(r->writer);
	free(r->requests);
	free(r->by_device);
	free(r);
}

static bool is_map_of(const struct known_map *m, const char *host, uint32_t device,
		      uint64_t size_bytes)
{
	return m->device == device && m->size_bytes == size_bytes && !strcmp(m->host, host);
}

static uint64_t size_of(const struct segment_header *h, uint32_t device)
{
	for (size_t i = 0; i < h->nr_devices; i++)
		if (h->devices[i].device == device)
			return h->devices[i].size_bytes;
	return 0;
}

/* Returns the map of a device, which is computed where it is new; NULL where memory is short. */
static const struct place_map *map_of(struct redactor *r, const struct segment_header *h,
				      uint32_t device)
{
	uint64_t size_bytes = size_of(h, device);
	struct known_map *m;

	for (size_t i = 0; i < r->nr_maps; i++)
		if (is_map_of(&r->maps[i], h->host, device, size_bytes))
			return r->maps[i].map;
	if (r->nr_maps == MAX_MAPS || r->nr_regions > MAX_MAP_REGIONS)
		forget_maps(r);
	m = &r->maps[r->nr_maps];
	if (place_map_new(&m->map, r->key, h->host, device, size_bytes))
		return NULL;
	memcpy(m->host, h->host, sizeof(m->host));
	m->device = device;
	m->size_bytes = size_bytes;
	r->nr_maps++;
	r->nr_regions += place_map_nr_regions(m->map);
	return m->map;
}

static int compare_devices(const void *a, const void *b)
{
	const struct request *one = *(struct request *const *)a;
	const struct request *two = *(struct request *const *)b;

	return one->device < two->device ? -1 : one->device > two->device;
}

/* Reads all requests of the segment, which are at most SEGMENT_MAX_REQUESTS. */
static int read_requests(struct redactor *r, struct segment_reader *reader, size_t *out,
			 struct err *err)
{
	size_t nr = segment_reader_count(reader);
	int64_t got;

	if (array_grow(&r->requests, &r->cap_requests, nr, sizeof(*r->requests)) ||
	    array_grow(&r->by_device, &r->cap_by_device, nr, sizeof(*r->by_device)))
		return err_set(err, ENOMEM, "redact: no memory");
	got = nr ? segment_reader_next(reader, r->requests, nr) : 0;
	*out = got < 0 ? 0 : (size_t)got;
	return got < 0 ? err_set(err, EBADMSG, "segment: a number does not fit its field") : 0;
}

/*
 * Moves the requests device by device, so that a segment of many devices needs only one map at a
 * time.
 */
static int move_requests(struct redactor *r, struct segment_reader *reader, struct err *err)
{
	const struct segment_header *h = segment_reader_header(reader);
	const struct place_map *map = NULL;
	size_t nr = 0;
	int ret = read_requests(r, reader, &nr, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < nr; i++)
		r->by_device[i] = &r->requests[i];
	if (nr)
		qsort(r->by_device, nr, sizeof(*r->by_device), compare_devices);
	for (size_t i = 0; i < nr; i++) {
		struct request *request = r->by_device[i];

		if (!i || r->by_device[i - 1]->device != request->device)
			map = map_of(r, h, request->device);
		if (!map)
			return err_set(err, ENOMEM, "redact: no memory");
		place_map_request(map, request);
	}
	for (size_t i = 0; i < nr; i++) {
		ret = segment_writer_add(r->writer, &r->requests[i]);
		if (ret)
			return err_set(err, -ret, "redact: %s", strerror(-ret));
	}
	return 0;
}

/* Removes the texts from a JSON value, at any depth. */
static void drop_texts(json_t *value)
{
	const char *key;
	json_t *member;
	void *next;
	size_t i = 0;

	json_object_foreach_safe(value, next, key, member)
	{
		if (json_is_string(member))
			json_object_del(value, key);
		else
			drop_texts(member);
	}
	while (i < json_array_size(value)) {
		if (json_is_string(json_array_get(value, i))) {
			json_array_remove(value, i);
		} else {
			drop_texts(json_array_get(value, i));
			i++;
		}
	}
}

static int redact_detail(struct profile *p)
{
	json_t *detail = p->source_detail ? json_loads(p->source_detail, 0, NULL) : NULL;
	char *text = NULL;

	drop_texts(detail);
	if (detail)
		text = json_dumps(detail, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(detail);
	if (p->source_detail && !text)
		return -ENOMEM;
	free(p->source_detail);
	p->source_detail = text;
	return 0;
}

/*
 * Appends one stored profile, redacted, as text with a final 0. A profile of another host than that
 * of its segment is refused, as a store refuses it.
 */
static int redact_profile(const struct redactor *r, const char *host, const char *json,
			  struct buf *out, struct err *err)
{
	struct profile p, blank;
	int ret;

	profile_init(&p);
	profile_init(&blank);
	ret = profile_from_json(json, strlen(json), &p, err);
	if (ret)
		return ret;
	if (strcmp(p.host, host) != 0) {
		ret = err_set(err, EINVAL,
			      "segment header: profiles: one is of host '%s', expected '%s'",
			      p.host, host);
		profile_release(&p);
		return ret;
	}
	pseudonym_host(r->key, p.host, p.host);
	pseudonym_device(r->key, p.device_name, p.device_name);
	p.locality.distribution = blank.locality.distribution;
	arrival_tally_release(&p.read.arrivals[TALLY_SEEK]);
	arrival_tally_release(&p.write.arrivals[TALLY_SEEK]);
	arrival_tally_release(&p.undivided_arrivals[TALLY_SEEK]);
	profile_grade(&p); /* its sentences are then written by this program */
	ret = redact_detail(&p);
	if (!ret)
		ret = profile_to_json(&p, PROFILE_JSON_LINE, out);
	if (!ret)
		ret = buf_put_u8(out, 0);
	profile_release(&p);
	return ret ? err_set(err, -ret, "redact: %s", strerror(-ret)) : 0;
}

/* The memory that a header borrows while it is written. */
struct hidden {
	struct segment_header header;
	struct segment_device *devices;
	struct segment_process *processes;
	struct segment_cgroup *cgroups;
	const char **profiles;
	struct buf *texts;
};

static void hidden_release(struct hidden *n)
{
	for (size_t i = 0; n->texts && i < n->header.nr_profiles; i++)
		buf_release(&n->texts[i]);
	free(n->texts);
	free(n->profiles);
	free(n->devices);
	free(n->processes);
	free(n->cgroups);
}

static void *copy_of(const void *from, size_t nr, size_t size)
{
	void *copy = calloc(nr + 1, size);

	if (copy && nr)
		memcpy(copy, from, nr * size);
	return copy;
}

static int redact_header(const struct redactor *r, const struct segment_header *h, struct hidden *n,
			 struct err *err)
{
	int ret = 0;

	n->header = *h;
	n->devices = copy_of(h->devices, h->nr_devices, sizeof(*n->devices));
	n->processes = copy_of(h->processes, h->nr_processes, sizeof(*n->processes));
	n->cgroups = copy_of(h->cgroups, h->nr_cgroups, sizeof(*n->cgroups));
	n->profiles = calloc(h->nr_profiles + 1, sizeof(*n->profiles));
	n->texts = calloc(h->nr_profiles + 1, sizeof(*n->texts));
	if (!n->devices || !n->processes || !n->cgroups || !n->profiles || !n->texts)
		return err_set(err, ENOMEM, "redact: no memory");
	pseudonym_host(r->key, h->host, n->header.host);
	pseudonym_boot_id(r->key, h->boot_id, n->header.boot_id);
	for (size_t i = 0; i < h->nr_devices; i++)
		pseudonym_device(r->key, n->devices[i].name, n->devices[i].name);
	for (size_t i = 0; i < h->nr_processes; i++)
		pseudonym_comm(r->key, n->processes[i].comm, n->processes[i].comm);
	for (size_t i = 0; i < h->nr_cgroups; i++)
		pseudonym_path(r->key, n->cgroups[i].path, n->cgroups[i].path);
	for (size_t i = 0; i < h->nr_profiles; i++) {
		ret = redact_profile(r, h->host, h->profiles[i], &n->texts[i], err);
		n->profiles[i] = (const char *)n->texts[i].data;
		if (ret)
			goto out;
	}
out:
	n->header.devices = n->devices;
	n->header.processes = n->processes;
	n->header.cgroups = n->cgroups;
	n->header.profiles = n->profiles;
	return ret;
}

int redactor_segment(struct redactor *r, const void *data, size_t len, struct buf *out,
		     struct err *err)
{
	struct segment_reader *reader = NULL;
	struct hidden names = { .devices = NULL };
	int ret = segment_reader_new(&reader, data, len, err);

	if (ret)
		return ret;
	ret = redact_header(r, segment_reader_header(reader), &names, err);
	if (ret)
		goto out;
	ret = move_requests(r, reader, err);
	if (ret)
		goto out;
	ret = segment_writer_finish(r->writer, &names.header, out);
	if (ret)
		err_set(err, -ret, "redact: %s", strerror(-ret));
out:
	segment_writer_clear(r->writer);
	hidden_release(&names);
	segment_reader_free(reader);
	return ret;
}
