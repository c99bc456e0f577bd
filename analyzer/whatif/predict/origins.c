// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/origins.h"

#include <errno.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/measure/results_origin.h"
#include "base/data/json.h"
#include "base/text/units.h"
#include "formats/model_file.h"

/* Instants show milliseconds where the period is shorter than a minute. */
static void origins_period(const struct profile *p, bool utc, char begin[UNITS_BYTES],
			   char end[UNITS_BYTES], char span[UNITS_BYTES])
{
	unsigned int digits = p->end_s - p->begin_s < 60 ? 3 : 0;

	units_instant((uint64_t)(p->begin_s * 1e9), utc, digits, begin);
	units_instant((uint64_t)(p->end_s * 1e9), utc, digits, end);
	units_time(p->end_s - p->begin_s, span);
}

static int origins_device(struct page_origins *o, const struct profile_group *g)
{
	const struct profile *p = &g->whole;
	struct provenance_device d = { .host = p->host,
				       .device = p->device,
				       .device_name = p->device_name,
				       .source = source_name(p->source),
				       .file_system = g->file_system,
				       .size_bytes = g->device_bytes,
				       .begin_s = p->begin_s,
				       .end_s = p->end_s };

	for (int op = 0; op < NR_OPERATIONS; op++)
		d.nr_requests += p->requests[op];
	return provenance_add(o, &d);
}

int origins_loads(struct page_origins *o, const char *path, const struct profile_set *set,
		  size_t from, bool utc)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES], span[UNITS_BYTES];
	int ret = 0;

	for (size_t i = from; i < set->nr_groups && !ret; i++) {
		const struct profile *p = &set->groups[i].whole;
		const char *name = p->device_name[0] ? p->device_name : p->device;

		origins_period(p, utc, begin, end, span);
		ret = page_origins_add(o, "Load %s: %s of %s, %s to %s (%s).", path,
				       name[0] ? name : "all devices",
				       p->host[0] ? p->host : "an unnamed host", begin, end, span);
		if (!ret)
			ret = origins_device(o, &set->groups[i]);
	}
	return ret;
}

int origins_model(struct page_origins *o, const char *path, struct err *err)
{
	json_t *root = NULL;
	const char *kind, *origin, *response;
	int ret = model_file_read(path, &root, &kind, err);

	if (ret)
		return ret;
	origin = json_string_value(json_object_get(root, "origin"));
	response = json_string_value(json_object_get(root, "response"));
	ret = page_origins_add(
		o, "Model %s%s%s: %s", path, response ? " of " : "", response ? response : "",
		origin ? origin : "it was made from a table, which does not name the storage.");
	json_decref(root);
	return ret;
}

int origins_campaign(struct page_origins *o, const char *db, const char *campaign, struct err *err)
{
	struct buf words;
	int ret;

	buf_init(&words);
	ret = results_origin(db, campaign, &words, err);
	if (!ret)
		ret = page_origins_add(o, "Measurements %s: %s", db, (const char *)words.data);
	buf_release(&words);
	return ret;
}

int origins_rows(struct page_origins *o, const char *table, const char *db, const char *campaign,
		 struct err *err)
{
	if (db)
		return origins_campaign(o, db, campaign, err);
	return page_origins_add(o, "Measurements %s: a table, which does not name the storage.",
				table);
}

int origins_carry(json_t *model, const char *old_path, struct err *err)
{
	const char *kind;
	json_t *old = NULL, *origin;
	int ret = model_file_read(old_path, &old, &kind, err);

	if (ret)
		return ret;
	origin = json_object_get(old, "origin");
	if (origin && json_object_set(model, "origin", origin))
		ret = -ENOMEM;
	json_decref(old);
	return ret;
}

int origins_keep(json_t *model, const char *db, const char *campaign, struct err *err)
{
	struct buf words;
	int ret;

	if (!db)
		return 0;
	buf_init(&words);
	ret = results_origin(db, campaign, &words, err);
	if (!ret && json_object_set_new(model, "origin", json_text((const char *)words.data)))
		ret = -ENOMEM;
	buf_release(&words);
	return ret;
}
