// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/curve/bins.h"

#include <errno.h>
#include <stdio.h>

#define US 1000ull
#define MS 1000000ull

/*
 * Inclusive upper ends of the bins; the last bin is open. All ends but those of flushes are ends of
 * buckets of the tallies, so that the sums are exact. Times between arrivals end at powers of two
 * of a second, near the limits that vscsiStats has; distances at powers of two of a sector.
 */
static const int64_t bins_counts_to[MIRROR_BINS - 1] = { 0,  1,	 2,   4,   8,	16,
							 32, 64, 128, 256, 512, 1024 };
static const int64_t bins_gaps_to[MIRROR_BINS - 1] = { -17 * 32, -14 * 32, -13 * 32, -11 * 32,
						       -10 * 32, -8 * 32,  -6 * 32,  -5 * 32,
						       -4 * 32,	 -3 * 32,  -1 * 32,  0 };
/* A distance has these bins on both sides of 0: 64 KiB, 1 MiB, 32 MiB, 1 GiB and 32 GiB. */
static const int64_t bins_seeks_to[MIRROR_BINS - 1] = {
	-(1ll << 26) - 1,
	-(1ll << 21) - 1,
	-(1ll << 16) - 1,
	-(1ll << 11) - 1,
	-(1ll << 7) - 1,
	-1,
	0,
	1ll << 7,
	1ll << 11,
	1ll << 16,
	1ll << 21,
	1ll << 26,
};
static const int64_t bins_times_to_ns[MIRROR_BINS - 1] = {
	10 * US, 50 * US, 100 * US, 500 * US, MS,	5 * MS,
	15 * MS, 30 * MS, 50 * MS,  100 * MS, 500 * MS, 1000 * MS,
};

static const char *const bins_labels[NR_BINS][MIRROR_BINS] = {
	[BINS_SEEK] = { "<-32G", "-32G", "-1G", "-32M", "-1M", "-64K", "0", "64K", "1M", "32M",
			"1G", "32G", ">32G" },
	[BINS_OUTSTANDING] = { "0", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512",
			       "1024", ">1024" },
	[BINS_INTERARRIVAL] = { "7.6µs", "61µs", "122µs", "488µs", "977µs", "3.9ms", "16ms", "31ms",
				"63ms", "125ms", "500ms", "1s", ">1s" },
	[BINS_FLUSH] = { "10µs", "50µs", "100µs", "500µs", "1ms", "5ms", "15ms", "30ms", "50ms",
			 "100ms", "500ms", "1s", ">1s" },
};

static const char *const bins_names[NR_BINS] = { "seek", "outstanding", "interarrival", "flush" };

const char *bins_name(enum bins_kind kind)
{
	return bins_names[kind];
}

const char *bins_label(enum bins_kind kind, unsigned int bin)
{
	return bins_labels[kind][bin];
}

static unsigned int bins_at(const int64_t *ends, int64_t value)
{
	unsigned int bin = 0;

	while (bin < MIRROR_BINS - 1 && value > ends[bin])
		bin++;
	return bin;
}

void bins_add_flushes(struct bins *s, const struct histogram *times)
{
	for (int b = histogram_next(times, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
	     b = histogram_next(times, b + 1)) {
		int64_t ns = (int64_t)(histogram_bucket_end_s(b) * 1e9);

		s->counts[BINS_FLUSH][0][bins_at(bins_times_to_ns, ns)] +=
			(double)histogram_count(times, b);
	}
}

void bins_add_tallies(struct bins *s, const struct arrival_tally tallies[NR_TALLIES], int side)
{
	static const struct {
		enum bins_kind kind;
		const int64_t *ends;
	} of[NR_TALLIES] = { [TALLY_OUTSTANDING] = { BINS_OUTSTANDING, bins_counts_to },
			     [TALLY_INTERARRIVAL] = { BINS_INTERARRIVAL, bins_gaps_to },
			     [TALLY_SEEK] = { BINS_SEEK, bins_seeks_to } };

	for (int t = 0; t < NR_TALLIES; t++)
		for (size_t i = 0; i < tallies[t].nr; i++) {
			const struct arrival_tally_count *c = &tallies[t].counts[i];
			unsigned int bin = bins_at(of[t].ends, c->bucket);

			s->counts[of[t].kind][side][bin] += (double)c->count;
		}
}

void bins_add_profile(struct bins *s, const struct profile *p)
{
	bins_add_tallies(s, p->read.arrivals, 0);
	bins_add_tallies(s, p->undivided_arrivals, 0);
	bins_add_tallies(s, p->write.arrivals, 1);
	bins_add_flushes(s, &p->flush.stage[STAGE_TOTAL]);
}

int bins_draw(const struct bins *s, enum bins_kind kind, const struct view *v, struct buf *out)
{
	static const char *const titles[] = { "Distance between requests",
					      "Requests under way at arrival",
					      "Time between arrivals",
					      "Response times of flushes" };
	static const char *const x_names[] = { "bytes from the end of the previous request, up to",
					       "other requests of the device, up to",
					       "since the previous arrival, up to",
					       "response time, up to" };
	double counts[2][MIRROR_BINS];
	char text[200];
	struct mirror m = { .labels = bins_labels[kind],
			    .counts = counts,
			    .range = counts,
			    .of = kind == BINS_FLUSH ? "flushes" : "requests",
			    .up = kind == BINS_FLUSH ? "flushes" : "reads",
			    .down = kind == BINS_FLUSH ? "" : "writes",
			    .title = titles[kind],
			    .text = text,
			    .x_name = x_names[kind] };

	for (int side = 0; side < 2; side++)
		for (unsigned int b = 0; b < MIRROR_BINS; b++)
			counts[side][b] = s->counts[kind][side][b];
	snprintf(text, sizeof(text), "Bars of shares; the largest bar is %.1f %% of all %s.",
		 mirror_most(&m) * 100, m.of);
	return mirror_draw(&m, v, out);
}

int bins_csv(const struct bins *s, enum bins_kind kind, struct buf *out)
{
	bool is_flush = kind == BINS_FLUSH;

	buf_printf(out, is_flush ? "up_to,flushes\n" : "up_to,read_requests,write_requests\n");
	for (unsigned int b = 0; b < MIRROR_BINS; b++) {
		const double reads = s->counts[kind][0][b], writes = s->counts[kind][1][b];

		if (reads + writes <= 0)
			continue;
		buf_printf(out, "%s,%.0f", bins_labels[kind][b], reads);
		if (is_flush)
			buf_printf(out, "\n");
		else
			buf_printf(out, ",%.0f\n", writes);
	}
	return out->error;
}
