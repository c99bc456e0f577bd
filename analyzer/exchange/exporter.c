// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/exchange/export_formats.h"
#include "analyzer/exchange/request_csv.h"
#include "base/system/output_file.h"

static int csv_begin(struct exporter *e)
{
	request_csv_head(e->out);
	return 0;
}

static int csv_request(struct exporter *e, const struct scan_request *q,
		       const struct scan_stream *st)
{
	request_csv_print(e->out, q, st);
	e->nr_written++;
	return 0;
}

static const struct export_format export_csv = {
	.name = "csv",
	.title = "CSV with every field",
	.begin = csv_begin,
	.request = csv_request,
};

const struct export_format *const export_formats[] = { &export_csv, &export_fio_iolog,
						       &export_blkparse, &export_parquet };
const size_t nr_export_formats = sizeof(export_formats) / sizeof(*export_formats);

int exporter_write(struct exporter *e, struct scan *scan, struct progress *progress,
		   struct err *err)
{
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	bool first = true;
	int64_t nr = 0;
	int ret = batch ? 0 : -ENOMEM;

	if (!ret && e->format->begin)
		ret = e->format->begin(e);
	while (!ret && !ferror(e->out) && (nr = scan_next(scan, batch, SCAN_BATCH)) > 0) {
		if (first)
			e->begin_ns = batch[0].arrival_real_ns;
		first = false;
		for (int64_t i = 0; i < nr && !ret; i++)
			ret = e->format->request(e, &batch[i], scan_stream(scan, batch[i].stream));
		if (progress)
			progress_update(progress, scan_done_requests(scan));
	}
	if (!ret && nr == 0 && e->format->finish && !ferror(e->out))
		ret = e->format->finish(e);
	if (e->format->end)
		e->format->end(e);
	free(batch);
	if (nr < 0)
		return err_set(err, (int)-nr, "%s", scan_error(scan)->line);
	return ret ? err_set(err, -ret, "%s", strerror(-ret)) : 0;
}

const struct export_format *export_format_named(const char *name)
{
	for (size_t i = 0; i < nr_export_formats; i++)
		if (strcmp(export_formats[i]->name, name) == 0)
			return export_formats[i];
	return NULL;
}

static int exporter_write_told(struct exporter *e, struct scan *scan, const struct teller *teller,
			       struct err *err)
{
	struct progress progress;
	int ret;

	progress_begin(&progress, teller->work, scan_total_requests(scan), teller->quiet);
	ret = exporter_write(e, scan, &progress, err);
	progress_end(&progress);
	return ret;
}

static int exporter_write_file(struct exporter *e, struct scan *scan, const char *path,
			       const struct teller *teller, struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	e->out = file.out;
	return output_file_end(&file, exporter_write_told(e, scan, teller, err), err);
}

int exporter_run(struct exporter *e, struct selection *sel, const char *path,
		 const struct teller *teller, struct err *err)
{
	struct scan *scan = NULL;
	int ret = selection_open(sel, teller, &scan, NULL, err);

	if (!ret)
		ret = path ? exporter_write_file(e, scan, path, teller, err)
			   : exporter_write_told(e, scan, teller, err);
	scan_close(scan);
	if (!ret && e->nr_left_out)
		teller_note(teller, "%" PRIu64 " requests left out: %s", e->nr_left_out,
			    e->format->left_out);
	if (!ret && e->nr_rounded)
		teller_note(teller, "%" PRIu64 " lengths are no whole sector: rounded up",
			    e->nr_rounded);
	return ret;
}
