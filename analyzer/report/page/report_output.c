/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/page/report_output.h"

#include <errno.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/report/page/page.h"
#include "base/data/json.h"
#include "base/system/output_file.h"

static int report_output_render(const struct report_output *o, const struct report *r,
				struct buf *out, struct err *err)
{
	const struct figure *f = o->figure;
	size_t device = r->busiest[0];
	struct view v = report_view(r, f && f->per_device, device);
	const char *absent;
	int ret;

	if (!f)
		ret = page_write(r, out);
	else
		ret = o->csv ? f->csv(r, device, &v, out) : page_picture(r, f, device, out);
	if (ret == -ENODATA) {
		absent = figure_absent(r, f);
		return err_set(err, ENODATA, "%s: nothing to show: %s", f->name,
			       absent && absent[0] ? absent : "the selection does not have it");
	}
	return ret ? err_set(err, -ret, "%s", strerror(-ret)) : 0;
}

int report_output_save(struct report_output *o, const struct report *r, struct err *err)
{
	struct buf out;
	int ret;

	buf_init(&out);
	ret = report_output_render(o, r, &out, err);
	if (!ret)
		ret = output_file_save(&out, o->path, err);
	o->bytes = out.len;
	buf_release(&out);
	return ret;
}

/* Adds the verdicts on the objectives to what --json prints. */
static int report_output_objectives(const struct report *r, json_t *top)
{
	struct answer *a = slo_answer(r);
	json_t *verdicts = a ? answer_json(a) : NULL;
	int ret = verdicts && !json_object_update_missing(top, verdicts) ? 0 : -ENOMEM;

	json_decref(verdicts);
	answer_free(a);
	return ret;
}

/* Says what the page is made from: the devices in their order of collection. */
static json_t *report_output_provenance(const struct report *r)
{
	struct page_origins origins = { .nr = 0 };
	struct page_maker maker = r->maker;
	json_t *all = NULL;
	int ret = 0;

	maker.origins = &origins;
	for (size_t i = 0; i < r->collect->nr_devices && !ret; i++) {
		const struct collect_device *d = r->collect->devices[i];
		const struct profile *p = &r->each[i];
		const struct provenance_device from = { .host = d->host,
							.device = d->device,
							.device_name = d->name,
							.source = source_name(p->source),
							.file_system = d->file_system,
							.size_bytes = d->size_bytes,
							.begin_s = p->begin_s,
							.end_s = p->end_s,
							.nr_requests = d->nr_requests };

		ret = provenance_add(&origins, &from);
	}
	if (!ret)
		all = provenance_json(&maker);
	page_origins_release(&origins);
	/* The period of a report is the one that was asked for. */
	if (all) {
		json_object_set_new(all, "begin_s", json_real((double)r->begin_ns * 1e-9));
		json_object_set_new(all, "end_s", json_real((double)r->end_ns * 1e-9));
	}
	return all;
}

json_t *report_output_json(const struct report_output *o, const struct report *r)
{
	char hash[COLLECT_HASH_BYTES];
	json_t *names = json_array(), *top;
	json_t *processes = issuers_json(&r->issuers->processes, ISSUERS_SHOWN);
	json_t *cgroups = issuers_json(&r->issuers->cgroups, ISSUERS_SHOWN);

	collect_hash(r->collect, hash);
	for (size_t i = 0; i < nr_figures; i++)
		json_array_append_new(names, json_string(figures[i].name));
	top = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o}", "schema",
			"blkcast.report/1", "output", json_text(o->path), "size_bytes",
			(json_int_t)o->bytes, "requests", (json_int_t)r->collect->nr_requests,
			"summarized_requests", (json_int_t)r->collect->retired.nr_requests,
			"devices", (json_int_t)r->collect->nr_devices, "data_xxh3", hash, "figures",
			names, "processes", processes, "cgroups", cgroups, "provenance",
			report_output_provenance(r));
	if (top && r->collect->objectives && report_output_objectives(r, top)) {
		json_decref(top);
		return NULL;
	}
	return top;
}
