// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/inventory_text.h"

#include <inttypes.h>

#include "analyzer/answer/grid.h"
#include "base/text/units.h"

#define GAPS_SHOWN 3 /* number of gaps and of pauses per host in the text; JSON has all */

static const char *inventory_plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static double inventory_s(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Returns the count as JSON: requests that were only counted are null and not 0. */
static json_t *inventory_count_json(uint64_t nr, bool is_counted)
{
	return is_counted ? json_null() : json_integer((json_int_t)nr);
}

static json_t *inventory_device_json(const struct inventory_host *h,
				     const struct inventory_device *d)
{
	bool is_counted = inventory_is_counted(h, d);
	char number[24];
	json_t *requests = json_object();
	json_t *bytes = json_object();

	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(d->device),
		 device_minor(d->device));
	for (unsigned int op = 0; op < NR_OPERATIONS; op++)
		json_object_set_new(requests, operation_name(op),
				    inventory_count_json(d->requests[op], is_counted));
	for (unsigned int op = 0; op <= OPERATION_WRITE; op++)
		json_object_set_new(bytes, operation_name(op),
				    inventory_count_json(d->bytes[op], is_counted));
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "device", number, "device_name", d->name,
			 "size_bytes",
			 d->size_bytes ? json_integer((json_int_t)d->size_bytes) : json_null(),
			 "requests", requests, "bytes", bytes);
}

/* Requests that an agent kept back are not lost: nobody wanted them, and profiles count them. */
static json_t *inventory_losses_json(const struct ledger *ledger)
{
	json_t *by_cause = json_object();

	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		if (ledger->total[cause] && cause != LOSS_KEPT_BACK)
			json_object_set_new(by_cause, loss_cause_name(cause),
					    json_integer((json_int_t)ledger->total[cause]));
	return by_cause;
}

static json_t *inventory_gaps_json(const struct inventory_host *h)
{
	json_t *gaps = json_array();

	for (size_t i = 1; i < h->nr_covered; i++)
		json_array_append_new(gaps,
				      json_pack("{s:f, s:f}", "begin_s",
						inventory_s(h->covered[i - 1].end_real_ns), "end_s",
						inventory_s(h->covered[i].begin_real_ns)));
	return gaps;
}

/* Returns whether an unknown number of requests was lost in the interval. */
static bool inventory_is_uncounted(const struct loss *l)
{
	return !l->count_known;
}

static json_t *inventory_intervals_json(const struct ledger *ledger,
					bool (*wanted)(const struct loss *l))
{
	json_t *intervals = json_array();

	for (size_t i = 0; i < ledger->nr; i++) {
		const struct loss *l = &ledger->losses[i];

		if (wanted(l))
			json_array_append_new(
				intervals,
				json_pack("{s:s, s:f, s:f}", "cause", loss_cause_name(l->cause),
					  "begin_s", inventory_s(l->begin_real_ns), "length_s",
					  inventory_s(l->end_real_ns - l->begin_real_ns)));
	}
	return intervals;
}

static json_t *inventory_coverage_json(const struct inventory_host *h)
{
	uint64_t span = inventory_span_ns(h);

	return span ? json_real((double)inventory_covered_ns(h) / (double)span) : json_null();
}

/*
 * Makes the JSON of retention: requests that are only summarized, and those of which only the
 * number is left.
 */
static json_t *inventory_retention_json(const struct inventory_host *h)
{
	const struct inventory_span kept = { h->retained.begin_real_ns, h->retained.end_real_ns };
	const struct inventory_span gone = { h->retained.dropped_begin_real_ns,
					     h->retained.dropped_end_real_ns };
	bool any = h->retained.nr_summarized, any_gone = h->retained.nr_dropped;

	return json_pack(
		"{s:I, s:I, s:I, s:I, s:{s:I, s:o, s:o}, s:{s:s, s:I, s:o, s:o}}", "summaries",
		(json_int_t)h->retained.nr_files, "summary_bytes",
		(json_int_t)h->retained.file_bytes, "segments", (json_int_t)h->retained.nr_segments,
		"segment_bytes", (json_int_t)h->retained.segment_bytes, "summarized", "requests",
		(json_int_t)h->retained.nr_summarized, "begin_s",
		any ? json_real(inventory_s(kept.begin_real_ns)) : json_null(), "end_s",
		any ? json_real(inventory_s(kept.end_real_ns)) : json_null(), "dropped", "cause",
		"retention", "requests", (json_int_t)h->retained.nr_dropped, "begin_s",
		any_gone ? json_real(inventory_s(gone.begin_real_ns)) : json_null(), "end_s",
		any_gone ? json_real(inventory_s(gone.end_real_ns)) : json_null());
}

json_t *inventory_host_json(const struct inventory_host *h)
{
	const struct inventory_span *spans = h->covered;
	json_t *devices = json_array();
	bool any = h->nr_covered > 0;

	for (size_t i = 0; i < h->nr_devices; i++)
		json_array_append_new(devices, inventory_device_json(h, &h->devices[i]));
	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o,"
		" s:o, s:o, s:o}",
		"host", h->host, "boots", (json_int_t)h->nr_boots, "traces",
		(json_int_t)h->nr_traces, "segments", (json_int_t)h->nr_segments, "file_bytes",
		(json_int_t)h->file_bytes, "begin_s",
		any ? json_real(inventory_s(spans[0].begin_real_ns)) : json_null(), "end_s",
		any ? json_real(inventory_s(spans[h->nr_covered - 1].end_real_ns)) : json_null(),
		"requests", (json_int_t)h->nr_requests, "without_response_time",
		(json_int_t)h->nr_untimed, "captured", (json_int_t)h->nr_captured, "lost",
		(json_int_t)(ledger_sum(&h->ledger) - h->ledger.total[LOSS_KEPT_BACK]), "kept_back",
		(json_int_t)h->ledger.total[LOSS_KEPT_BACK], "lost_by_cause",
		inventory_losses_json(&h->ledger), "lost_uncounted",
		inventory_intervals_json(&h->ledger, inventory_is_uncounted), "missing_segments",
		(json_int_t)h->nr_missing, "coverage_ratio", inventory_coverage_json(h), "gaps",
		inventory_gaps_json(h), "pauses",
		inventory_intervals_json(&h->ledger, loss_is_pause), "retention",
		inventory_retention_json(h), "devices", devices);
}

static void inventory_print_gaps(const struct inventory_host *h, bool utc, FILE *out)
{
	char begin[UNITS_BYTES], span[UNITS_BYTES];

	for (size_t i = 1; i < h->nr_covered && i <= GAPS_SHOWN; i++) {
		const struct inventory_span *gap = &h->covered[i - 1];
		uint64_t end = h->covered[i].begin_real_ns;

		units_instant(gap->end_real_ns, utc, 0, begin);
		units_time(inventory_s(end - gap->end_real_ns), span);
		fprintf(out, "  not watched for %s from %s\n", span, begin);
	}
	if (h->nr_covered > GAPS_SHOWN + 1)
		fprintf(out, "  and %zu gaps more, which the JSON has\n",
			h->nr_covered - 1 - GAPS_SHOWN);
}

/* Prints pauses, or losses of unknown number. */
static void inventory_print_intervals(const struct inventory_host *h, bool pauses, bool utc,
				      FILE *out)
{
	char begin[UNITS_BYTES], length[UNITS_BYTES];
	size_t nr = 0;

	for (size_t i = 0; i < h->ledger.nr; i++) {
		const struct loss *at = &h->ledger.losses[i];

		if (!(pauses ? loss_is_pause(at) : inventory_is_uncounted(at)) ||
		    nr++ >= GAPS_SHOWN)
			continue;
		units_instant(at->begin_real_ns, utc, 0, begin);
		units_time(inventory_s(at->end_real_ns - at->begin_real_ns), length);
		if (pauses)
			fprintf(out, "  gap: %s, %s from %s\n", pause_cause_text(at->cause), length,
				begin);
		else
			fprintf(out, "  lost: an unknown number (%s), %s from %s\n",
				loss_cause_name(at->cause), length, begin);
	}
	if (nr > GAPS_SHOWN)
		fprintf(out, "  and %zu such %s more, which the JSON has\n", nr - GAPS_SHOWN,
			pauses ? "gaps" : "losses");
}

static void inventory_print_kept_back(const struct inventory_host *h, FILE *out)
{
	const uint64_t nr = h->ledger.total[LOSS_KEPT_BACK];
	char share[UNITS_BYTES];

	if (nr)
		fprintf(out, "  kept back: %" PRIu64 " (%s of the captured requests)\n", nr,
			units_share((double)nr / ((double)h->nr_captured + (double)nr), share));
}

static void inventory_print_losses(const struct inventory_host *h, bool utc, FILE *out)
{
	for (unsigned int cause = 0; cause < NR_LOSS_CAUSES; cause++)
		if (h->ledger.total[cause] && cause != LOSS_KEPT_BACK)
			fprintf(out, "  lost: %" PRIu64 " (%s)\n", h->ledger.total[cause],
				loss_cause_name(cause));
	inventory_print_kept_back(h, out);
	inventory_print_intervals(h, false, utc, out);
	if (h->nr_missing)
		fprintf(out, "  segments missing: %" PRIu64 "\n", h->nr_missing);
}

static void inventory_print_retention(const struct inventory_host *h, bool utc, FILE *out)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES], bytes[UNITS_BYTES];

	if (h->retained.nr_summarized) {
		units_instant(h->retained.begin_real_ns, utc, 0, begin);
		units_instant(h->retained.end_real_ns, utc, 0, end);
		units_bytes((double)h->retained.file_bytes, bytes);
		fprintf(out, "  of them %" PRIu64 " only summarized (%s): %s to %s\n",
			h->retained.nr_summarized, bytes, begin, end);
	}
	if (h->retained.nr_dropped) {
		units_instant(h->retained.dropped_begin_real_ns, utc, 0, begin);
		units_instant(h->retained.dropped_end_real_ns, utc, 0, end);
		fprintf(out, "  of them %" PRIu64 " dropped by retention: %s to %s\n",
			h->retained.nr_dropped, begin, end);
	}
}

static void inventory_print_counted(struct grid *g, const struct inventory_device *d)
{
	char size[UNITS_BYTES];

	units_bytes((double)d->size_bytes, size);
	grid_cell(g, "  %s", *d->name ? d->name : "-");
	grid_cell(g, "%" PRIu32 ":%" PRIu32, device_major(d->device), device_minor(d->device));
	grid_cell(g, "%s", d->size_bytes ? size : "-");
	for (int i = 0; i < 5; i++)
		grid_cell(g, "-");
}

static size_t inventory_print_devices(const struct inventory_host *h, bool all, FILE *out)
{
	char size[UNITS_BYTES], read[UNITS_BYTES], written[UNITS_BYTES];
	size_t hidden = 0;
	struct grid g;

	grid_init(&g, "  device||>size|>reads|>writes|>other|>read|>written");
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct inventory_device *d = &h->devices[i];
		uint64_t nr = inventory_device_requests(d);

		if (inventory_is_counted(h, d)) {
			inventory_print_counted(&g, d);
			continue;
		}
		if (nr == 0 && !all) {
			hidden++;
			continue;
		}
		units_bytes((double)d->size_bytes, size);
		units_bytes((double)d->bytes[OPERATION_READ], read);
		units_bytes((double)d->bytes[OPERATION_WRITE], written);
		grid_cell(&g, "  %s", *d->name ? d->name : "-");
		grid_cell(&g, "%" PRIu32 ":%" PRIu32, device_major(d->device),
			  device_minor(d->device));
		grid_cell(&g, "%s", d->size_bytes ? size : "-");
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_READ]);
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_WRITE]);
		grid_cell(&g, "%" PRIu64,
			  nr - d->requests[OPERATION_READ] - d->requests[OPERATION_WRITE]);
		grid_cell(&g, "%s", read);
		grid_cell(&g, "%s", written);
	}
	if (hidden < h->nr_devices)
		grid_print(&g, out);
	grid_release(&g);
	return hidden;
}

size_t inventory_host_print(const struct inventory_host *h, bool utc, bool all, FILE *out)
{
	char begin[UNITS_BYTES] = "-", end[UNITS_BYTES] = "-", span[UNITS_BYTES],
	     bytes[UNITS_BYTES];
	uint64_t covered = inventory_covered_ns(h), whole = inventory_span_ns(h);

	if (h->nr_covered) {
		units_instant(h->covered[0].begin_real_ns, utc, 0, begin);
		units_instant(h->covered[h->nr_covered - 1].end_real_ns, utc, 0, end);
	}
	units_time(inventory_s(whole), span);
	units_bytes((double)h->file_bytes, bytes);
	fprintf(out, "%s  %s to %s (%s), %.1f %% watched\n", h->host, begin, end, span,
		whole ? 100 * (double)covered / (double)whole : 0);
	fprintf(out,
		"  %" PRIu64 " request%s in %" PRIu64 " segment%s (%s), %" PRIu64
		" boot%s, %" PRIu64 " trace%s\n",
		h->nr_requests, inventory_plural(h->nr_requests), h->nr_segments,
		inventory_plural(h->nr_segments), bytes, h->nr_boots, inventory_plural(h->nr_boots),
		h->nr_traces, inventory_plural(h->nr_traces));
	if (h->nr_counted)
		fprintf(out, "  only counters in %" PRIu64 " of the segments\n", h->nr_counted);
	if (h->nr_untimed)
		fprintf(out, "  of the reads and writes %" PRIu64 " without response time (%s)\n",
			h->nr_untimed,
			units_share((double)h->nr_untimed / (double)inventory_data_requests(h),
				    span));
	inventory_print_retention(h, utc, out);
	inventory_print_losses(h, utc, out);
	inventory_print_intervals(h, true, utc, out);
	inventory_print_gaps(h, utc, out);
	return inventory_print_devices(h, all, out);
}
