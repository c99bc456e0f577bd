// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/exporter.h"

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
