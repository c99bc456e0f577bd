// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/export_formats.h"
#include "analyzer/exchange/parquet.h"
#include "analyzer/exchange/request_csv.h"
#include "base/text/shown.h"

/* One row for each request; docs/guide/fleet.md describes the columns. */
enum parquet_request_column {
	COLUMN_ARRIVAL,
	COLUMN_HOST,
	COLUMN_DEVICE,
	COLUMN_DEVICE_NAME,
	COLUMN_SOURCE,
	COLUMN_OPERATION,
	COLUMN_SECTOR,
	COLUMN_BYTES,
	COLUMN_QUEUE,
	COLUMN_DEVICE_TIME,
	COLUMN_TOTAL,
	COLUMN_TID,
	COLUMN_PID,
	COLUMN_CGROUP,
	COLUMN_QUEUE_DEPTH,
	COLUMN_REQUEUES,
	COLUMN_ERROR,
	COLUMN_FLAGS,
};

static const struct parquet_column columns[] = {
	[COLUMN_ARRIVAL] = { "arrival", PARQUET_TIMESTAMP_NS, false },
	[COLUMN_HOST] = { "host", PARQUET_TEXT, false },
	[COLUMN_DEVICE] = { "device", PARQUET_TEXT, false },
	[COLUMN_DEVICE_NAME] = { "device_name", PARQUET_TEXT, false },
	[COLUMN_SOURCE] = { "source", PARQUET_TEXT, false },
	[COLUMN_OPERATION] = { "operation", PARQUET_TEXT, false },
	[COLUMN_SECTOR] = { "sector", PARQUET_INT, false },
	[COLUMN_BYTES] = { "bytes", PARQUET_INT, false },
	[COLUMN_QUEUE] = { "queue_ns", PARQUET_INT, true },
	[COLUMN_DEVICE_TIME] = { "device_ns", PARQUET_INT, true },
	[COLUMN_TOTAL] = { "total_ns", PARQUET_INT, true },
	[COLUMN_TID] = { "tid", PARQUET_INT, true },
	[COLUMN_PID] = { "pid", PARQUET_INT, true },
	[COLUMN_CGROUP] = { "cgroup_id", PARQUET_UNSIGNED, true },
	[COLUMN_QUEUE_DEPTH] = { "queue_depth", PARQUET_INT, false },
	[COLUMN_REQUEUES] = { "requeues", PARQUET_INT, false },
	[COLUMN_ERROR] = { "error", PARQUET_INT, false },
	[COLUMN_FLAGS] = { "flags", PARQUET_INT, false },
};

static int parquet_export_begin(struct exporter *e)
{
	struct parquet *p;
	int ret = parquet_begin(&p, e->out, columns, sizeof(columns) / sizeof(*columns));

	e->state = p;
	return ret;
}

/* A text must be UTF-8; other bytes of a name become \xHH. */
static void parquet_put_name(struct parquet *p, unsigned int column, const char *name)
{
	char text[512];

	parquet_put_text(p, column, shown_is_utf8(name) ? name : shown(name, text, sizeof(text)));
}

static void parquet_put_known(struct parquet *p, unsigned int column, bool known, uint64_t value)
{
	if (known)
		parquet_put_int(p, column, (int64_t)value);
	else
		parquet_put_null(p, column);
}

static int parquet_export_request(struct exporter *e, const struct scan_request *q,
				  const struct scan_stream *st)
{
	const struct request *r = &q->r;
	struct parquet *p = e->state;
	char device[32];

	snprintf(device, sizeof(device), "%u:%u", device_major(r->device), device_minor(r->device));
	parquet_put_int(p, COLUMN_ARRIVAL, (int64_t)q->arrival_real_ns);
	parquet_put_name(p, COLUMN_HOST, st->host);
	parquet_put_text(p, COLUMN_DEVICE, device);
	parquet_put_name(p, COLUMN_DEVICE_NAME, st->device_name);
	parquet_put_text(p, COLUMN_SOURCE, source_name(r->source));
	parquet_put_text(p, COLUMN_OPERATION, request_operation_text(r));
	parquet_put_int(p, COLUMN_SECTOR, (int64_t)r->sector);
	parquet_put_int(p, COLUMN_BYTES, r->bytes);
	parquet_put_known(p, COLUMN_QUEUE, request_queue_known(r), r->dispatch_ns - r->arrival_ns);
	parquet_put_known(p, COLUMN_DEVICE_TIME, request_device_known(r),
			  r->completion_ns - r->dispatch_ns);
	parquet_put_known(p, COLUMN_TOTAL, request_total_known(r),
			  r->completion_ns - r->arrival_ns);
	parquet_put_known(p, COLUMN_TID, !(r->flags & REQUEST_NO_ISSUER), r->tid);
	parquet_put_known(p, COLUMN_PID, !(r->flags & REQUEST_NO_ISSUER), r->pid);
	parquet_put_known(p, COLUMN_CGROUP, !(r->flags & REQUEST_NO_CGROUP), r->cgroup_id);
	parquet_put_int(p, COLUMN_QUEUE_DEPTH, r->queue_depth);
	parquet_put_int(p, COLUMN_REQUEUES, r->requeues);
	parquet_put_int(p, COLUMN_ERROR, r->error);
	parquet_put_int(p, COLUMN_FLAGS, r->flags);
	e->nr_written++;
	return parquet_row(p);
}

static int parquet_export_finish(struct exporter *e)
{
	return parquet_end(e->state);
}

static void parquet_export_end(struct exporter *e)
{
	parquet_release(e->state);
}

const struct export_format export_parquet = {
	.name = "parquet",
	.title = "Parquet with one row for each request",
	.begin = parquet_export_begin,
	.request = parquet_export_request,
	.finish = parquet_export_finish,
	.end = parquet_export_end,
};
