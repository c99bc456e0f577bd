// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/cmd/models/sweep_record.h"
#include "analyzer/models/arch/pcm/pcm_import.h"
#include "base/system/clock.h"

int arch_settings_add(struct arch_settings *s, const char *name, size_t len, const char *value)
{
	struct arch_setting x = { .name = strndup(name, len), .value = strdup(value) };

	if (s->nr == ARCH_RUN_MAX_SETTINGS || !x.name || !x.value) {
		free((char *)x.name);
		free((char *)x.value);
		return -ENOMEM;
	}
	s->items[s->nr++] = x;
	return 0;
}

int arch_settings_read(struct arch_settings *s, const struct word_list *set, struct err *err)
{
	for (size_t i = 0; i < set->nr; i++) {
		const char *equals = strchr(set->items[i], '=');

		if (!equals || equals == set->items[i] || !equals[1])
			return err_set(err, EINVAL, "--set: expected NAME=VALUE, got '%s'",
				       set->items[i]);
		if (arch_settings_add(s, set->items[i], (size_t)(equals - set->items[i]),
				      equals + 1))
			return err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

void arch_settings_release(struct arch_settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free((char *)s->items[i].name);
		free((char *)s->items[i].value);
	}
	s->nr = 0;
}

int arch_open(struct arch_model *m, const char *path, const struct arch_settings *s,
	      struct err *err)
{
	if (pcm_is_palladio(path)) {
		const struct pcm_options o = { .without_failures = s->without_failures,
					       .storages = s->storages,
					       .settings = s->items,
					       .nr_settings = s->nr };

		return pcm_import(m, path, &o, err);
	}
	if (s->storages)
		return err_set(err, EINVAL,
			       "%s: --storages %s: a YAML model names its storages itself", path,
			       s->storages);
	return arch_read(m, path, s->items, s->nr, err);
}

const char *arch_run_bad(const struct arch_run_options *o)
{
	if (!(o->precision > 0 && o->precision < 1))
		return "--precision: expected a number between 0 and 1";
	if (!(o->model_time >= 0))
		return "--model-time: expected a time above 0";
	if (o->replications < 2 || o->replications > 100000)
		return "--replications: expected 2 to 100000";
	if (o->threads > 1024)
		return "--threads: expected 1 to 1024, or 0 for all processors";
	if (o->max_events < 1)
		return "--max-events: expected 1 or more";
	return NULL;
}

struct watching {
	struct progress progress;
	uint64_t max_events;
};

static void on_progress(void *ctx, const struct solve_progress *now)
{
	struct watching *w = ctx;
	double total = fmin(now->events_needed, (double)w->max_events);

	w->progress.total = total > (double)now->events ? (uint64_t)total : now->events;
	progress_update(&w->progress, now->events);
}

static void say_overload(const struct cli *cli, const struct arch_model *m,
			 const struct arch_solution *s)
{
	char text[256];

	arch_load_describe(&s->load, m, text, sizeof(text));
	if (*text)
		cli_note(
			cli,
			"no steady state: open scenarios bring more work than can be done (%s); queues "
			"grow without end, and so do response times",
			text);
	else
		cli_note(cli,
			 "no steady state: what waits grows for as long as is simulated, and so do "
			 "response times");
}

static void arch_run_say(const struct cli *cli, const struct arch_solution *s,
			 const struct arch_run_options *o, double seconds)
{
	if (s->outside)
		cli_note(cli,
			 "%.3g%% of the requests asked the I/O model for what lies outside its "
			 "training range: extrapolated",
			 100 * (double)s->outside / (double)s->asked);
	if (o->model_time <= 0 && s->precision > o->precision)
		cli_note(cli, "stopped after %llu events at a relative precision of %.3g, not %g",
			 (unsigned long long)s->events, s->precision, o->precision);
	else
		cli_note(cli,
			 "%llu events in %.2f s, %.4g s of model time, %.3g s of it warm-up, "
			 "relative precision %.3g, seed %llu",
			 (unsigned long long)s->events, seconds, s->model_time, s->warm_up,
			 s->precision, (unsigned long long)o->seed);
}

void arch_say_left_out(const struct cli *cli, const struct arch_model *m)
{
	if (m->nr_left_out)
		cli_note(cli, "%u descriptions of failures left out", m->nr_left_out);
	if (m->nr_stereotypes)
		cli_note(cli,
			 "%u applications of stereotypes left out: what they say is not simulated",
			 m->nr_stereotypes);
}

/* A solution, with what was measured beside it, on its way to a record or from there. */
struct arch_recorded {
	struct arch_solution *s;
	const struct arch_model *m;
	double *seconds;
};

static void arch_recorded_walk(void *result, struct checkpoint_values *v)
{
	struct arch_recorded *r = result;

	arch_solution_walk(r->s, r->m, v);
	checkpoint_values_put(v, r->seconds, 1);
}

/* Returns 1 where the record has the point, 0 where it does not, or -errno. */
static int arch_run_recall(struct arch_recorded *to, const struct sweep_record *record,
			   size_t point, const struct solve_options *so, struct err *err)
{
	int ret;

	if (!record || !record->file)
		return 0;
	ret = arch_solution_begin(to->s, to->m, so, err);
	if (!ret)
		ret = sweep_record_find(record, point, arch_recorded_walk, to);
	if (ret != 1)
		arch_solution_release(to->s);
	return ret;
}

/* Solves the model, and shows how far it is. */
static int arch_run_solve(struct arch_recorded *to, const struct solve_options *so,
			  const struct cli *cli, struct err *err)
{
	struct watching w = { .max_events = so->max_events };
	struct solve_options shown = *so;
	double begin = clock_monotonic_s();
	int ret;

	shown.progress = on_progress;
	shown.ctx = &w;
	progress_begin(&w.progress, "arch", 0, cli->teller.quiet);
	ret = arch_solve(to->s, to->m, &shown, err);
	progress_end(&w.progress);
	*to->seconds = clock_monotonic_s() - begin;
	return ret;
}

int arch_run(struct arch_solution *out, double *seconds, const struct arch_model *m,
	     const struct arch_run_options *o, struct sweep_record *record, size_t point,
	     const struct cli *cli, struct err *err)
{
	const struct solve_options so = {
		.quantiles = o->quantiles,
		.precision = o->precision,
		.model_time = o->model_time,
		.seed = o->seed,
		.max_events = o->max_events,
		.nr_replications = (unsigned)o->replications,
		.nr_threads = (unsigned)o->threads,
	};
	struct arch_recorded to = { out, m, seconds };
	int ret;

	*seconds = 0;
	ret = arch_run_recall(&to, record, point, &so, err);
	if (ret < 0)
		return ret;
	if (!ret) {
		ret = arch_run_solve(&to, &so, cli, err);
		if (ret)
			return ret;
		ret = record ? sweep_record_save(record, point, arch_recorded_walk, &to, err) : 0;
		if (ret)
			return ret;
	}
	arch_say_left_out(cli, m);
	if (out->overloaded)
		say_overload(cli, m, out);
	else
		arch_run_say(cli, out, o, *seconds);
	return 0;
}

static int arch_sweep_wrong(const char *text, struct err *err)
{
	return err_set(err, EINVAL,
		       "--sweep: expected NAME=FROM:TO:STEP, as clients=10:100:10, got '%s'", text);
}

static int arch_sweep_parse(struct arch_sweep *s, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	double to = NAN, count;
	char *end = NULL;

	s->step = 1;
	if (equals && equals != text) {
		s->from = strtod(equals + 1, &end);
		if (end != equals + 1 && *end == ':')
			to = strtod(end + 1, &end);
		else
			end = NULL;
		if (end && *end == ':')
			s->step = strtod(end + 1, &end);
	}
	if (!end || *end || !(s->step > 0) || !(to >= s->from) || !isfinite(to - s->from))
		return arch_sweep_wrong(text, err);
	/* A last step that misses the end by rounding counts as a step. */
	count = floor((to - s->from) / s->step + 1e-9) + 1;
	if (count > ARCH_SWEEP_POINTS)
		return err_set(err, EINVAL, "--sweep: more than %d points", ARCH_SWEEP_POINTS);
	s->nr = (size_t)count;
	s->name = strndup(text, (size_t)(equals - text));
	return s->name ? 0 : err_set(err, ENOMEM, "out of memory");
}

int arch_sweeps_read(struct arch_sweeps *s, const struct word_list *options, struct err *err)
{
	*s = (struct arch_sweeps){ .nr_points = 1 };
	for (size_t i = 0; i < options->nr; i++) {
		struct arch_sweep *x = &s->items[s->nr];
		int ret;

		if (s->nr == ARCH_SWEEP_MAX)
			return err_set(err, EINVAL, "--sweep: more than %d parameters",
				       ARCH_SWEEP_MAX);
		ret = arch_sweep_parse(x, options->items[i], err);
		if (ret)
			return ret;
		s->nr++;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(s->items[k].name, x->name))
				return err_set(err, EINVAL, "--sweep: %s twice", x->name);
		if (x->nr > ARCH_SWEEP_POINTS / s->nr_points)
			return err_set(err, EINVAL, "--sweep: more than %d points",
				       ARCH_SWEEP_POINTS);
		s->nr_points *= x->nr;
	}
	return 0;
}

void arch_sweeps_release(struct arch_sweeps *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->items[i].name);
	s->nr = 0;
}

double arch_sweep_value(const struct arch_sweeps *s, size_t parameter, size_t point)
{
	const struct arch_sweep *x = &s->items[parameter];

	for (size_t i = s->nr; i-- > parameter + 1;)
		point /= s->items[i].nr;
	/* The value is computed from the number of the step, because a sum of steps would drift. */
	return x->from + (double)(point % x->nr) * x->step;
}

int arch_sweep_set(const struct arch_sweeps *s, size_t point, struct arch_settings *settings)
{
	for (size_t i = 0; i < s->nr; i++) {
		const char *name = s->items[i].name;
		char text[32];

		snprintf(text, sizeof(text), "%.15g", arch_sweep_value(s, i, point));
		if (arch_settings_add(settings, name, strlen(name), text))
			return -ENOMEM;
	}
	return 0;
}

struct answer_table *arch_sweep_table(const struct arch_sweeps *s, struct answer *a,
				      const char *title, const struct answer_column *results,
				      size_t nr)
{
	struct answer_column columns[ARCH_SWEEP_MAX + ARCH_SWEEP_RESULTS];

	for (size_t i = 0; i < s->nr; i++)
		columns[i] = (struct answer_column){ .title = s->items[i].name, .right = true };
	memcpy(columns + s->nr, results, nr * sizeof(*results));
	return answer_table(a, NULL, title, NULL, columns, s->nr + nr);
}

void arch_sweep_cells(const struct arch_sweeps *s, size_t point, struct answer_table *t)
{
	for (size_t i = 0; i < s->nr; i++)
		answer_words(t, "%.15g", arch_sweep_value(s, i, point));
}

void arch_sweep_member(const struct arch_sweeps *s, size_t point, struct answer *a)
{
	json_t *set = json_object();

	for (size_t i = 0; i < s->nr; i++)
		json_object_set_new(set, s->items[i].name,
				    json_real(arch_sweep_value(s, i, point)));
	answer_member(a, "set", set);
}
