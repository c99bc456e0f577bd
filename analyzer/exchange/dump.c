// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/dump.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/exchange/request_csv.h"
#include "analyzer/exchange/request_text.h"
#include "base/text/shown.h"

const char *const dump_form_names[] = { "text", "csv", "jsonl", NULL };

static void dump_head(const struct dump *d)
{
	if (d->form == DUMP_TEXT)
		request_text_head(d->out);
	else if (d->form == DUMP_CSV)
		request_csv_head(d->out);
}

static void dump_request(const struct dump *d, const struct scan_request *q,
			 const struct scan_stream *st)
{
	if (d->form == DUMP_TEXT)
		request_text_print(d->out, q, st, d->teller->utc);
	else if (d->form == DUMP_CSV)
		request_csv_print(d->out, q, st);
	else
		request_jsonl_print(d->out, q, st);
}

static int dump_requests(struct dump *d, struct scan *scan, struct err *err)
{
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	uint64_t limited = d->most ? d->most : UINT64_MAX, left = limited;
	int64_t nr = 0;

	if (!batch)
		return err_set(err, ENOMEM, "out of memory");
	dump_head(d);
	while (left && !ferror(d->out) &&
	       (nr = scan_next(scan, batch, left < SCAN_BATCH ? left : SCAN_BATCH)) > 0) {
		for (int64_t i = 0; i < nr; i++)
			dump_request(d, &batch[i], scan_stream(scan, batch[i].stream));
		left -= (uint64_t)nr;
	}
	free(batch);
	if (nr < 0) {
		*err = *scan_error(scan);
		return -err->code;
	}
	d->is_empty = left == limited;
	return 0;
}

struct dump_profiles {
	FILE *out;
	uint64_t nr;
};

/* Prints a profile as the agent stored it, on one line. */
static void dump_profile(void *ctx, const struct scan_trace *trace, const char *json)
{
	struct dump_profiles *p = ctx;

	(void)trace;
	p->nr++;
	shown_print_json(json, p->out);
	putc('\n', p->out);
}

int dump_print(struct dump *d, struct selection *sel, struct err *err)
{
	struct dump_profiles profiles = { .out = d->out };
	const struct scan_hooks hooks = { .profile = dump_profile, .ctx = &profiles };
	struct scan *scan = NULL;
	uint64_t nr_requests;
	int ret = selection_open(sel, d->teller, &scan, d->profiles ? &hooks : NULL, err);

	if (ret)
		goto out;
	if (!d->profiles) {
		ret = dump_requests(d, scan, err);
		goto out;
	}
	/* The scan hands over the profiles of a segment when it reads the requests. */
	ret = selection_read_all(scan, &nr_requests, err);
	d->is_empty = !ret && !nr_requests && !profiles.nr;
out:
	scan_close(scan);
	return ret;
}
