// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/collect/slo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/report.h"
#include "analyzer/whatif/headroom/headroom.h"
#include "base/text/units.h"

#define S 1000000000ull

enum slo_count { SLO_REQUESTS, SLO_SLOW };
#define NR_SLO_COUNTS 2

int slo_device_init(struct slo_device *s, const struct time_objectives *objectives,
		    const char *host, const char *device, const char *device_name)
{
	*s = (struct slo_device){ 0 };
	if (!objectives || !objectives->nr)
		return 0;
	s->grids = calloc(objectives->nr, sizeof(*s->grids));
	if (!s->grids)
		return -ENOMEM;
	s->nr = objectives->nr;
	for (size_t i = 0; i < s->nr; i++)
		if (time_objective_names(&objectives->list[i], host, device, device_name))
			timegrid_init(&s->grids[i], NR_SLO_COUNTS, SLO_WINDOWS);
	return 0;
}

void slo_device_release(struct slo_device *s)
{
	for (size_t i = 0; i < s->nr; i++)
		timegrid_release(&s->grids[i]);
	free(s->grids);
	*s = (struct slo_device){ 0 };
}

int slo_device_add(struct slo_device *s, const struct time_objectives *objectives,
		   const struct request *r)
{
	int bucket;

	/*
	 * Only these requests count, because a profile has total response times of the same ones
	 * (workload/latency.c).
	 */
	if (!s->nr || r->operation > OPERATION_WRITE ||
	    r->flags & (REQUEST_PAUSED | REQUEST_NO_ARRIVAL | REQUEST_NO_COMPLETION))
		return 0;
	bucket = histogram_bucket(r->completion_ns - r->arrival_ns);
	for (size_t i = 0; i < s->nr; i++) {
		const struct time_objective *o = &objectives->list[i];
		uint64_t *counts;

		if (!s->grids[i].rows || o->operation != (r->operation == OPERATION_WRITE))
			continue;
		counts = timegrid_at(&s->grids[i], r->completion_ns);
		if (!counts)
			return -ENOMEM;
		counts[SLO_REQUESTS]++;
		counts[SLO_SLOW] += bucket > o->bucket;
	}
	return 0;
}

int slo_device_spread(struct slo_device *s, const struct time_objectives *objectives,
		      const struct profile *p, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct time_objective *o = &objectives->list[i];
		const struct direction_profile *d = o->operation ? &p->write : &p->read;
		const struct histogram *h = &d->response.stage[STAGE_TOTAL];
		uint64_t counts[NR_SLO_COUNTS];

		if (!s->grids[i].rows || !h->nr)
			continue;
		counts[SLO_REQUESTS] = h->nr;
		counts[SLO_SLOW] = h->nr - histogram_cumulative(h, o->bucket);
		if (timegrid_spread(&s->grids[i], begin_ns, end_ns, counts))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t slo_window_ns(uint64_t span_ns)
{
	if (span_ns < 10 * S)
		return S / 10;
	if (span_ns < 600 * S)
		return S;
	return span_ns < 3600 * S ? 10 * S : 60 * S;
}

static void slo_judge_window(struct slo_row *row, const uint64_t *counts, uint64_t begin_ns)
{
	double requests = (double)counts[SLO_REQUESTS], slow = (double)counts[SLO_SLOW];
	double spent = time_objective_spent(row->objective, requests, slow);

	if (isnan(spent))
		return;
	row->nr_windows++;
	row->nr_broken += spent > 1;
	if (row->worst_requests > 0 && slow / requests <= row->worst_slow / row->worst_requests)
		return;
	row->worst_ns = begin_ns;
	row->worst_requests = requests;
	row->worst_slow = slow;
}

static int slo_judge_windows(struct slo_row *row, const struct timegrid *grid,
			     const struct report *r)
{
	uint64_t window_ns = slo_window_ns(r->end_ns - r->begin_ns);
	struct timegrid wide;
	int ret;

	if (!grid->nr)
		return 0;
	/* Within a retired period the slow requests are spread evenly, which nobody observed. */
	if (r->collect->retired.nr_profiles && window_ns < r->window_ns)
		window_ns = r->window_ns;
	if (window_ns % grid->step_ns)
		window_ns = grid->step_ns;
	ret = timegrid_widen(grid, window_ns, &wide);
	if (ret)
		return ret;
	row->window_s = (double)window_ns * 1e-9;
	for (size_t i = 0; i < wide.nr; i++)
		slo_judge_window(row, timegrid_column(&wide, i),
				 timegrid_begin_ns(&wide) + i * window_ns);
	timegrid_release(&wide);
	return 0;
}

static int slo_judge_device(struct slo_row *row, const struct report *r)
{
	const struct time_objective *o = row->objective;
	const struct histogram *h = time_objective_times(o, &r->each[row->device]);
	const struct slo_device *s = &r->collect->devices[row->device]->slo;

	row->requests = (double)h->nr;
	row->slow = (double)time_objective_slow(o, h);
	row->spent = time_objective_spent(o, row->requests, row->slow);
	row->value_s = isnan(row->spent) ? NAN : histogram_quantile_any_s(h, o->percentile / 100);
	/* The value is known to the width of a bucket, to which the limit is rounded up. */
	if (row->spent <= 1)
		row->value_s = fmin(row->value_s, o->limit_s);
	return slo_judge_windows(row, &s->grids[o - r->collect->objectives->list], r);
}

static int slo_by_spent(const void *a, const void *b)
{
	const struct slo_row *x = a, *y = b;

	if (isnan(x->spent) != isnan(y->spent))
		return isnan(x->spent) ? 1 : -1;
	if (!isnan(x->spent) && x->spent != y->spent)
		return x->spent > y->spent ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->objective < y->objective ? -1 : x->objective > y->objective;
}

int slo_judge(struct slo *s, const struct report *r)
{
	const struct time_objectives *all = r->collect->objectives;
	size_t nr_devices = r->collect->nr_devices;

	if (!all || !all->nr)
		return 0;
	s->rows = calloc(all->nr * nr_devices, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++) {
		bool is_told = false;

		for (size_t d = 0; d < nr_devices; d++) {
			struct slo_row row = { .objective = &all->list[i], .device = d };
			int ret;

			if (!r->collect->devices[d]->slo.grids[i].rows ||
			    !time_objective_times(row.objective, &r->each[d])->nr)
				continue;
			ret = slo_judge_device(&row, r);
			if (ret)
				return ret;
			is_told |= !isnan(row.spent);
			s->nr_broken += row.spent > 1;
			s->rows[s->nr++] = row;
		}
		s->nr_untold += !is_told;
	}
	qsort(s->rows, s->nr, sizeof(*s->rows), slo_by_spent);
	return 0;
}

void slo_release(struct slo *s)
{
	free(s->rows);
	*s = (struct slo){ 0 };
}

/* Writes when the objective was worst, such as "2026-01-31 14:05:00, 12.5 % slower". */
static const char *slo_worst(const struct slo_row *row, bool utc, char *out, size_t size)
{
	char when[UNITS_BYTES];

	out[0] = 0;
	if (row->worst_slow > 0)
		snprintf(out, size, "%s, %.3g %% slower",
			 units_instant(row->worst_ns, utc, row->window_s < 1, when),
			 100 * row->worst_slow / row->worst_requests);
	return out;
}

static void slo_answer_row(struct answer_table *t, const struct report *r,
			   const struct slo_row *row)
{
	const struct collect_device *d = r->collect->devices[row->device];
	char worst[2 * UNITS_BYTES];
	double nr = (double)row->nr_windows;

	answer_words(t, "%s", isnan(row->spent) ? "cannot tell" : row->spent > 1 ? "fail" : "pass");
	answer_words(t, "%s", row->objective->name);
	answer_words(t, "%s", d->host);
	answer_words(t, "%s", d->device);
	answer_words(t, "%s", d->name[0] ? d->name : d->device);
	answer_words(t, "%s", time_objective_operations[row->objective->operation]);
	answer_number(t, row->objective->percentile);
	answer_number(t, row->objective->limit_s);
	answer_number(t, row->value_s);
	answer_number(t, row->requests);
	answer_number(t, row->requests > 0 ? row->slow / row->requests : NAN);
	answer_number(t, row->window_s > 0 ? row->window_s : NAN);
	answer_number(t, nr);
	answer_number(t, nr > 0 ? (double)row->nr_broken / nr : NAN);
	answer_words(t, "%s", slo_worst(row, r->view.utc, worst, sizeof(worst)));
	answer_number(t, row->worst_slow > 0 ? (double)row->worst_ns * 1e-9 : NAN);
	answer_number(t, row->worst_slow > 0 ? row->worst_slow / row->worst_requests : NAN);
}

static void slo_conclude(struct answer *a, const struct report *r)
{
	const struct slo *s = &r->slo;
	const struct slo_row *first = s->rows;
	const struct collect_device *d;
	char value[UNITS_BYTES], limit[UNITS_BYTES];
	size_t nr_told = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr_told += !isnan(s->rows[i].spent);
	if (s->nr_broken) {
		d = r->collect->devices[first->device];
		answer_conclude(a,
				"%zu of %zu objectives on devices fail, most of all '%s' on %s: "
				"%g %% of the %ss are done within %s, not within %s.",
				s->nr_broken, nr_told, first->objective->name, d->label,
				first->objective->percentile,
				time_objective_operations[first->objective->operation],
				units_time(first->value_s, value),
				units_time(first->objective->limit_s, limit));
	} else if (s->nr_untold) {
		answer_conclude(a,
				"%zu of %zu objectives cannot be judged: on each device that they "
				"name there are fewer than %d such requests.",
				s->nr_untold, r->collect->objectives->nr, TIME_OBJECTIVE_FEW);
	} else {
		answer_conclude(a, "Every objective holds on every device that it names.");
	}
}

struct answer *slo_answer(const struct report *r)
{
	static const struct answer_column columns[] = {
		{ .key = "verdict", .title = "verdict" },
		{ .key = "objective", .title = "objective" },
		{ .key = "host", .title = "host" },
		{ .key = "device" },
		{ .key = "device_name", .title = "device" },
		{ .key = "operation" },
		{ .key = "percentile" },
		{ .key = "below_s", .title = "limit", .unit = ANSWER_SECONDS },
		{ .key = "value_s", .title = "value", .unit = ANSWER_SECONDS },
		{ .key = "requests", .title = "requests", .unit = ANSWER_INTEGER },
		{ .key = "slow_ratio", .title = "slower", .unit = ANSWER_RATIO },
		{ .key = "window_s", .title = "window", .unit = ANSWER_SECONDS },
		{ .key = "windows", .unit = ANSWER_INTEGER },
		{ .key = "windows_broken_ratio", .title = "broken in", .unit = ANSWER_RATIO },
		{ .title = "worst window" },
		{ .key = "worst_begin_s" },
		{ .key = "worst_slow_ratio", .unit = ANSWER_RATIO },
	};
	struct answer *a = answer_new("blkcast.report/1", "Objectives");
	struct answer_table *t = answer_table(
		a, "objectives", "Objectives",
		"\"Slower\" is the share of requests above the limit, \"broken in\" the share of "
		"windows in which the objective did not hold; windows with fewer than 20 requests "
		"are not judged.",
		ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < r->slo.nr; i++)
		slo_answer_row(t, r, &r->slo.rows[i]);
	slo_conclude(a, r);
	return a;
}

int slo_objective_add(struct time_objectives *o, const char *text, struct err *err)
{
	struct headroom_objective one;
	const char *digits;
	int ret = headroom_read_objective(text, &one, err);

	if (ret)
		return ret;
	if (!one.point[0])
		return -EDOM;
	/* p95 is 95 percent, and p999 is 99.9 percent. */
	digits = one.point + 1;
	return time_objectives_add(o, text, one.side,
				   strtod(digits, NULL) / pow(10, (double)strlen(digits) - 2),
				   one.limit_s, err);
}
