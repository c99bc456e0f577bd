// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/exchange/export_formats.h"
#include "analyzer/exchange/request_csv.h"

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
