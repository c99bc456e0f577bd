// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/provenance.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "base/data/json.h"

static json_t *provenance_text(const char *text)
{
	return text[0] ? json_text(text) : json_null();
}

int provenance_add(struct page_origins *o, const struct provenance_device *d)
{
	json_t *device, *known;
	size_t i;

	if (!o)
		return 0;
	if (!o->devices)
		o->devices = json_array();
	device = json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:f, s:f, s:I}", "host",
			   json_text(d->host), "device", json_text(d->device), "device_name",
			   json_text(d->device_name), "source", d->source, "file_system",
			   provenance_text(d->file_system), "size_bytes",
			   d->size_bytes ? json_integer((json_int_t)d->size_bytes) : json_null(),
			   "begin_s", d->begin_s, "end_s", d->end_s, "requests",
			   (json_int_t)d->nr_requests);
	if (!device)
		return -ENOMEM;
	json_array_foreach(o->devices, i, known)
	{
		if (json_equal(known, device)) {
			json_decref(device);
			return 0;
		}
	}
	return json_array_append_new(o->devices, device) < 0 ? -ENOMEM : 0;
}

/* Returns the first begin or the last end of all devices; NaN without any. */
static double provenance_border(json_t *devices, const char *key, bool first)
{
	double border_s = NAN;
	json_t *device;
	size_t i;

	json_array_foreach(devices, i, device)
	{
		double at_s = json_number_value(json_object_get(device, key));

		border_s = first ? fmin(border_s, at_s) : fmax(border_s, at_s);
	}
	return border_s;
}

json_t *provenance_json(const struct page_maker *m)
{
	const struct page_origins *o = m->origins;
	json_t *lines = json_array(), *devices = o ? json_incref(o->devices) : NULL;

	for (size_t i = 0; o && i < o->nr; i++)
		json_array_append_new(lines, json_text(o->lines[i]));
	if (!devices)
		devices = json_array();
	return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o, s:o}", "command",
			 m->command ? json_text(m->command) : json_null(), "version",
			 BLKCAST_VERSION, "made_s", (json_int_t)m->made_s, "begin_s",
			 json_number(provenance_border(devices, "begin_s", true)), "end_s",
			 json_number(provenance_border(devices, "end_s", false)), "devices",
			 devices, "origins", lines);
}
