// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import_text.h"

#include <inttypes.h>

#include "analyzer/answer/grid.h"
#include "base/data/json.h"
#include "base/text/units.h"

static json_t *import_trace_json(const struct import_trace *t)
{
	json_t *reasons = json_array();

	for (uint64_t i = 0; i < t->skips.nr && i < FOREIGN_REASONS; i++)
		json_array_append_new(reasons, json_text(t->skips.first[i]));
	return json_pack("{s:o, s:I, s:s, s:I, s:I, s:o, s:I, s:I, s:I}", "file",
			 json_text(t->path), "files", (json_int_t)t->nr_files, "format",
			 t->format->name, "requests", (json_int_t)t->nr_requests, "skipped",
			 (json_int_t)t->skips.nr, "skipped_first", reasons, "out_of_order",
			 (json_int_t)t->nr_late, "unaligned", (json_int_t)t->nr_unaligned,
			 "without_response_time", (json_int_t)t->nr_untimed);
}

static json_t *import_device_json(const struct import_device *d)
{
	json_t *requests = json_object();
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu32 ":%" PRIu32, device_major(d->number),
		 device_minor(d->number));
	for (unsigned int op = 0; op < NR_OPERATIONS; op++)
		json_object_set_new(requests, operation_name(op),
				    json_integer((json_int_t)d->requests[op]));
	return json_pack("{s:s, s:s, s:o, s:I}", "device", number, "device_name", d->name,
			 "requests", requests, "with_response_time", (json_int_t)d->nr_timed);
}

static json_t *import_host_json(const struct import_result *r, uint32_t at)
{
	const struct import_host *h = &r->hosts[at];
	json_t *devices = json_array();

	for (size_t i = 0; i < r->nr_devices; i++)
		if (r->devices[i].host == at)
			json_array_append_new(devices, import_device_json(&r->devices[i]));
	return json_pack("{s:s, s:s, s:I, s:f, s:f, s:o, s:o}", "host", h->name, "trace",
			 h->boot_id, "requests", (json_int_t)h->nr_requests, "begin_s",
			 (double)h->begin_real_ns / 1e9, "end_s", (double)h->end_real_ns / 1e9,
			 "clock_resolution_s",
			 h->resolution_ns ? json_real((double)h->resolution_ns / 1e9) : json_null(),
			 "devices", devices);
}

json_t *import_json(const struct import_result *r)
{
	json_t *traces = json_array(), *hosts = json_array();

	for (size_t i = 0; i < r->nr_traces; i++)
		json_array_append_new(traces, import_trace_json(&r->traces[i]));
	for (uint32_t i = 0; i < r->nr_hosts; i++)
		json_array_append_new(hosts, import_host_json(r, i));
	return json_pack("{s:s, s:I, s:I, s:I, s:b, s:{s:I, s:I, s:I}, s:o, s:o}", "schema",
			 "blkcast.import/1", "requests", (json_int_t)r->nr_requests, "records",
			 (json_int_t)r->nr_records, "skipped", (json_int_t)r->nr_skipped,
			 "wall_clock", r->wall, "segments", "stored",
			 (json_int_t)r->stored.nr_stored, "repeated",
			 (json_int_t)r->stored.nr_repeated, "stored_bytes",
			 (json_int_t)r->stored.stored_bytes, "traces", traces, "hosts", hosts);
}

bool import_is_timeless(const struct import_result *r)
{
	for (size_t i = 0; i < r->nr_traces; i++)
		if (!(r->traces[i].format->traits & FOREIGN_TIMELESS))
			return false;
	return r->nr_traces > 0;
}

int import_print(const struct import_result *r, bool utc, FILE *out)
{
	char begin[UNITS_BYTES], span[UNITS_BYTES], tick[UNITS_BYTES];
	struct grid g;
	int ret;

	grid_init(&g, "host|device|>reads|>writes|>other|>response times|begin|>length|>clock");
	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct import_device *d = &r->devices[i];
		const struct import_host *h = &r->hosts[d->host];

		grid_cell(&g, "%s", h->name);
		grid_cell(&g, "%s", d->name);
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_READ]);
		grid_cell(&g, "%" PRIu64, d->requests[OPERATION_WRITE]);
		grid_cell(&g, "%" PRIu64,
			  d->requests[OPERATION_DISCARD] + d->requests[OPERATION_FLUSH] +
				  d->requests[OPERATION_OTHER]);
		grid_cell(&g, "%s", d->nr_timed ? "yes" : "none");
		grid_cell(&g, "%s", r->wall ? units_instant(h->begin_real_ns, utc, 3, begin) : "-");
		units_time((double)(h->end_real_ns - h->begin_real_ns) / 1e9, span);
		grid_cell(&g, "%s", import_is_timeless(r) ? "-" : span);
		grid_cell(&g, "%s",
			  h->resolution_ns ? units_time((double)h->resolution_ns / 1e9, tick)
					   : "-");
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

/* Tells how many reads and writes have no response time, and why. */
static void import_tell_untimed(const struct import_trace *t, const struct teller *teller)
{
	const char *why = "the trace does not tell it";

	if (t->nr_untimed == 0)
		return;
	if (t->format->traits & FOREIGN_TIMELESS)
		why = "the format has no times";
	else if (t->nr_zero_times)
		why = t->nr_zero_times == t->nr_requests
			      ? "all that the trace tells are 0 s, as where nobody measured them"
			      : "the trace has none of them, or one of 0 s before the first "
				"above 0 s";
	else if (t->format->next)
		why = "the trace does not hold both their beginning and their completion";
	teller_note(teller,
		    "%s: %" PRIu64 " of %" PRIu64 " reads and writes have no response time: %s",
		    t->path, t->nr_untimed, t->nr_data, why);
}

void import_tell_skipped(const struct import_result *r, const struct teller *teller)
{
	for (size_t i = 0; i < r->nr_traces; i++)
		for (uint64_t k = 1; k < r->traces[i].skips.nr && k < FOREIGN_REASONS; k++)
			teller_note(teller, "skipped: %s", r->traces[i].skips.first[k]);
}

void import_tell(const struct import_result *r, const struct teller *teller)
{
	for (size_t i = 0; i < r->nr_traces; i++) {
		const struct import_trace *t = &r->traces[i];

		teller_note(teller, "%s: %s, %" PRIu64 " requests, %" PRIu64 " records skipped",
			    t->path, t->format->name, t->nr_requests, t->skips.nr);
		for (uint64_t k = 0; k < t->skips.nr && k < FOREIGN_REASONS; k++)
			teller_note(teller, "skipped: %s", t->skips.first[k]);
		if (t->nr_late)
			teller_note(teller, "%" PRIu64 " requests came too late to be put in order",
				    t->nr_late);
		if (t->nr_unaligned)
			teller_note(teller, "%" PRIu64 " offsets are no whole sector: rounded down",
				    t->nr_unaligned);
		if (t->format->traits & FOREIGN_NO_OPERATION)
			teller_note(
				teller,
				"the format does not tell reads from writes: they count as other");
		if (t->format->traits & FOREIGN_TIMELESS)
			teller_note(teller, "the format has no times: intensity is unknown");
		if (t->note[0])
			teller_note(teller, "%s", t->note);
		import_tell_untimed(t, teller);
	}
	if (r->nr_requests && !r->wall && !import_is_timeless(r))
		teller_note(teller,
			    "the trace has no time of day: it is kept as it counts, from 1970 "
			    "on, or from the time that was given for its first request");
	if (r->stored.nr_repeated)
		teller_note(teller, "%" PRIu64 " of %" PRIu64 " segments were in the store already",
			    r->stored.nr_repeated, r->stored.nr_repeated + r->stored.nr_stored);
}
