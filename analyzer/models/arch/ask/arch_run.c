// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/arch/ask/arch_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"

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
			return err_set(err, EINVAL, "expected NAME=VALUE, got '%s'", set->items[i]);
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
			       "%s: storages of %s: a YAML model names its storages itself", path,
			       s->storages);
	return arch_read(m, path, s->items, s->nr, err);
}

int arch_sweep_set(const struct sweeps *s, size_t point, struct arch_settings *settings)
{
	for (size_t i = 0; i < s->nr; i++) {
		const char *name = s->items[i].name;
		char text[32];

		snprintf(text, sizeof(text), "%.15g", sweep_value(s, i, point));
		if (arch_settings_add(settings, name, strlen(name), text))
			return -ENOMEM;
	}
	return 0;
}

struct arch_watch {
	struct progress progress;
	uint64_t max_events;
};

static void arch_run_progress(void *ctx, const struct solve_progress *now)
{
	struct arch_watch *w = ctx;
	double total = fmin(now->events_needed, (double)w->max_events);

	w->progress.total = total > (double)now->events ? (uint64_t)total : now->events;
	progress_update(&w->progress, now->events);
}

static void arch_say_overload(const struct teller *t, const struct arch_model *m,
			      const struct arch_solution *s)
{
	char text[256];

	arch_load_describe(&s->load, m, text, sizeof(text));
	if (*text)
		teller_note(
			t,
			"no steady state: open scenarios bring more work than can be done (%s); queues "
			"grow without end, and so do response times",
			text);
	else
		teller_note(
			t,
			"no steady state: what waits grows for as long as is simulated, and so do "
			"response times");
}

static void arch_run_say(const struct teller *t, const struct arch_solution *s,
			 const struct solve_options *o, double seconds)
{
	if (s->outside)
		teller_note(t,
			    "%.3g%% of the requests asked the I/O model for what lies outside its "
			    "training range: extrapolated",
			    100 * (double)s->outside / (double)s->asked);
	if (o->model_time <= 0 && s->precision > o->precision)
		teller_note(t, "stopped after %llu events at a relative precision of %.3g, not %g",
			    (unsigned long long)s->events, s->precision, o->precision);
	else
		teller_note(t,
			    "%llu events in %.2f s, %.4g s of model time, %.3g s of it warm-up, "
			    "relative precision %.3g, seed %llu",
			    (unsigned long long)s->events, seconds, s->model_time, s->warm_up,
			    s->precision, (unsigned long long)o->seed);
}

void arch_say_left_out(const struct teller *t, const struct arch_model *m)
{
	if (m->nr_left_out)
		teller_note(t, "%u descriptions of failures left out", m->nr_left_out);
	if (m->nr_stereotypes)
		teller_note(
			t,
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
			  const struct teller *t, struct err *err)
{
	struct arch_watch w = { .max_events = so->max_events };
	struct solve_options shown = *so;
	double begin = clock_monotonic_s();
	int ret;

	shown.progress = arch_run_progress;
	shown.ctx = &w;
	progress_begin(&w.progress, "arch", 0, t->quiet);
	ret = arch_solve(to->s, to->m, &shown, err);
	progress_end(&w.progress);
	*to->seconds = clock_monotonic_s() - begin;
	return ret;
}

int arch_run(struct arch_solution *out, double *seconds, const struct arch_model *m,
	     const struct solve_options *o, struct sweep_record *record, size_t point,
	     const struct teller *t, struct err *err)
{
	struct arch_recorded to = { out, m, seconds };
	int ret;

	*seconds = 0;
	ret = arch_run_recall(&to, record, point, o, err);
	if (ret < 0)
		return ret;
	if (!ret) {
		ret = arch_run_solve(&to, o, t, err);
		if (ret)
			return ret;
		ret = record ? sweep_record_save(record, point, arch_recorded_walk, &to, err) : 0;
		if (ret)
			return ret;
	}
	arch_say_left_out(t, m);
	if (out->overloaded)
		arch_say_overload(t, m, out);
	else
		arch_run_say(t, out, o, *seconds);
	return 0;
}
