// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/profile_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "base/text/shown.h"
#include "base/text/units.h"

#define SHOWN_NAME_BYTES (4 * PROFILE_NAME_BYTES)
#define SIZES_SHOWN	 5
#define CACHE_SHOWN	 6
/*
 * A request counts as followed by more of its kind where at least half of the requests are (eq.
 * 5.13).
 */
#define SEQUENTIAL_RATIO 0.5

static const char *profile_text_percent(double ratio, char out[UNITS_BYTES])
{
	if (isnan(ratio))
		snprintf(out, UNITS_BYTES, "-");
	else
		snprintf(out, UNITS_BYTES, "%.1f %%", ratio * 100);
	return out;
}

static uint64_t when_ns(double seconds)
{
	return seconds > 0 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

/* Formats a count, or "-" where the profile does not know it. */
static const char *profile_text_count(const struct profile *p, uint32_t unknown, uint64_t nr,
				      char out[UNITS_BYTES])
{
	if (p->unknown & unknown)
		snprintf(out, UNITS_BYTES, "-");
	else
		snprintf(out, UNITS_BYTES, "%" PRIu64, nr);
	return out;
}

static double profile_text_rate(uint64_t nr, const struct profile *p)
{
	return profile_is_timeless(p) ? NAN : (double)nr / profile_rate_s(p);
}

/* Prints which part of the period has no requests left, or never had them. */
static void print_retention(const struct profile *p, bool utc, FILE *out)
{
	json_t *all = p->source_detail ? json_loads(p->source_detail, 0, NULL) : NULL;
	const json_t *part = json_object_get(all, "retention");
	char begin[UNITS_BYTES], end[UNITS_BYTES];

	if (part) {
		units_instant(when_ns(json_number_value(json_object_get(part, "begin_s"))), utc, 0,
			      begin);
		units_instant(when_ns(json_number_value(json_object_get(part, "end_s"))), utc, 0,
			      end);
		fprintf(out, "of which %lld requests of %s to %s are merged from summaries\n",
			(long long)json_integer_value(json_object_get(part, "summarized_requests")),
			begin, end);
	}
	part = json_object_get(all, "kept_back");
	if (part)
		fprintf(out,
			"of which %lld requests were kept back, so that only profiles count them\n",
			(long long)json_integer_value(json_object_get(part, "requests")));
	json_decref(all);
}

static void print_head(const struct profile *p, bool utc, FILE *out)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES], span[UNITS_BYTES];
	char host[SHOWN_NAME_BYTES], name[SHOWN_NAME_BYTES], device[SHOWN_NAME_BYTES];
	char why[4 * PROFILE_WHY_BYTES];

	units_instant(when_ns(p->begin_s), utc, 0, begin);
	units_instant(when_ns(p->end_s), utc, 0, end);
	units_time(p->end_s - p->begin_s, span);
	fprintf(out, "%s %s (%s), source %s, layer %s\n", shown(p->host, host, sizeof(host)),
		*p->device_name ? shown(p->device_name, name, sizeof(name)) : "-",
		*p->device ? shown(p->device, device, sizeof(device)) : "several",
		source_name(p->source), layer_name(p->layer));
	if (profile_is_timeless(p))
		fprintf(out, "without times: the source tells an order of requests\n");
	else
		fprintf(out, "%s to %s (%s)\n", begin, end, span);
	print_retention(p, utc, out);
	fprintf(out, "grade %c%s%s\n\n", p->quality.grade ? p->quality.grade : '-',
		*p->quality.why ? ": " : "", shown(p->quality.why, why, sizeof(why)));
}

static void print_pauses(const struct profile *p, FILE *out)
{
	char length[UNITS_BYTES];

	for (size_t i = 0; i < p->nr_pauses; i++)
		fprintf(out, "                gap: %s, %s\n", pause_cause_text(p->pauses[i].cause),
			units_time(p->pauses[i].length_s, length));
	if (p->paused_requests)
		fprintf(out,
			"                under way meanwhile, without response time: %" PRIu64 "\n",
			p->paused_requests);
}

/*
 * Prints how the load makes its data durable. Prints nothing where it does not or where this is
 * unknown.
 */
static void print_durability(const struct profile *p, FILE *out)
{
	uint64_t flushes = p->requests[OPERATION_FLUSH];
	double writes = (double)p->requests[OPERATION_WRITE];
	char rate[UNITS_BYTES], share[UNITS_BYTES], forced[UNITS_BYTES];

	if (flushes) {
		fprintf(out, "  flushes       %s/s",
			units_count((double)flushes / profile_rate_s(p), rate));
		if (!(p->unknown & UNKNOWN_DURABILITY))
			fprintf(out, ", %s of them awaited by the thread that writes next",
				profile_text_percent((double)p->durability.awaited_flushes /
							     (double)flushes,
						     share));
		fputc('\n', out);
	}
	if (p->durability.forced_writes || p->durability.flushing_writes)
		fprintf(out, "  durable       %s of the writes are forced (FUA), %s flush before\n",
			profile_text_percent((double)p->durability.forced_writes / writes, forced),
			profile_text_percent((double)p->durability.flushing_writes / writes,
					     share));
}

static void print_requests(const struct profile *p, FILE *out)
{
	uint64_t reads = p->requests[OPERATION_READ], writes = p->requests[OPERATION_WRITE];
	double data = (double)(reads + writes);
	char read[UNITS_BYTES], write[UNITS_BYTES], errors[UNITS_BYTES], requeues[UNITS_BYTES];
	char threads[UNITS_BYTES], own[UNITS_BYTES];

	if (profile_is_undivided(p))
		fprintf(out, "  requests      read - (-), write - (-)");
	else
		fprintf(out, "  requests      read %" PRIu64 " (%s), write %" PRIu64 " (%s)", reads,
			profile_text_percent(data > 0 ? (double)reads / data : NAN, read), writes,
			profile_text_percent(data > 0 ? (double)writes / data : NAN, write));
	for (unsigned int op = OPERATION_DISCARD; op < NR_OPERATIONS; op++)
		if (p->requests[op])
			fprintf(out, ", %s %" PRIu64, operation_name(op), p->requests[op]);
	fprintf(out,
		"\n                lost %" PRIu64
		", errors %s, requeues %s, by kernel threads %s, the agent's own %s\n",
		p->lost, profile_text_count(p, UNKNOWN_ERRORS, p->errors, errors),
		profile_text_count(p, UNKNOWN_REQUEUES, p->requeues, requeues),
		profile_text_count(p, UNKNOWN_KERNEL_THREAD, p->kernel_thread_requests, threads),
		profile_text_count(p, UNKNOWN_OWN, p->own_requests, own));
	if (profile_untimed_requests(p) > 0)
		fprintf(out, "                without response time: %.0f (%s)\n",
			profile_untimed_requests(p), units_share(profile_untimed_ratio(p), read));
	print_pauses(p, out);
	print_durability(p, out);
	if (profile_is_undivided(p))
		fprintf(out, "  throughput    %s/s, reads and writes not told apart\n",
			units_bytes(profile_text_rate(profile_data_bytes(p), p), read));
	else
		fprintf(out, "  throughput    read %s/s, write %s/s\n",
			units_bytes(profile_text_rate(p->bytes[OPERATION_READ], p), read),
			units_bytes(profile_text_rate(p->bytes[OPERATION_WRITE], p), write));
}

static void print_intensity(const struct profile *p, FILE *out)
{
	char a[UNITS_BYTES], b[UNITS_BYTES], c[UNITS_BYTES], span[UNITS_BYTES];
	char why[PROFILE_WHY_BYTES];
	const char *comma = "";

	units_time(p->open.interarrival_mean_s, span);
	/*
	 * The rate is over the whole period, which may begin or end idle. The time between
	 * arrivals is that from the first to the last.
	 */
	fprintf(out,
		"  arrivals      %s per second of the whole time, %s apart from the first to the "
		"last (SCV %s, lag-1 %s)\n",
		units_count(p->open.rate_per_s, a), span, units_count(p->open.interarrival_scv, b),
		units_count(p->open.lag1_autocorrelation, c));
	fprintf(out, "  burstiness    index of dispersion ");
	for (size_t i = 0; i < p->open.nr_idc; i++) {
		units_time(p->open.idc[i].window_s, span);
		fprintf(out, "%s%s at %s", comma, units_count(p->open.idc[i].idc, a), span);
		comma = ", ";
	}
	fprintf(out, "%s\n", p->open.nr_idc ? "" : "-");
	if (profile_refused(p, why))
		fprintf(out, "                %s\n", why);
	units_time(p->closed.think_time_mean_s, span);
	fprintf(out, "  concurrency   %s in flight on average, %s clients",
		units_count(p->closed.in_flight_mean, a), units_count(p->closed.clients_mean, b));
	fprintf(out, ", think time %s\n", span);
}

static void print_sizes(const char *name, const struct direction_profile *d, uint64_t nr, FILE *out)
{
	bool shown[256] = { false };
	char mean[UNITS_BYTES], size[UNITS_BYTES], share[UNITS_BYTES];
	size_t nr_sizes = d->nr_sizes < 256 ? d->nr_sizes : 256;

	fprintf(out, "  %s  %s on average", name, units_bytes(d->size_mean_bytes, mean));
	for (int k = 0; k < SIZES_SHOWN; k++) {
		size_t best = nr_sizes;

		for (size_t i = 0; i < nr_sizes; i++)
			if (!shown[i] &&
			    (best == nr_sizes || d->sizes[i].count > d->sizes[best].count))
				best = i;
		if (best == nr_sizes)
			break;
		shown[best] = true;
		fprintf(out, "%s %s %s", k ? "," : ":", units_bytes(d->sizes[best].bytes, size),
			profile_text_percent((double)d->sizes[best].count / (double)nr, share));
	}
	fputc('\n', out);
}

static void print_pattern(const char *name, double sequential, double stream, FILE *out)
{
	char a[UNITS_BYTES], b[UNITS_BYTES];

	if (isnan(sequential))
		return;
	fprintf(out, "  %s %s: %s interleaved-sequential, %s in streams\n", name,
		sequential >= SEQUENTIAL_RATIO ? "sequential" : "random",
		profile_text_percent(sequential, a), profile_text_percent(stream, b));
}

/* Names a quantile by the upper end of its bucket. */
static const char *print_arrival_quantile(const struct arrival_tally *t, enum arrival_kind kind,
					  double p, char out[UNITS_BYTES])
{
	int64_t bucket;

	if (!arrival_tally_quantile(t, p, &bucket))
		return "-";
	if (kind == TALLY_INTERARRIVAL)
		units_time(histogram_bucket_end_s((int)bucket), out);
	else if (bucket == TALLY_OUTSTANDING_MORE)
		snprintf(out, UNITS_BYTES, "more than %d", TALLY_OUTSTANDING_MOST);
	else
		snprintf(out, UNITS_BYTES, "%" PRId64, bucket);
	return out;
}

static void print_arrivals(const char *name, const struct arrival_tally tallies[NR_TALLIES],
			   FILE *out)
{
	const struct arrival_tally *others = &tallies[TALLY_OUTSTANDING];
	const struct arrival_tally *gaps = &tallies[TALLY_INTERARRIVAL];
	const struct arrival_tally *seeks = &tallies[TALLY_SEEK];
	char a[UNITS_BYTES], b[UNITS_BYTES];

	if (!others->nr && !seeks->nr)
		return;
	fprintf(out, "  %s p50 %s, p95 %s others under way", name,
		print_arrival_quantile(others, TALLY_OUTSTANDING, 0.5, a),
		print_arrival_quantile(others, TALLY_OUTSTANDING, 0.95, b));
	fprintf(out, "; p50 %s, p95 %s after the one before\n",
		print_arrival_quantile(gaps, TALLY_INTERARRIVAL, 0.5, a),
		print_arrival_quantile(gaps, TALLY_INTERARRIVAL, 0.95, b));
	fprintf(out, "                %s begin where the one before ended, %s within 128 KiB\n",
		profile_text_percent(arrival_tally_share(seeks, 0, 0), a),
		profile_text_percent(
			arrival_tally_share(seeks, -TALLY_NEAR_SECTORS, TALLY_NEAR_SECTORS), b));
}

static void print_distribution(const struct access_distribution *d, FILE *out)
{
	char a[UNITS_BYTES], b[UNITS_BYTES], c[UNITS_BYTES];

	if (d->kind == DISTRIBUTION_UNKNOWN)
		return;
	fprintf(out, "  accesses      ");
	if (d->kind == DISTRIBUTION_UNIFORM)
		fprintf(out, "uniform");
	else if (d->kind == DISTRIBUTION_GAUSSIAN)
		fprintf(out, "gaussian, centre at %s, deviation %s of the range",
			profile_text_percent(d->mean_ratio, a),
			profile_text_percent(d->deviation_ratio, b));
	else
		fprintf(out, "zipf, exponent %s", units_count(d->exponent, a));
	fprintf(out, " (KS distance %s); busiest 10 %% of the regions take %s, 20 %% %s\n",
		units_count(d->ks_distance, a), profile_text_percent(d->top_10_ratio, b),
		profile_text_percent(d->top_20_ratio, c));
}

static void print_locality(const struct profile *p, FILE *out)
{
	char a[UNITS_BYTES], b[UNITS_BYTES], c[UNITS_BYTES];
	size_t nr = p->locality.nr_miss_ratio;
	size_t shown = nr < CACHE_SHOWN ? nr : CACHE_SHOWN;

	fprintf(out, "  footprint     %s touched\n", units_bytes(p->locality.footprint_bytes, a));
	if (!isnan(p->locality.file_count_mean))
		fprintf(out, "  file set      %s files of %s, %s in all\n",
			units_count(p->locality.file_count_mean, a),
			units_bytes(p->locality.file_size_mean_bytes, b),
			units_bytes(p->locality.file_set_size_mean_bytes, c));
	print_distribution(&p->locality.distribution, out);
	for (size_t k = 0; k < shown; k++) {
		size_t i = shown > 1 ? k * (nr - 1) / (shown - 1) : 0;
		const struct cache_point *m = &p->locality.miss_ratio[i];

		fprintf(out, "%s %s %s", k ? "," : "  cache misses ",
			units_bytes((double)m->cache_bytes, a),
			profile_text_percent(m->miss_ratio, b));
	}
	if (shown && p->locality.miss_ratio_sampled_ratio < 1)
		fprintf(out, "; from %" PRIu32 " sampled blocks, one in %s",
			p->locality.nr_miss_ratio_samples,
			units_count(1 / p->locality.miss_ratio_sampled_ratio, a));
	if (shown)
		fputc('\n', out);
}

/*
 * Prints the row of a stage that is known from counters only: its mean and its number of requests.
 */
static void counted_row(struct grid *g, const char *name, double mean_s, uint64_t nr)
{
	char span[UNITS_BYTES];

	grid_cell(g, "  %s", name);
	grid_cell(g, "%" PRIu64, nr);
	units_time(mean_s, span);
	grid_cell(g, "%s", span);
	for (int i = 0; i < 7; i++)
		grid_cell(g, "-");
}

static void response_row(struct grid *g, const char *name, const struct histogram *h)
{
	static const double quantiles[] = { 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999 };
	char span[UNITS_BYTES];

	grid_cell(g, "  %s", name);
	grid_cell(g, "%" PRIu64, h->nr);
	units_time(histogram_mean_s(h), span);
	grid_cell(g, "%s", span);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		units_time(histogram_quantile_s(h, quantiles[i]), span);
		grid_cell(g, "%s", span);
	}
	units_time(h->nr ? (double)h->max_ns / 1e9 : NAN, span);
	grid_cell(g, "%s", span);
}

static void response_rows(struct grid *g, const char *name, const struct response_times *r,
			  uint64_t nr)
{
	static const enum stage order[] = { STAGE_TOTAL, STAGE_QUEUE, STAGE_DEVICE };

	for (int k = 0; k < NR_STAGES; k++) {
		const struct histogram *h = &r->stage[order[k]];
		bool is_counted = !h->nr && order[k] == STAGE_TOTAL && !isnan(r->total_mean_s);
		char row[32];

		snprintf(row, sizeof(row), "%s %s", name, stage_name(order[k]));
		if (is_counted)
			counted_row(g, row, r->total_mean_s, nr);
		else if (h->nr)
			response_row(g, row, h);
	}
}

static int print_responses(const struct profile *p, FILE *out)
{
	struct grid g;
	int ret;

	grid_init(&g, "  response time|>count|>mean|>p50|>p90|>p95|>p99|>p99.9|>p99.99|>max");
	response_rows(&g, "read", &p->read.response, p->requests[OPERATION_READ]);
	response_rows(&g, "write", &p->write.response, p->requests[OPERATION_WRITE]);
	response_rows(&g, "flush", &p->flush, p->requests[OPERATION_FLUSH]);
	fputc('\n', out);
	ret = g.nr_cells > g.nr_columns ? grid_print(&g, out) : 0;
	grid_release(&g);
	return ret;
}

int profile_text_print(const struct profile *p, bool utc, FILE *out)
{
	print_head(p, utc, out);
	print_requests(p, out);
	print_intensity(p, out);
	if (p->requests[OPERATION_READ])
		print_sizes("read size   ", &p->read, p->requests[OPERATION_READ], out);
	if (p->requests[OPERATION_WRITE])
		print_sizes("write size  ", &p->write, p->requests[OPERATION_WRITE], out);
	print_pattern("read pattern ", p->read.sequential_ratio, p->read.stream_ratio, out);
	print_pattern("write pattern", p->write.sequential_ratio, p->write.stream_ratio, out);
	print_pattern("all          ", p->all_sequential_ratio, p->all_stream_ratio, out);
	print_arrivals("reads found  ", p->read.arrivals, out);
	print_arrivals("writes found ", p->write.arrivals, out);
	print_arrivals("all found    ", p->undivided_arrivals, out);
	print_locality(p, out);
	return print_responses(p, out);
}

/*
 * The columns of a line. A line is written for each window of a day, so that its cells are padded
 * here: printf() took most of the time.
 */
enum line_column {
	LINE_BEGIN,
	LINE_HOST,
	LINE_DEVICE,
	LINE_READS,
	LINE_WRITES,
	LINE_READ,
	LINE_WRITTEN,
	LINE_READ_P95,
	LINE_WRITE_P95,
	LINE_IN_FLIGHT,
	LINE_GRADE,
	NR_LINE_COLUMNS,
};

static const struct {
	const char *title;
	size_t bytes;
	bool is_name; /* begins at the left */
} line_columns[NR_LINE_COLUMNS] = {
	[LINE_BEGIN] = { "begin", 29, true },	      [LINE_HOST] = { "host", 10, true },
	[LINE_DEVICE] = { "device", 8, true },	      [LINE_READS] = { "reads/s", 9, false },
	[LINE_WRITES] = { "writes/s", 9, false },     [LINE_READ] = { "read/s", 10, false },
	[LINE_WRITTEN] = { "written/s", 10, false },  [LINE_READ_P95] = { "read p95", 9, false },
	[LINE_WRITE_P95] = { "write p95", 9, false }, [LINE_IN_FLIGHT] = { "in flight", 8, false },
	[LINE_GRADE] = { "grade", 6, false },
};

static void put_line_cell(enum line_column column, const char *text, FILE *out)
{
	static const char blanks[] = "                             ";
	size_t nr = strlen(text), bytes = line_columns[column].bytes;
	size_t padding = nr < bytes ? bytes - nr : 0;

	if (!line_columns[column].is_name)
		fwrite(blanks, 1, padding, out);
	fwrite(text, 1, nr, out);
	if (line_columns[column].is_name)
		fwrite(blanks, 1, padding, out);
	fputc(column + 1 < NR_LINE_COLUMNS ? ' ' : '\n', out);
}

void profile_text_line_head(FILE *out)
{
	for (enum line_column i = 0; i < NR_LINE_COLUMNS; i++)
		put_line_cell(i, line_columns[i].title, out);
}

static void put_line_p95(enum line_column column, const struct direction_profile *d, FILE *out)
{
	char cell[UNITS_BYTES];

	units_time(histogram_quantile_s(&d->response.stage[STAGE_TOTAL], 0.95), cell);
	put_line_cell(column, cell, out);
}

static void put_line_begin(const struct profile *p, bool utc, FILE *out)
{
	uint64_t begin_ns = when_ns(p->begin_s);
	char cell[UNITS_BYTES];

	if (profile_is_timeless(p))
		put_line_cell(LINE_BEGIN, "-", out);
	else
		put_line_cell(LINE_BEGIN,
			      units_instant(begin_ns, utc, begin_ns % 1000000000 ? 3 : 0, cell),
			      out);
}

void profile_text_line(const struct profile *p, bool utc, FILE *out)
{
	const char grade[] = { p->quality.grade ? p->quality.grade : '-', '\0' };
	char name[SHOWN_NAME_BYTES], cell[UNITS_BYTES];
	double reads = profile_text_rate(p->requests[OPERATION_READ], p);
	double writes = profile_text_rate(p->requests[OPERATION_WRITE], p);
	double read_bytes = profile_text_rate(p->bytes[OPERATION_READ], p);
	double written_bytes = profile_text_rate(p->bytes[OPERATION_WRITE], p);

	put_line_begin(p, utc, out);
	put_line_cell(LINE_HOST, shown(p->host, name, sizeof(name)), out);
	put_line_cell(LINE_DEVICE, shown(p->device_name, name, sizeof(name)), out);
	put_line_cell(LINE_READS, units_count(reads, cell), out);
	put_line_cell(LINE_WRITES, units_count(writes, cell), out);
	put_line_cell(LINE_READ, units_bytes(read_bytes, cell), out);
	put_line_cell(LINE_WRITTEN, units_bytes(written_bytes, cell), out);
	put_line_p95(LINE_READ_P95, &p->read, out);
	put_line_p95(LINE_WRITE_P95, &p->write, out);
	put_line_cell(LINE_IN_FLIGHT, units_count(p->closed.in_flight_mean, cell), out);
	put_line_cell(LINE_GRADE, grade, out);
}
