// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/request_text.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/exchange/request_csv.h"
#include "base/text/units.h"

static const struct {
	uint32_t flag;
	char letter;
	const char *name;
} flags[] = {
	{ REQUEST_SYNC, 'S', "sync" },
	{ REQUEST_META, 'M', "meta" },
	{ REQUEST_READAHEAD, 'A', "readahead" },
	{ REQUEST_FUA, 'F', "fua" },
	{ REQUEST_PREFLUSH, 'P', "preflush" },
	{ REQUEST_PASSTHROUGH, 'T', "passthrough" },
	{ REQUEST_KERNEL_THREAD, 'K', "kernel_thread" },
	{ REQUEST_OWN, 'O', "own" },
	{ REQUEST_ZONE_APPEND, 'Z', "zone_append" },
	{ REQUEST_PAUSED, 'G', "paused" },
};
#define NR_FLAG_NAMES (sizeof(flags) / sizeof(*flags))

void request_text_head(FILE *out)
{
	fprintf(out, "%-35s  %-10s  %-8s  %-9s  %12s  %8s  %8s  %8s  %7s  %5s  flags\n", "arrival",
		"host", "device", "operation", "sector", "bytes", "queue", "device", "pid",
		"depth");
}

void request_text_print(FILE *out, const struct scan_request *q, const struct scan_stream *st,
			bool utc)
{
	const struct request *r = &q->r;
	char when[UNITS_BYTES], queue[UNITS_BYTES] = "-", device[UNITS_BYTES] = "-";
	char letters[NR_FLAG_NAMES + 1];
	int queue_width, device_width;
	size_t nr = 0;

	units_instant(q->arrival_real_ns, utc, 9, when);
	if (request_queue_known(r))
		units_time((double)(r->dispatch_ns - r->arrival_ns) / 1e9, queue);
	if (request_device_known(r))
		units_time((double)(r->completion_ns - r->dispatch_ns) / 1e9, device);
	for (size_t i = 0; i < NR_FLAG_NAMES; i++)
		if (r->flags & flags[i].flag)
			letters[nr++] = flags[i].letter;
	letters[nr] = '\0';
	fprintf(out, "%-35s  %-10s  %-8s  %-9s  %12" PRIu64 "  %8" PRIu32 "  ", when, st->host,
		st->device_name, request_operation_text(r), r->sector, r->bytes);
	/*
	 * Widths are in bytes, because printf pads by bytes: "µs" has one byte more than it shows.
	 */
	queue_width = 8 + (strstr(queue, "µ") != NULL);
	device_width = 8 + (strstr(device, "µ") != NULL);
	fprintf(out, "%*s  %*s  %7" PRIu32 "  %5" PRIu32 "  %s%s\n", queue_width, queue,
		device_width, device, r->pid, r->queue_depth, nr ? letters : "-",
		r->error ? " error" : "");
}

void request_jsonl_print(FILE *out, const struct scan_request *q, const struct scan_stream *st)
{
	const struct request *r = &q->r;
	char queue[32], device[32], total[32], arrival[32];
	const char *comma = "";

	fprintf(out,
		"{\"arrival_s\":%s,\"host\":\"%s\",\"device\":\"%" PRIu32 ":%" PRIu32
		"\",\"device_name\":\"%s\",\"source\":\"%s\",\"layer\":\"%s\",\"operation\":\"%s\","
		"\"sector\":%" PRIu64 ",\"bytes\":%" PRIu32 ",\"queue_s\":%s,\"device_s\":%s,"
		"\"total_s\":%s,",
		request_csv_seconds(arrival, true, q->arrival_real_ns, ""), st->host,
		device_major(r->device), device_minor(r->device), st->device_name,
		source_name(r->source), layer_name(r->layer), request_operation_text(r), r->sector,
		r->bytes,
		request_csv_seconds(queue, request_queue_known(r), r->dispatch_ns - r->arrival_ns,
				    "null"),
		request_csv_seconds(device, request_device_known(r),
				    r->completion_ns - r->dispatch_ns, "null"),
		request_csv_seconds(total, request_total_known(r), r->completion_ns - r->arrival_ns,
				    "null"));
	if (r->flags & REQUEST_NO_ISSUER)
		fprintf(out, "\"tid\":null,\"pid\":null,");
	else
		fprintf(out, "\"tid\":%" PRIu32 ",\"pid\":%" PRIu32 ",", r->tid, r->pid);
	if (r->flags & REQUEST_NO_CGROUP)
		fprintf(out, "\"cgroup_id\":null,");
	else
		fprintf(out, "\"cgroup_id\":%" PRIu64 ",", r->cgroup_id);
	fprintf(out, "\"queue_depth\":%" PRIu32 ",\"requeues\":%u,\"error\":%u,\"flags\":[",
		r->queue_depth, r->requeues, r->error);
	for (size_t i = 0; i < NR_FLAG_NAMES; i++) {
		if (!(r->flags & flags[i].flag))
			continue;
		fprintf(out, "%s\"%s\"", comma, flags[i].name);
		comma = ",";
	}
	fprintf(out, "]}\n");
}
