// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/request_csv.h"

#include <inttypes.h>

const char *request_csv_seconds(char out[32], bool known, uint64_t ns, const char *unknown)
{
	if (!known)
		return unknown;
	snprintf(out, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
	return out;
}

bool request_queue_known(const struct request *r)
{
	return !(r->flags & (REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH));
}

bool request_device_known(const struct request *r)
{
	return !(r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_DISPATCH));
}

bool request_total_known(const struct request *r)
{
	return !(r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL));
}

const char *request_operation_text(const struct request *r)
{
	return r->flags & REQUEST_NO_OPERATION ? "unknown" : operation_name(r->operation);
}

void request_csv_head(FILE *out)
{
	fprintf(out, "arrival_s,host,device,device_name,source,operation,sector,bytes,queue_s,"
		     "device_s,tid,pid,cgroup_id,queue_depth,requeues,error,flags,"
		     "total_s\n");
}

void request_csv_print(FILE *out, const struct scan_request *q, const struct scan_stream *st)
{
	const struct request *r = &q->r;
	char queue[32], device[32], arrival[32], total[32];

	fprintf(out,
		"%s,%s,%" PRIu32 ":%" PRIu32 ",%s,%s,%s,%" PRIu64 ",%" PRIu32 ",%s,%s,%" PRIu32
		",%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%u,%u,0x%" PRIx32 ",%s\n",
		request_csv_seconds(arrival, true, q->arrival_real_ns, ""), st->host,
		device_major(r->device), device_minor(r->device), st->device_name,
		source_name(r->source), request_operation_text(r), r->sector, r->bytes,
		request_csv_seconds(queue, request_queue_known(r), r->dispatch_ns - r->arrival_ns,
				    ""),
		request_csv_seconds(device, request_device_known(r),
				    r->completion_ns - r->dispatch_ns, ""),
		r->tid, r->pid, r->cgroup_id, r->queue_depth, r->requeues, r->error, r->flags,
		request_csv_seconds(total, request_total_known(r), r->completion_ns - r->arrival_ns,
				    ""));
}
