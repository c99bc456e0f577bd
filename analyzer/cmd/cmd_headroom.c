// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/predictor_options.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/whatif/headroom.h"
#include "analyzer/answer/page_shell.h"
#include "base/units.h"

#define LEAD_BYTES 768
#define LOAD_BYTES 128
/* A target that gives less than this share of the offered requests cannot carry the load. */
#define CARRIES_RATIO 0.95

/* Requests per second: as watched, as predicted today, and where the objective breaks; NaN unknown. */
struct rates {
	double offered_per_s, today_per_s, limit_per_s;
};

struct job {
	const struct cli *cli;
	struct word_list slo;
	struct predictor_options by;
	const char *load, *report;
	struct predictor predictor;
	struct headroom_objective objectives[WORD_LIST_MAX];
	struct load_facts *loads; /* owned */
	size_t nr_loads;
	struct headroom *found; /* owned: one per objective */
	struct load_rows rows[WORD_LIST_MAX];
	struct load_own own[WORD_LIST_MAX];
	struct busy_curves busy[WORD_LIST_MAX];
	struct rates rates[WORD_LIST_MAX];
	size_t tightest;
	struct err err;
};

static bool cmd_headroom_thinks(const struct job *job)
{
	for (size_t i = 0; i < job->nr_loads; i++)
		if (load_think_s(&job->loads[i]) > 0)
			return true;
	return false;
}

/* By clients that think, where they do and models can tell: 1 done, 0 not. */
static int solve_busy(struct job *job, size_t i, const struct model *m)
{
	const struct headroom_objective *o = &job->objectives[i];
	struct predictor_ask ask = { .point = o->point };
	struct busy_curves *c = &job->busy[i];
	bool by_think = job->load && !strcmp(job->load, "think");
	int clients = load_model_is_busy(m) ? load_model_clients(m) : -1, ret;

	if (by_think || (clients >= 0 && cmd_headroom_thinks(job) &&
			 (!job->load || !strcmp(job->load, m->schema.variables[clients].name)))) {
		ask.sides[o->side] = true;
		ret = busy_curves_make(c, &job->predictor, &ask, job->loads, job->nr_loads,
				       &job->err);
		if (ret)
			return ret;
		if (busy_curves_has(c, o->side))
			ret = headroom_find_busy(&job->found[i], c, m, &job->own[i], job->loads,
						 job->nr_loads, o, by_think);
		else if (by_think)
			return err_set(&job->err, EINVAL,
				       "--load think: expected clients that think, and models of "
				       "read_s and write_s that know clients alone");
		else
			cli_note(job->cli,
				 "%s: no models of read_s and write_s to tell how clients "
				 "think: taken to think never",
				 job->slo.items[i]);
		return ret ? ret : busy_curves_has(c, o->side);
	}
	return 0;
}

/* By a model of the response, which scales its own load variable. */
static int solve_model(struct job *job, size_t i)
{
	const struct headroom_objective *o = &job->objectives[i];
	const struct model *m;
	struct load_facts joined;
	int ret = predictor_model(&job->predictor, o->response, &m, &job->err);

	if (!ret && !m)
		ret = err_set(&job->err, EINVAL, "--slo %s: no --model of %s is given",
			      job->slo.items[i], o->response);
	if (ret)
		return ret;
	load_facts_join(job->loads, job->nr_loads, &joined);
	ret = load_rows_make(&job->rows[i], m, &joined, o->side, false, job->by.set.items,
			     job->by.set.nr, &job->err);
	if (!ret)
		ret = load_model_own(&job->own[i], m, &joined, &joined, o->side, job->by.set.items,
				     job->by.set.nr, &job->err);
	if (!ret)
		ret = solve_busy(job, i, m);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = load_model_scaled(m, job->load, &job->err);
	if (ret < 0)
		return ret;
	return headroom_find(&job->found[i], &job->rows[i], &job->own[i], ret, o->limit_s,
			     &job->err);
}

static int cmd_headroom_solve(struct job *job, size_t i)
{
	struct headroom_objective *o = &job->objectives[i];
	int ret = headroom_read_objective(job->slo.items[i], o, &job->err);

	if (ret)
		return ret;
	if (!job->predictor.net)
		return solve_model(job, i);
	if (job->load)
		return err_set(&job->err, EINVAL, "--load %.40s: a net knows clients alone",
			       job->load);
	return headroom_find_net(&job->found[i], &job->predictor, job->loads, job->nr_loads, o,
				 &job->err);
}

static void bound_text(const struct headroom_bound *b, char out[UNITS_BYTES])
{
	snprintf(out, UNITS_BYTES, isnan(b->factor) ? "?" : "%s%.3g",
		 b->at_least ? "at least "
		 : b->below  ? "below "
			     : "",
		 b->factor);
}

/* "4 clients", "10 clients that think 20 ms between their requests" */
static void load_text(const struct headroom *h, char out[LOAD_BYTES])
{
	char think[UNITS_BYTES];

	if (h->busy)
		snprintf(out, LOAD_BYTES, "%.3g clients that think %s between their requests",
			 h->busy->clients, units_time(h->busy->think_s, think));
	else if (h->model)
		load_model_amount(h->model, h->scaled, h->today, out);
	else
		snprintf(out, LOAD_BYTES, "%.3g clients", h->today);
}

/* Means over all loads, with so many times their clients; NaN where models cannot tell. */
static double rate_at(struct job *job, double factor)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct load_facts *each = calloc(job->nr_loads, sizeof(*each));
	struct predicted *out = calloc(job->nr_loads, sizeof(*out));
	double sum = each && out ? 0 : NAN;
	struct err ignored;

	for (size_t i = 0; i < job->nr_loads && each; i++)
		each[i] = load_facts_scaled(&job->loads[i], factor);
	if (sum == 0 &&
	    predictor_ask(&job->predictor, &ask, each, job->nr_loads, out, NULL, &ignored))
		sum = NAN;
	for (size_t i = 0; i < job->nr_loads && sum >= 0; i++)
		sum += out[i].rate_per_s;
	free(each);
	free(out);
	return sum;
}

/* Only where more load is more clients: a model of rates was measured at those rates. */
static void find_rates(struct job *job, size_t i)
{
	const struct headroom *h = &job->found[i];
	struct rates *r = &job->rates[i];
	double least = 0;

	*r = (struct rates){ 0, NAN, NAN };
	for (size_t k = 0; k < job->nr_loads; k++) {
		r->offered_per_s += job->loads[k].rate_per_s;
		least = fmax(least, 1 / job->loads[k].concurrency);
	}
	if (h->by_think || (h->model && load_model_clients(h->model) != h->scaled))
		return;
	r->today_per_s = rate_at(job, 1);
	if (h->at.factor >= least)
		r->limit_per_s = rate_at(job, h->at.factor);
}

/* Whether the target gives clearly fewer requests than today's load offers. */
static bool is_overloaded(const struct rates *r)
{
	return r->today_per_s < CARRIES_RATIO * r->offered_per_s;
}

static bool is_outside(const struct headroom *h)
{
	return h->outside || h->today_outside;
}

static void say_rates(const struct job *job, size_t i, char *out, size_t size)
{
	const struct headroom *h = &job->found[i];
	const struct rates *r = &job->rates[i];
	char offered[UNITS_BYTES], gives[UNITS_BYTES];

	if (is_overloaded(r))
		snprintf(
			out, size,
			" The target cannot carry this load: offered %s requests/s, it gives %s/s.",
			units_count(r->offered_per_s, offered), units_count(r->today_per_s, gives));
	else if (r->limit_per_s < CARRIES_RATIO * h->at.factor * r->today_per_s)
		snprintf(out, size,
			 " With so many clients it gives %.3g times today's requests per second, "
			 "since each waits longer.",
			 r->limit_per_s / r->today_per_s);
}

/* The answer in one sentence. */
static void cmd_headroom_conclude(const struct job *job, size_t i, char lead[LEAD_BYTES])
{
	const struct headroom *h = &job->found[i];
	char at[UNITS_BYTES], low[UNITS_BYTES], high[UNITS_BYTES], now[UNITS_BYTES];
	char load[LOAD_BYTES];
	size_t used = 0;

	bound_text(&h->at, at);
	bound_text(&h->low, low);
	bound_text(&h->high, high);
	units_time(h->predicted_today, now);
	load_text(h, load);
	if (is_outside(h))
		used = (size_t)snprintf(lead, LEAD_BYTES,
					"Cannot tell: '%.60s' lies outside what the model knows. "
					"Extrapolated: ",
					h->outside ? h->outside : h->load);
	if (h->broken)
		snprintf(lead + used, LEAD_BYTES - used,
			 "%s is broken today: %s are predicted with %s; it would hold up to %s "
			 "times today's load.",
			 job->slo.items[i], now, load, at);
	else if (h->by_think)
		snprintf(lead + used, LEAD_BYTES - used,
			 "%s holds while today's %s think up to %s times shorter (90 %%: %s to "
			 "%s); today %s are predicted.",
			 job->slo.items[i], load, at, low, high, now);
	else
		snprintf(lead + used, LEAD_BYTES - used,
			 "%s holds up to %s times today's load of %s (90 %%: %s to %s); today %s "
			 "are predicted.",
			 job->slo.items[i], at, load, low, high, now);
	used = strlen(lead);
	say_rates(job, i, lead + used, LEAD_BYTES - used);
}

static json_t *bound_json(const struct headroom_bound *b)
{
	return isnan(b->factor) ? json_null()
				: json_pack("{s:f, s:b, s:b}", "factor", b->factor, "at_least",
					    b->at_least, "below", b->below);
}

static json_t *cmd_headroom_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *one_json(const struct job *job, size_t i)
{
	const struct headroom *h = &job->found[i];
	const struct rates *r = &job->rates[i];
	json_t *curve = json_array();
	char lead[LEAD_BYTES];

	cmd_headroom_conclude(job, i, lead);
	for (size_t k = 0; k<h->nr; k += h->nr> HEADROOM_NET_POINTS ? 10 : 1)
		json_array_append_new(curve, json_pack("[f,f,o,o]", h->curve[k].load,
						       h->curve[k].predicted,
						       cmd_headroom_number(h->curve[k].low),
						       cmd_headroom_number(h->curve[k].high)));
	return json_pack(
		"{s:s, s:s, s:f, s:s, s:f, s:o, s:f, s:b, s:b, s:o, s:o, s:o, s:o, s:s, s:{s:f, s:o, s:o}}",
		"slo", job->slo.items[i], "response", job->objectives[i].response, "limit_s",
		h->limit, "load", h->load, "today", h->today, "think_s",
		cmd_headroom_number(h->busy ? h->busy->think_s : NAN), "predicted_today_s",
		h->predicted_today, "broken", h->broken, "extrapolated",
		h->today_outside || h->outside != NULL, "headroom", bound_json(&h->at), "low",
		bound_json(&h->low), "high", bound_json(&h->high), "curve", curve, "conclusion",
		lead, "throughput", "offered_per_s", r->offered_per_s, "today_per_s",
		cmd_headroom_number(r->today_per_s), "limit_per_s",
		cmd_headroom_number(r->limit_per_s));
}

static int cmd_headroom_print(struct job *job)
{
	json_t *top, *all = json_array();
	char lead[LEAD_BYTES];
	int ret = -ENOMEM;

	for (size_t i = 0; i < job->slo.nr && !job->cli->json; i++) {
		cmd_headroom_conclude(job, i, lead);
		puts(lead);
	}
	for (size_t i = 0; i < job->slo.nr; i++)
		json_array_append_new(all, one_json(job, i));
	top = json_pack("{s:s, s:f, s:i, s:O}", "schema", "blkcast.headroom/1", "confidence",
			HEADROOM_LEVEL, "tightest", (int)job->tightest, "objectives", all);
	if (top)
		ret = job->cli->json && (json_dumpf(top, stdout, JSON_INDENT(2)) ||
					 putchar('\n') == EOF)
			      ? -EIO
			      : 0;
	json_decref(top);
	json_decref(all);
	return ret;
}

static int save_page(struct job *job)
{
	char lead[LEAD_BYTES], id[32];
	struct buf page;
	int ret = 0;

	buf_init(&page);
	cmd_headroom_conclude(job, job->tightest, lead);
	page_begin(&page, "How much more load", lead);
	for (size_t i = 0; i < job->slo.nr && !ret; i++) {
		cmd_headroom_conclude(job, i, lead);
		page_section_begin(&page, job->slo.items[i], lead);
		snprintf(id, sizeof(id), "knee-%zu", i);
		ret = headroom_draw(&job->found[i], &job->objectives[i], &job->rows[i], id, &page);
		page_section_end(&page);
	}
	page_end(&page);
	if (!ret)
		ret = page_save(&page, job->report, &job->err);
	buf_release(&page);
	return ret;
}

static int read_loads(struct job *job, const char *path)
{
	const struct selection sel = { 0 };
	struct profile_set set;
	int ret;

	profile_set_init(&set);
	ret = profile_set_load(&set, path, &sel, &job->err);
	if (!ret)
		job->loads = calloc(set.nr_groups + 1, sizeof(*job->loads));
	if (!ret && !job->loads)
		ret = -ENOMEM;
	for (; !ret && job->nr_loads < set.nr_groups; job->nr_loads++)
		load_facts_of_group(&set.groups[job->nr_loads], &job->loads[job->nr_loads]);
	profile_set_release(&set);
	return ret;
}

static int cmd_headroom_work(struct job *job, const char *path)
{
	int ret = read_loads(job, path);

	if (!ret)
		ret = predictor_open(&job->predictor, &job->by, &job->err);
	for (size_t i = 0; i < job->slo.nr && !ret; i++) {
		ret = cmd_headroom_solve(job, i);
		if (!ret)
			find_rates(job, i);
		if (!ret && job->found[i].at.factor < job->found[job->tightest].at.factor)
			job->tightest = i;
		if (!ret && (job->found[i].outside || job->found[i].today_outside))
			cli_note(job->cli,
				 "%s: today's load lies outside what the model was "
				 "trained on: extrapolated",
				 job->slo.items[i]);
	}
	if (!ret && job->report)
		ret = save_page(job);
	return ret ? ret : cmd_headroom_print(job);
}

static int cmd_headroom_run(struct cli *cli)
{
	struct job job = { .cli = cli };
	const struct cli_option options[] = {
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job.slo, "read.p95=20ms, write.mean=5ms, ..."),
		PREDICTOR_OPTIONS(&job.by),
		CLI_STRING("load", 0, "NAME", &job.load,
			   "the variable to scale; default clients, rate or depth"),
		CLI_STRING("report", 0, "FILE", &job.report, "the knee curve, an HTML page"),
		CLI_END,
	};
	bool broken = false, outside = false;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc != 1 || !job.slo.nr || predictor_options_given(&job.by) != 1)
		return cli_usage(cli, "expected --slo, either --model or --db, and one operand: a "
				      "profile");
	lsq_single_thread();
	job.found = calloc(job.slo.nr, sizeof(*job.found));
	ret = job.found ? cmd_headroom_work(&job, cli->argv[0]) : -ENOMEM;
	for (size_t i = 0; i < job.slo.nr && !ret; i++) {
		broken |= job.found[i].broken || is_overloaded(&job.rates[i]);
		outside |= is_outside(&job.found[i]);
	}
	for (size_t i = 0; i < job.slo.nr; i++) {
		busy_curves_release(&job.busy[i]);
		load_rows_release(&job.rows[i]);
	}
	predictor_release(&job.predictor);
	free(job.loads);
	free(job.found);
	if (ret && !job.err.line[0])
		err_set(&job.err, -ret, "%s", strerror(-ret));
	if (ret)
		job.err.code = -ret;
	if (ret)
		return cli_fail(cli, &job.err);
	return outside ? CLI_CANNOT_TELL : broken ? CLI_FAILED : CLI_DONE;
}

const struct command command_headroom = {
	.name = "headroom",
	.summary = "how many times today's load a target bears before an objective breaks",
	.usage = "PROFILE.json --slo OBJECTIVE,... (--model MODEL.json,... | --db FILE) [--report "
		 "FILE.html]",
	.example = "blkcast headroom today.json --slo read.p95=20ms --db results.sqlite\n"
		   "blkcast fit --db results.sqlite --response read_p95_s -o p95.json\n"
		   "blkcast headroom today.json --slo read.p95=20ms --model p95.json --report "
		   "headroom.html",
	.details =
		"The model's load variable (clients, rate or depth) is multiplied until the "
		"prediction breaks the\nobjective, within the range that was measured; the interval "
		"is where the ends of the prediction's\n90 % interval break it. Clients that think "
		"do so as long as today, by the interactive response-time\nlaw (--load think: there "
		"are as many, and they think less); that needs models of read_s and write_s\nbeside "
		"the objective's. Several devices in the profile add up. Exit status 1 where an "
		"objective is\nbroken today or the target cannot carry the load, 3 where the load "
		"lies outside the model.",
	.run = cmd_headroom_run,
};
