/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/report/collect/collect.h"

int collect_new(struct collect **out)
{
	struct collect *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->hash = XXH3_createState();
	if (!c->hash || XXH3_64bits_reset(c->hash) != XXH_OK) {
		XXH3_freeState(c->hash);
		free(c);
		return -ENOMEM;
	}
	heatmap_init(&c->heatmap);
	intensity_init(&c->intensity);
	load_init(&c->sum);
	inflight_init(&c->inflight);
	sequence_init(&c->sequence);
	*out = c;
	return 0;
}

static void device_free(struct collect_device *d)
{
	load_release(&d->load);
	access_map_release(&d->map);
	hotspot_release(&d->hotspot);
	sequence_device_release(&d->sequence);
	slo_device_release(&d->slo);
	free(d);
}

void collect_free(struct collect *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_devices; i++)
		device_free(c->devices[i]);
	heatmap_release(&c->heatmap);
	intensity_release(&c->intensity);
	load_release(&c->sum);
	inflight_release(&c->inflight);
	sequence_release(&c->sequence);
	XXH3_freeState(c->hash);
	free(c);
}

static struct collect_device *device_new(const struct collect_name *name,
					 const struct time_objectives *objectives)
{
	struct collect_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	snprintf(d->host, sizeof(d->host), "%s", name->host);
	snprintf(d->device, sizeof(d->device), "%s", name->device);
	snprintf(d->name, sizeof(d->name), "%s", name->name);
	load_init(&d->load);
	access_map_init(&d->map);
	sequence_device_init(&d->sequence);
	if (slo_device_init(&d->slo, objectives, d->host, d->device, d->name)) {
		device_free(d);
		return NULL;
	}
	return d;
}

static bool several_hosts(const struct collect *c)
{
	for (size_t i = 1; i < c->nr_devices; i++)
		if (strcmp(c->devices[i]->host, c->devices[0]->host))
			return true;
	return false;
}

static void label_devices(struct collect *c)
{
	bool with_host = several_hosts(c);

	for (size_t i = 0; i < c->nr_devices; i++) {
		struct collect_device *d = c->devices[i];

		snprintf(d->label, sizeof(d->label), "%s%s%s", with_host ? d->host : "",
			 with_host ? " " : "", d->name[0] ? d->name : d->device);
	}
}

int collect_device(struct collect *c, const struct collect_name *name, size_t *index,
		   struct err *err)
{
	for (size_t i = 0; i < c->nr_devices; i++) {
		const struct collect_device *d = c->devices[i];

		if (!strcmp(d->host, name->host) && !strcmp(d->name, name->name) &&
		    !strcmp(d->device, name->device)) {
			*index = i;
			return 0;
		}
	}
	if (c->nr_devices == COLLECT_DEVICES)
		return err_set(err, E2BIG, "more than %d devices", COLLECT_DEVICES);
	c->devices[c->nr_devices] = device_new(name, c->objectives);
	if (!c->devices[c->nr_devices])
		return err_set(err, ENOMEM, "no memory for the pictures of %s", name->name);
	*index = c->nr_devices++;
	label_devices(c);
	return 0;
}

static int add_one(struct collect *c, struct collect_device *d, const struct request *r)
{
	bool write = r->operation == OPERATION_WRITE;
	uint64_t t = r->arrival_ns;

	if (intensity_add(&c->intensity, t, r->bytes, write) || load_add(&c->sum, t, r->bytes) ||
	    load_add(&d->load, t, r->bytes) || access_map_add(&d->map, t, r->sector, write) ||
	    sequence_add(&c->sequence, &d->sequence, t, r))
		return -ENOMEM;
	if (r->flags & (REQUEST_NO_COMPLETION | REQUEST_PAUSED))
		return 0;
	if (slo_device_add(&d->slo, c->objectives, r) ||
	    heatmap_add(&c->heatmap, t, r->completion_ns - t) ||
	    inflight_add(&c->inflight, t, r->dispatch_ns, r->completion_ns))
		return -ENOMEM;
	return 0;
}

int collect_add(struct collect *c, size_t device, const struct request *requests, size_t nr)
{
	struct collect_device *d = c->devices[device];

	/* The struct has no padding, so its bytes are exactly its fields. */
	_Static_assert(sizeof(*requests) == 72, "struct request has no padding");
	XXH3_64bits_update(c->hash, requests, nr * sizeof(*requests));
	for (size_t i = 0; i < nr; i++) {
		const struct request *r = &requests[i];

		if (!c->nr_requests || r->arrival_ns < c->begin_ns)
			c->begin_ns = r->arrival_ns;
		if (!c->nr_requests || r->completion_ns > c->end_ns)
			c->end_ns = r->completion_ns;
		c->nr_requests++;
		if (request_is_data(r) && add_one(c, d, r))
			return -ENOMEM;
	}
	d->nr_requests += nr;
	return hotspot_add_many(&d->hotspot, requests, nr);
}

void collect_hash(const struct collect *c, char text[COLLECT_HASH_BYTES])
{
	snprintf(text, COLLECT_HASH_BYTES, "%016llx",
		 (unsigned long long)XXH3_64bits_digest(c->hash));
}
