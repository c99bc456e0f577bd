/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hide/redact.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hide/place_map.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment.h"

#define MAX_MAPS 512 /* maps kept at the same time, at most 64 MiB; they can be computed again */
#define BATCH	 1024

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
	size_t nr_maps, last_map;
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
	r->nr_maps = r->last_map = 0;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	forget_maps(r);
	segment_writer_free(r->writer);
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

	for (size_t i = 0; i < r->nr_maps; i++) {
		size_t at = (r->last_map + i) % r->nr_maps;

		if (is_map_of(&r->maps[at], h->host, device, size_bytes)) {
			r->last_map = at;
			return r->maps[at].map;
		}
	}
	if (r->nr_maps == MAX_MAPS)
		forget_maps(r);
	m = &r->maps[r->nr_maps];
	if (place_map_new(&m->map, r->key, h->host, device, size_bytes))
		return NULL;
	memcpy(m->host, h->host, sizeof(m->host));
	m->device = device;
	m->size_bytes = size_bytes;
	r->last_map = r->nr_maps++;
	return m->map;
}

static int move_requests(struct redactor *r, struct segment_reader *reader, struct err *err)
{
	const struct segment_header *h = segment_reader_header(reader);
	const struct place_map *map = NULL;
	struct request batch[BATCH];
	uint32_t device = 0;
	int64_t nr;
	int ret = 0;

	while (!ret && (nr = segment_reader_next(reader, batch, BATCH)) > 0) {
		for (int64_t i = 0; i < nr && !ret; i++) {
			if (!map || batch[i].device != device)
				map = map_of(r, h, batch[i].device);
			device = batch[i].device;
			if (map)
				place_map_request(map, &batch[i]);
			ret = map ? segment_writer_add(r->writer, &batch[i]) : -ENOMEM;
		}
	}
	if (!ret && nr < 0)
		return err_set(err, EBADMSG, "segment: a number does not fit its field");
	return ret ? err_set(err, -ret, "redact: %s", strerror(-ret)) : 0;
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
	profile_grade(&p); /* its sentences are then written by this program */
	ret = redact_detail(&p);
	if (!ret)
		ret = profile_to_json(&p, PROFILE_JSON_LINE, out);
	if (!ret)
		ret = buf_put_u8(out, 0);
	profile_release(&p);
	return ret ? err_set(err, -ret, "redact: %s", strerror(-ret)) : 0;
}

/* What a header borrows while it is written. */
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
