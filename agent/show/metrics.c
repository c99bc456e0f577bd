/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/show/metrics.h"

/* The classic `le` edges are every 32nd edge of the native histogram, from 2^-17 to 2^4 seconds. */
#define FIRST_EDGE (-17)
#define LAST_EDGE  4

static const char *const directions[BOARD_DIRECTIONS] = { "read", "write" };

struct page {
	const struct board_device *devices;
	size_t nr;
	bool open;
	struct buf *out;
};

/*
 * The family of a counter is named without _total in OpenMetrics and with it in the classic format.
 */
static void metrics_family(const struct page *p, const char *name, const char *type,
			   const char *unit, const char *help)
{
	bool is_counter = !strcmp(type, "counter");
	bool is_info = !strcmp(type, "info");
	const char *end = p->open ? "" : is_counter ? "_total" : is_info ? "_info" : "";

	if (is_info && !p->open)
		type = "gauge";
	buf_printf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end, type);
	if (p->open && unit)
		buf_printf(p->out, "# UNIT %s %s\n", name, unit);
}

/* Prints the value of a label with the escapes that the format requires. */
static void print_label(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			buf_put(out, "\\n", 2);
		else if (*text == '\\' || *text == '"')
			buf_printf(out, "\\%c", *text);
		else
			buf_put_u8(out, (uint8_t)*text);
	}
}

static void metrics_sample(const struct page *p, const char *name, const struct board_device *d)
{
	buf_printf(p->out, "%s{device=\"", name);
	print_label(p->out, d->name);
	buf_printf(p->out, "\"");
}

static void print_requests(const struct page *p)
{
	metrics_family(p, "blkcast_requests", "counter", NULL, "Completed requests.");
	for (size_t i = 0; i < p->nr; i++)
		for (unsigned int op = 0; op < NR_OPERATIONS; op++) {
			metrics_sample(p, "blkcast_requests_total", &p->devices[i]);
			buf_printf(p->out, ",operation=\"%s\"} %" PRIu64 "\n", operation_name(op),
				   p->devices[i].requests[op]);
		}
	metrics_family(p, "blkcast_bytes", "counter", "bytes", "Bytes of completed requests.");
	for (size_t i = 0; i < p->nr; i++)
		for (unsigned int op = 0; op < NR_OPERATIONS; op++) {
			metrics_sample(p, "blkcast_bytes_total", &p->devices[i]);
			buf_printf(p->out, ",operation=\"%s\"} %" PRIu64 "\n", operation_name(op),
				   p->devices[i].bytes[op]);
		}
}

/* OpenMetrics requires le to be a canonical float: "1.0", not "1". */
static void print_le(const struct page *p, double edge)
{
	buf_printf(p->out, edge == floor(edge) ? ",le=\"%.1f\"} " : ",le=\"%.17g\"} ", edge);
}

/* Converts the sum of a histogram, which is a 128-bit number of nanoseconds, to seconds. */
static double sum_s(const struct histogram *h)
{
	return ((double)h->sum_high * 18446744073709551616.0 + (double)h->sum_ns) / 1e9;
}

static void print_duration(const struct page *p, const struct board_device *d, int direction,
			   unsigned int stage)
{
	const struct histogram *h = &d->duration[direction][stage];
	const char *name = "blkcast_request_duration_seconds";

	for (int edge = FIRST_EDGE; edge <= LAST_EDGE; edge++) {
		buf_printf(p->out, "%s_bucket{device=\"", name);
		print_label(p->out, d->name);
		buf_printf(p->out, "\",operation=\"%s\",stage=\"%s\"", directions[direction],
			   stage_name(stage));
		print_le(p, ldexp(1, edge));
		buf_printf(p->out, "%" PRIu64 "\n",
			   h->nr ? histogram_cumulative(h, edge * HISTOGRAM_PER_OCTAVE) : 0);
	}
	for (int part = 0; part < 3; part++) {
		static const char *const ends[] = { "_bucket", "_sum", "_count" };

		buf_printf(p->out, "%s%s{device=\"", name, ends[part]);
		print_label(p->out, d->name);
		buf_printf(p->out, "\",operation=\"%s\",stage=\"%s\"", directions[direction],
			   stage_name(stage));
		if (part == 1)
			buf_printf(p->out, "} %.17g\n", sum_s(h));
		else
			buf_printf(p->out, "%s} %" PRIu64 "\n", part ? "" : ",le=\"+Inf\"", h->nr);
	}
}

static void print_durations(const struct page *p)
{
	metrics_family(
		p, "blkcast_request_duration_seconds", "histogram", "seconds",
		"Response time: queue is arrival to dispatch, device is dispatch to completion, "
		"total is both.");
	for (size_t i = 0; i < p->nr; i++)
		for (int d = 0; d < BOARD_DIRECTIONS; d++)
			for (unsigned int stage = 0; stage < NR_STAGES; stage++)
				print_duration(p, &p->devices[i], d, stage);
}

static void print_size(const struct page *p, const struct board_device *d, int direction)
{
	const struct board_sizes *s = &d->sizes[direction];
	uint64_t cumulative = 0;

	for (int edge = 0; edge < BOARD_SIZE_EDGES; edge++) {
		cumulative += s->at_most[edge];
		metrics_sample(p, "blkcast_request_size_bytes_bucket", d);
		buf_printf(p->out, ",operation=\"%s\"", directions[direction]);
		print_le(p, 512.0 * ldexp(1, edge));
		buf_printf(p->out, "%" PRIu64 "\n", cumulative);
	}
	metrics_sample(p, "blkcast_request_size_bytes_bucket", d);
	buf_printf(p->out, ",operation=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", directions[direction],
		   s->nr);
	metrics_sample(p, "blkcast_request_size_bytes_sum", d);
	buf_printf(p->out, ",operation=\"%s\"} %" PRIu64 "\n", directions[direction], s->bytes);
	metrics_sample(p, "blkcast_request_size_bytes_count", d);
	buf_printf(p->out, ",operation=\"%s\"} %" PRIu64 "\n", directions[direction], s->nr);
}

static void print_sizes(const struct page *p)
{
	metrics_family(p, "blkcast_request_size_bytes", "histogram", "bytes", "Sizes of requests.");
	for (size_t i = 0; i < p->nr; i++)
		for (int d = 0; d < BOARD_DIRECTIONS; d++)
			print_size(p, &p->devices[i], d);
}

static void print_request_sums(const struct page *p)
{
	metrics_family(p, "blkcast_sequential_requests", "counter", NULL,
		       "Requests that went on where an earlier one ended.");
	for (size_t i = 0; i < p->nr; i++)
		for (int d = 0; d < BOARD_DIRECTIONS; d++) {
			metrics_sample(p, "blkcast_sequential_requests_total", &p->devices[i]);
			buf_printf(p->out, ",operation=\"%s\"} %" PRIu64 "\n", directions[d],
				   p->devices[i].sequential[d]);
		}
	metrics_family(p, "blkcast_untimed_requests", "counter", NULL,
		       "Reads and writes that have no response time, as their end was not seen.");
	for (size_t i = 0; i < p->nr; i++) {
		metrics_sample(p, "blkcast_untimed_requests_total", &p->devices[i]);
		buf_printf(p->out, "} %" PRIu64 "\n", p->devices[i].untimed);
	}
}

static void print_device_sums(const struct page *p)
{
	metrics_family(p, "blkcast_in_flight_seconds", "counter", "seconds",
		       "Integral of the requests in flight: its rate is their mean number.");
	for (size_t i = 0; i < p->nr; i++) {
		metrics_sample(p, "blkcast_in_flight_seconds_total", &p->devices[i]);
		buf_printf(p->out, "} %.17g\n", p->devices[i].in_flight_s);
	}
	metrics_family(p, "blkcast_device", "info", NULL, "Devices seen.");
	for (size_t i = 0; i < p->nr; i++) {
		const struct board_device *d = &p->devices[i];

		metrics_sample(p, "blkcast_device_info", d);
		buf_printf(p->out, ",major=\"%u\",minor=\"%u\",size_bytes=\"%" PRIu64 "\"} 1\n",
			   device_major(d->device), device_minor(d->device), d->size_bytes);
	}
}

static void print_totals(const struct page *p, const struct board_totals *t, const char *version)
{
	metrics_family(p, "blkcast_lost_requests", "counter", NULL,
		       "Requests known to be missing, by where they were lost.");
	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		buf_printf(p->out, "blkcast_lost_requests_total{where=\"%s\"} %" PRIu64 "\n",
			   loss_cause_name(cause), t->lost[cause]);
	metrics_family(p, "blkcast_agent_cpu_seconds", "counter", "seconds",
		       "CPU time of the agent, user and system.");
	buf_printf(p->out, "blkcast_agent_cpu_seconds_total %.17g\n", t->agent_cpu_s);
	if (!isnan(t->kernel_cpu_s)) {
		metrics_family(p, "blkcast_bpf_seconds", "counter", "seconds",
			       "Estimated time spent in the tracer's kernel side.");
		buf_printf(p->out, "blkcast_bpf_seconds_total %.17g\n", t->kernel_cpu_s);
	}
	metrics_family(p, "blkcast_shed_level", "gauge", NULL,
		       "What is shed to stay below max-overhead: 0 nothing, 1 the trace, "
		       "2 all but counters.");
	buf_printf(p->out, "blkcast_shed_level %d\n", t->shed_level);
	metrics_family(p, "blkcast_build", "info", NULL, "Version of the agent, and its tracer.");
	buf_printf(p->out, "blkcast_build_info{version=\"");
	print_label(p->out, version);
	buf_printf(p->out, "\",source=\"%s\",layer=\"%s\"} 1\n", t->source, t->layer);
}

int metrics_print(struct board *b, const char *version, bool open, struct buf *out)
{
	struct board_totals totals;
	struct page page = { .open = open, .out = out };

	page.devices = board_lock(b, &page.nr, &totals);
	print_requests(&page);
	if (!page.nr || !page.devices[0].is_counted) { /* all devices have one source */
		print_durations(&page);
		print_sizes(&page);
		print_request_sums(&page);
	}
	print_device_sums(&page);
	print_totals(&page, &totals, version);
	board_unlock(b);
	if (open)
		buf_printf(out, "# EOF\n");
	return out->error;
}

bool metrics_accepts_open(const char *accept)
{
	return accept && strstr(accept, "application/openmetrics-text");
}
