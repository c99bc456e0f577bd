// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/campaign.h"

#include <errno.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "base/system/output_file.h"
#include "base/system/stop.h"
#include "base/text/units.h"

/* time that a run takes beyond warm-up and intervals, for the estimate */
#define OVERHEAD_GUESS_S 1.5

static uint64_t campaign_nr_configurations(const struct plan *p, const struct configurations *c)
{
	return p->design == DESIGN_SEQUENTIAL ? p->sequential.configurations : c->nr;
}

static double campaign_estimate_s(const struct plan *p, uint64_t nr_runs)
{
	return (double)nr_runs *
	       (p->warm_up_s + (double)p->nr_intervals * p->interval_s + OVERHEAD_GUESS_S);
}

static int campaign_print_configurations(const struct plan *p, const struct configurations *c,
					 FILE *out)
{
	struct buf titles, cell;
	struct grid g;
	int ret;

	buf_init(&titles);
	buf_printf(&titles, ">configuration");
	for (size_t i = 0; i < p->factors.nr && i + 1 < GRID_COLUMNS; i++)
		buf_printf(&titles, "|>%s", p->factors.items[i].name);
	buf_put_u8(&titles, 0);
	if (titles.error)
		return titles.error;
	grid_init(&g, (char *)titles.data);
	buf_init(&cell);
	for (size_t row = 0; row < c->nr; row++) {
		grid_cell(&g, "%zu", row);
		for (size_t i = 0; i < p->factors.nr && i + 1 < GRID_COLUMNS; i++) {
			buf_clear(&cell);
			factor_cell_text(&p->factors.items[i], c->cells[row * p->factors.nr + i],
					 &cell);
			buf_put_u8(&cell, 0);
			grid_cell(&g, "%s", cell.error ? "?" : (char *)cell.data);
		}
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	buf_release(&cell);
	buf_release(&titles);
	return ret;
}

int campaign_outline(const struct plan *p, bool json, FILE *out, struct err *err)
{
	struct configurations c = { 0 };
	char time[UNITS_BYTES];
	uint64_t nr, nr_runs;
	double seconds;
	int ret = plan_configurations(p, &c, err);

	if (ret)
		goto out;
	nr = campaign_nr_configurations(p, &c);
	nr_runs = nr * p->repetitions;
	seconds = campaign_estimate_s(p, nr_runs);
	if (json) {
		fprintf(out,
			"{\"schema\": \"blkcast.measure/1\", \"dry_run\": true, "
			"\"configurations\": %llu, \"runs\": %llu, \"estimated_s\": %.17g}\n",
			(unsigned long long)nr, (unsigned long long)nr_runs, seconds);
		goto out;
	}
	ret = campaign_print_configurations(p, &c, out);
	if (nr > c.nr)
		fprintf(out, "and %llu more, chosen as models disagree on %s\n",
			(unsigned long long)(nr - c.nr), p->sequential.response);
	fprintf(out, "%llu configurations, %llu runs, about %s\n", (unsigned long long)nr,
		(unsigned long long)nr_runs, units_time(seconds, time));
out:
	configurations_release(&c);
	return ret;
}

static void campaign_on_run(void *ctx, const struct runner_report *r)
{
	struct campaign *c = ctx;

	if (r->error) {
		progress_end(&c->progress);
		teller_note(c->teller, "configuration %zu, repetition %u failed: %s", r->number,
			    r->repetition, r->error);
	}
	progress_update(&c->progress, ++c->nr_reported);
}

static void campaign_on_place(void *ctx, const struct plan_target *target, const char *place)
{
	const struct campaign *c = ctx;

	teller_note(c->teller, "target %s: files are written to %s on %s, and removed afterwards",
		    target->name, target->directory, place);
}

static void campaign_on_begin(void *ctx)
{
	struct campaign *c = ctx;
	char time[UNITS_BYTES];

	teller_note(c->teller, "%s: %llu configurations, %llu runs, about %s", c->plan.campaign,
		    (unsigned long long)(c->nr_runs / c->plan.repetitions),
		    (unsigned long long)c->nr_runs,
		    units_time(campaign_estimate_s(&c->plan, c->nr_runs), time));
	progress_begin(&c->progress, c->teller->work, c->nr_runs, c->teller->quiet);
}

int campaign_run(struct campaign *c, struct err *err)
{
	struct configurations all = { 0 };
	int ret = plan_configurations(&c->plan, &all, err);

	c->nr_runs = campaign_nr_configurations(&c->plan, &all) * c->plan.repetitions;
	configurations_release(&all);
	if (ret)
		return ret;
	c->runner = (struct runner){ .plan = &c->plan,
				     .db = c->db,
				     .resume = c->resume,
				     .retry_failed = c->retry_failed,
				     .report = campaign_on_run,
				     .place = campaign_on_place,
				     .begin = campaign_on_begin,
				     .stop = stop_catch(),
				     .ctx = c };
	ret = runner_run(&c->runner, err);
	progress_end(&c->progress);
	return ret;
}

int campaign_print(const struct campaign *c, bool json, FILE *out)
{
	const struct runner *r = &c->runner;
	char time[UNITS_BYTES], most[UNITS_BYTES];

	if (json)
		return fprintf(out,
			       "{\"schema\": \"blkcast.measure/1\", \"done\": %zu, \"failed\": %zu, "
			       "\"before\": %zu, \"seconds\": %.17g, \"overhead_most_s\": %.17g}\n",
			       r->nr_done, r->nr_failed, r->nr_before, r->seconds,
			       r->overhead_most_s) < 0
			       ? -EIO
			       : 0;
	fprintf(out,
		"%zu runs done, %zu failed, %zu were there before; %s, at most %s of a run beside "
		"warm-up and intervals\n",
		r->nr_done, r->nr_failed, r->nr_before, units_time(r->seconds, time),
		units_time(r->overhead_most_s, most));
	return 0;
}

void campaign_release(struct campaign *c)
{
	plan_release(&c->plan);
}

int campaign_export(const char *db, const char *name, const char *response, const char *output,
		    struct err *err)
{
	struct results *store = NULL;
	int64_t id;
	struct buf csv;
	int ret = results_open(&store, db, RESULTS_READ, err);

	buf_init(&csv);
	if (ret)
		goto out;
	ret = results_find(store, name, &id, err);
	if (ret)
		goto out;
	ret = results_csv(store, id, response, &csv, err);
	if (ret)
		goto out;
	ret = output_file_save(&csv, strcmp(output, "-") ? output : NULL, err);
out:
	buf_release(&csv);
	results_close(store);
	return ret;
}
