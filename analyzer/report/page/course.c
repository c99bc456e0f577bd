/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/page/course.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/phase.h"
#include "analyzer/report/draw/label.h"

#define MOST_COLUMNS   100 /* A phase is then at least 3 % of the period. */
#define FEWEST_COLUMNS 4   /* Fewer columns cannot show two phases. */
#define PER_COLUMN     20  /* With fewer requests a column's kind would be chance. */
#define DAY_S	       86400
#define SLOW_RATIO     0.01
#define SLOW_REQUESTS  100 /* With fewer requests, 1 % of a column would be less than one. */

static double course_watched_s(const struct report *r, uint64_t begin_ns, uint64_t end_ns,
			       bool has_requests)
{
	uint64_t from = begin_ns > r->begin_ns ? begin_ns : r->begin_ns;
	uint64_t to = end_ns < r->end_ns ? end_ns : r->end_ns;

	if (from >= to)
		return has_requests ? (double)(end_ns - begin_ns) * 1e-9 : 0;
	return (double)gaps_watched_ns(r->common.items, r->common.nr, from, to, has_requests) *
	       1e-9;
}

static void course_column(const struct report *r, const struct timegrid *load,
			  const struct timegrid *sequence, size_t column, struct phase_column *c)
{
	uint64_t at = load->first + column, begin_ns = at * load->step_ns;
	const uint64_t *cells = timegrid_column(load, column);

	for (unsigned int class = 0; class < NR_SIZE_CLASSES; class ++) {
		c->reads += (double)cells[intensity_row(INTENSITY_REQUESTS, class, false)];
		c->writes += (double)cells[intensity_row(INTENSITY_REQUESTS, class, true)];
		c->bytes += (double)cells[intensity_row(INTENSITY_BYTES, class, false)] +
			    (double)cells[intensity_row(INTENSITY_BYTES, class, true)];
	}
	c->requests = c->reads + c->writes;
	c->begin_s = (double)begin_ns * 1e-9;
	c->end_s = (double)(begin_ns + load->step_ns) * 1e-9;
	c->watched_s = course_watched_s(r, begin_ns, begin_ns + load->step_ns, c->requests > 0);
	if (sequence->step_ns == load->step_ns && at >= sequence->first &&
	    at - sequence->first < sequence->nr) {
		c->sequential =
			sequence_counted(timegrid_column(sequence, (size_t)(at - sequence->first)));
		c->sequential_of = c->requests;
	}
}

/*
 * Returns the width of columns that have per_column requests on average or more; 0 where the trace
 * is too short for them.
 */
static uint64_t course_step_ns(const struct report *r, const struct timegrid *g,
			       uint64_t per_column)
{
	uint64_t most = r->collect->nr_requests / per_column, step_ns, least_ns;

	if (most < FEWEST_COLUMNS || g->nr == 0)
		return 0;
	step_ns = timegrid_step_for(g, most < MOST_COLUMNS ? (size_t)most : MOST_COLUMNS);
	/*
	 * For retired requests only the sums of whole periods are known, and no course within a
	 * period.
	 */
	least_ns = timegrid_round_ns(r->collect->retired.longest_ns);
	return r->collect->retired.nr_profiles && step_ns < least_ns ? least_ns : step_ns;
}

/* Finds the phases; none where the trace is too short. *out is released by free(). */
static int course_phases(const struct report *r, struct phase **out, size_t *nr_out)
{
	const struct collect *c = r->collect;
	struct timegrid load = { 0 }, sequence = { 0 };
	struct phase_column *columns = NULL;
	struct view v = r->view;
	int ret;

	*nr_out = 0;
	v.step_ns = course_step_ns(r, &c->intensity.grid, PER_COLUMN);
	if (v.step_ns == 0)
		return 0;
	ret = frame_columns(&c->intensity.grid, &v, &load);
	if (ret < 0)
		goto out;
	ret = frame_columns(&c->sequence.grid, &v, &sequence);
	if (ret < 0 || load.nr < FEWEST_COLUMNS)
		goto out;
	columns = calloc(load.nr, sizeof(*columns));
	ret = columns ? 0 : -ENOMEM;
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < load.nr; i++)
		course_column(r, &load, &sequence, i, &columns[i]);
	ret = phases_find(columns, load.nr, out, nr_out);
out:
	free(columns);
	timegrid_release(&sequence);
	timegrid_release(&load);
	return ret == -ENODATA ? 0 : ret;
}

static void course_phase_words(const struct phase *p, bool is_undivided, struct buf *out)
{
	const char *access = !strcmp(p->access, "partly") ? "partly sequential" : p->access;
	const char *kind = is_undivided ? "requests" : p->kind;
	struct label length, rate, size;

	buf_printf(out, "%s", label_duration(&length, p->watched_s));
	if (!strcmp(p->kind, "idle")) {
		buf_printf(out, " almost idle");
		return;
	}
	buf_printf(out, " of %s%s%s (%s requests per second, %s each on average)", access,
		   access[0] ? " " : "", !strcmp(kind, "both") ? "reads and writes" : kind,
		   label_count(&rate, p->requests_per_s), label_bytes(&size, p->size_mean_bytes));
}

/* Says how long nobody watched between two phases, where that was whole columns. */
static void course_pause_words(const struct report *r, const struct phase *before,
			       const struct phase *after, struct buf *out)
{
	uint64_t from_ns = (uint64_t)(before->end_s * 1e9),
		 to_ns = (uint64_t)(after->begin_s * 1e9);
	uint64_t sum_ns = 0;
	struct label length;

	if (before->end == after->first)
		return;
	/* The gaps begin and end within the columns of the phases. */
	for (size_t i = 0; i < r->common.nr; i++) {
		const struct time_gap *gap = &r->common.items[i];

		if (gap->begin_ns < to_ns && gap->end_ns > from_ns)
			sum_ns += gap->end_ns - gap->begin_ns;
	}
	buf_printf(out, ", then %s that nobody watched",
		   label_duration(&length, (double)sum_ns * 1e-9));
}

static int course_phases_words(const struct report *r, struct buf *out)
{
	bool is_undivided = profile_is_undivided(&r->all);
	struct phase *phases = NULL;
	size_t nr, kept;
	int ret = course_phases(r, &phases, &nr);

	if (ret < 0 || nr == 0)
		goto out;
	kept = phases_longest(phases, nr, COURSE_PHASES);
	if (nr == 1)
		buf_printf(out, "The load was of one kind throughout: ");
	else if (kept < nr)
		buf_printf(out, "The %zu longest of %zu phases, in order of time, were ", kept, nr);
	else
		buf_printf(out, "The load had %zu phases: ", nr);
	for (size_t i = 0; i < kept; i++) {
		if (i && kept == nr)
			course_pause_words(r, &phases[i - 1], &phases[i], out);
		buf_printf(out, i ? ", then " : "");
		course_phase_words(&phases[i], is_undivided, out);
	}
	buf_printf(out, ". ");
out:
	free(phases);
	return ret;
}

/* Writes a time of day, with its date where the period is longer than a day. */
static void course_time_words(const struct report *r, uint64_t real_ns, double step_s,
			      struct buf *out)
{
	struct label date, clock;

	if ((double)(r->end_ns - r->begin_ns) * 1e-9 > DAY_S)
		buf_printf(out, "%s ", label_date(&date, real_ns, r->view.utc));
	buf_printf(out, "%s", label_clock(&clock, real_ns, step_s < 1 ? 3 : 0, r->view.utc));
}

static void course_busiest_words(const struct report *r, struct buf *out)
{
	const struct load_peak *p = &r->peaks.of[LOAD_REQUESTS];
	struct label window, rate;

	/* One window is not the busiest of several. */
	if (r->peaks.nr_windows < 2)
		return;
	buf_printf(out, "The busiest %s began at ", label_duration(&window, r->peaks.window_s));
	course_time_words(r, p->max_at_ns, r->peaks.window_s, out);
	buf_printf(out, ", with %s requests per second. ", label_count(&rate, p->max));
}

/*
 * Finds the highest row of a column of response times such that SLOW_RATIO of its requests are in
 * this row or above. *ratio becomes the share of these requests, or 0 if the column has too few
 * requests.
 */
static unsigned int course_slow_row(const uint64_t *column, double *ratio)
{
	unsigned int row = HEATMAP_ROWS - 1;
	uint64_t nr = 0, above;

	*ratio = 0;
	for (unsigned int i = 0; i < HEATMAP_ROWS; i++)
		nr += column[i];
	if (nr < SLOW_REQUESTS)
		return 0;
	above = column[row];
	while (row > 0 && (double)above < SLOW_RATIO * (double)nr)
		above += column[--row];
	*ratio = (double)above / (double)nr;
	return row;
}

/* Returns when the watched part of [begin_ns, end_ns) begins; *length_s is how long it is. */
static uint64_t course_watched_from(const struct report *r, uint64_t begin_ns, uint64_t end_ns,
				    double *length_s)
{
	uint64_t from = begin_ns;

	*length_s = course_watched_s(r, begin_ns, end_ns, true);
	for (size_t i = 0; i < r->common.nr && r->common.items[i].begin_ns <= from; i++)
		if (r->common.items[i].end_ns > from)
			from = r->common.items[i].end_ns;
	return from < end_ns ? from : begin_ns;
}

static int course_slowest_words(const struct report *r, struct buf *out)
{
	unsigned int worst = 0;
	double worst_ratio = 0;
	struct label length, share, time;
	struct timegrid g;
	size_t worst_at = 0;
	struct view v = r->view;
	int ret;

	v.step_ns = course_step_ns(r, &r->collect->heatmap.grid, 2 * SLOW_REQUESTS);
	if (v.step_ns == 0)
		return 0;
	ret = frame_columns(&r->collect->heatmap.grid, &v, &g);
	if (ret < 0)
		return ret == -ENODATA ? 0 : ret;
	for (size_t c = 0; c < g.nr; c++) {
		double ratio;
		unsigned int row = course_slow_row(timegrid_column(&g, c), &ratio);

		if (row > worst || (row == worst && ratio > worst_ratio)) {
			worst = row;
			worst_ratio = ratio;
			worst_at = c;
		}
	}
	if (worst > 0) {
		uint64_t at = timegrid_begin_ns(&g) + worst_at * g.step_ns;
		double length_s;

		at = course_watched_from(r, at, at + g.step_ns, &length_s);
		buf_printf(out, "The slowest %s began at ", label_duration(&length, length_s));
		course_time_words(r, at, length_s, out);
		buf_printf(out, ": %s of the requests that arrived then took %s or longer.",
			   label_percent(&share, worst_ratio),
			   label_duration(&time, (double)heatmap_row_begin_ns(worst) * 1e-9));
	}
	timegrid_release(&g);
	return 0;
}

int course_words(const struct report *r, struct buf *out)
{
	int ret = course_phases_words(r, out);

	if (ret < 0)
		return ret;
	course_busiest_words(r, out);
	ret = course_slowest_words(r, out);
	/* Each part ends with a space for the next. */
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	return ret < 0 ? ret : out->error;
}
