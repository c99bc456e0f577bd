// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli/capacity_options.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/whatif/capacity/capacity_answer.h"
#include "analyzer/whatif/capacity/capacity_device.h"
#include "base/text/units.h"

/* Notes which sizes are left out, what was interpolated, and where C is not constant. */
static void capacity_warn(const struct cli *cli, const struct capacity_result *r,
			  uint64_t left_out_bytes)
{
	uint64_t interpolated = 0, extrapolated = 0, requests = 0;
	const struct capacity_check *worst = NULL;
	char text[UNITS_BYTES];

	if (left_out_bytes)
		cli_note(cli,
			 "sizes from %s on are left out: one request of them at a time breaks %s",
			 units_bytes((double)left_out_bytes, text), r->objectives);
	for (size_t i = 0; i < r->nr_checks; i++)
		if (!worst || fabs(r->checks[i].deviation_ratio) > fabs(worst->deviation_ratio))
			worst = &r->checks[i];
	if (worst && fabs(worst->deviation_ratio) > r->bound)
		cli_note(cli,
			 "C is not constant: at %s and %.4g %% reads it is %+.1f %% from that of "
			 "reads alone (bound %.3g %%)",
			 units_bytes((double)worst->point->bytes, text),
			 100 * worst->point->read_ratio, 100 * worst->deviation_ratio,
			 100 * r->bound);
	for (size_t i = 0; i < r->nr_loads; i++) {
		interpolated += r->uses[i].interpolated;
		extrapolated += r->uses[i].extrapolated;
		requests += r->uses[i].requests;
	}
	if (interpolated || extrapolated)
		cli_note(cli,
			 "of %" PRIu64 " requests %" PRIu64
			 " are of sizes between the measured ones "
			 "(interpolated), %" PRIu64 " outside them (extrapolated)",
			 requests, interpolated, extrapolated);
}

struct job {
	struct load_choice options;
	struct predictor_options by;
	struct word_list measure, mix, sizes, where, slo;
	const char *storage, *size, *mix_column;
	bool of_requests;
	double bound;
	struct predictor predictor;
	struct headroom_objective objectives[WORD_LIST_MAX];
	char slo_text[256]; /* the objectives as the caller wrote them */
	struct capacity_limits limits;
	struct loads loads;
	struct capacity_result r;
};

static int read_store(struct job *job, struct err *err)
{
	struct table table = { 0 };
	struct capacity_columns k = { .size = job->size,
				      .mix = job->mix_column,
				      .target = job->by.target,
				      .where = job->where.items,
				      .nr_where = job->where.nr };
	char **factors = NULL;
	int ret = results_table(&table, job->by.db, job->by.campaign, NULL, &factors, &k.nr_factors,
				err);

	k.factors = (const char *const *)factors;
	if (ret)
		goto out;
	ret = capacity_read(&job->r.capacity, &table, &k, err);
out:
	results_names_free(factors, k.nr_factors);
	table_release(&table);
	return ret;
}

static int read_device(struct job *job, struct err *err)
{
	struct device_model model;
	int ret = device_model_load(&model, job->storage, err);

	if (ret)
		return ret;
	ret = capacity_of_device(&job->r.capacity, &model, &job->limits, err);
	if (ret < 0)
		err_prefix(err, "%s", job->storage);
	return ret;
}

static int read_models(const struct cli *cli, struct job *job, struct err *err)
{
	int ret = predictor_open(&job->predictor, &job->by, &cli->teller, err);

	return ret ? ret : capacity_of_models(&job->r.capacity, &job->predictor, &job->limits, err);
}

static int read_objectives(struct job *job, struct err *err)
{
	size_t used = 0;
	int ret = 0;

	for (size_t i = 0; i < job->slo.nr && !ret; i++) {
		ret = headroom_read_objective(job->slo.items[i], &job->objectives[i], err);
		if (used < sizeof(job->slo_text))
			used += (size_t)snprintf(job->slo_text + used, sizeof(job->slo_text) - used,
						 "%s%s", i ? " and " : "", job->slo.items[i]);
	}
	job->limits = (struct capacity_limits){ .objectives = job->objectives, .nr = job->slo.nr };
	job->r.objectives = job->slo.nr ? job->slo_text : NULL;
	return ret;
}

/* Widens the range of sizes that is asked for. */
static void cmd_capacity_ask_size(struct capacity_limits *limits, double bytes)
{
	limits->low_bytes = limits->high_bytes > 0 ? fmin(limits->low_bytes, bytes) : bytes;
	limits->high_bytes = fmax(limits->high_bytes, bytes);
}

/*
 * Notes which sizes are asked for: those of --sizes and those that the loads send. Without both all
 * measured sizes are.
 */
static void cmd_capacity_ask_sizes(struct job *job)
{
	for (size_t i = 0; i < job->r.nr_parts; i++)
		cmd_capacity_ask_size(&job->limits, (double)job->r.parts[i].bytes);
	for (size_t i = 0; i < job->loads.nr; i++) {
		struct load_facts f;

		load_facts_of_group(job->loads.groups[i], &f);
		for (int side = 0; side < 2; side++)
			for (size_t k = 0; k < f.sizes[side].nr; k++)
				cmd_capacity_ask_size(&job->limits, f.sizes[side].at[k].bytes);
	}
}

/* Says that no throughput keeps an objective. */
static int cmd_capacity_broken(const struct cli *cli, const struct job *job, struct err *err)
{
	const struct capacity_limits *l = &job->limits;
	struct answer *a = answer_new("blkcast.capacity/1", "Capacity");
	char bytes[UNITS_BYTES];

	answer_fact(a, "total_iops", NULL, ANSWER_PER_S, 0);
	answer_conclude(a,
			"The target has no capacity that keeps %s: one request of %s at a time "
			"breaks it.",
			job->slo.items[l->broken_objective],
			units_bytes((double)l->broken_bytes, bytes));
	return cli_show(cli, a, NULL, err);
}

/* Uses each load alone, followed by all together. */
static int use_profiles(struct capacity_result *r, struct err *err)
{
	struct load_facts *all = calloc(r->nr_loads + 1, sizeof(*all));
	int ret = 0;

	r->uses = calloc(r->nr_loads + 1, sizeof(*r->uses));
	if (!all || !r->uses) {
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < r->nr_loads; i++) {
		const struct profile_group *group = r->loads[i];

		load_facts_of_group(group, &all[i]);
		ret = capacity_use(&r->capacity, &all[i], 1, &r->uses[i], err);
		if (ret) {
			err_prefix(err, "%s %s", group->whole.host, group->whole.device_name);
			goto out;
		}
	}
	if (r->nr_loads > 1)
		ret = capacity_use(&r->capacity, all, r->nr_loads, &r->uses[r->nr_loads], err);
out:
	free(all);
	return ret;
}

/* Takes the sizes of --sizes. */
static int cmd_capacity_take_sizes(struct job *job, double read_ratio, struct err *err)
{
	struct capacity_result *r = &job->r;

	r->nr_parts = job->sizes.nr;
	r->parts = calloc(r->nr_parts + 1, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	return r->nr_parts ? capacity_sizes(&job->sizes, read_ratio, r->parts, err) : 0;
}

/* Without --sizes each measured size has the whole capacity. */
static int mix_sizes(struct job *job, double read_ratio)
{
	struct capacity_result *r = &job->r;
	const struct capacity *c = &r->capacity;
	size_t nr_totals = r->nr_parts ? 1 : c->nr_sizes;
	int ret;

	r->alone = !r->nr_parts;
	r->totals = calloc(nr_totals + 1, sizeof(*r->totals));
	if (!r->totals)
		return -ENOMEM;
	if (!r->alone)
		return capacity_mix(c, r->parts, r->nr_parts, job->of_requests, &r->totals[0]);
	free(r->parts);
	r->parts = calloc(c->nr_sizes + 1, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	r->nr_parts = c->nr_sizes;
	for (size_t i = 0; i < r->nr_parts; i++)
		r->parts[i] = (struct capacity_part){ .bytes = c->sizes[i].bytes,
						      .share = 1,
						      .read_ratio = read_ratio };
	for (size_t i = 0; i < r->nr_parts; i++) {
		ret = capacity_mix(c, &r->parts[i], 1, false, &r->totals[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int cmd_capacity_work(struct cli *cli, struct job *job, struct err *err)
{
	struct capacity_result *r = &job->r;
	double read_ratio = 1;
	int ret = capacity_read_share(&job->mix, &read_ratio, err);

	if (!ret)
		ret = read_objectives(job, err);
	if (!ret)
		ret = cmd_capacity_take_sizes(job, read_ratio, err);
	if (!ret)
		ret = loads_read(&job->loads, &job->options, &cli->teller, SIZE_MAX, err);
	if (ret)
		return ret;
	if (job->slo.nr)
		cmd_capacity_ask_sizes(job);
	ret = job->storage			 ? read_device(job, err)
	      : job->by.models.nr || job->slo.nr ? read_models(cli, job, err)
	      : job->by.db			 ? read_store(job, err)
			   : capacity_measured(&r->capacity, &job->measure, err);
	if (ret)
		return ret < 0 ? ret : cmd_capacity_broken(cli, job, err);
	ret = capacity_finish(&r->capacity, err);
	if (ret)
		return ret;
	r->loads = job->loads.groups;
	r->nr_loads = job->loads.nr;
	ret = mix_sizes(job, read_ratio);
	if (!ret && r->nr_loads)
		ret = use_profiles(r, err);
	if (ret)
		return ret;
	r->checks = calloc(r->capacity.nr_points, sizeof(*r->checks));
	if (!r->checks)
		return -ENOMEM;
	r->nr_checks = capacity_check(&r->capacity, r->checks);
	r->of_requests = job->of_requests;
	r->bound = job->bound;
	return cli_show(cli, capacity_answer(r), NULL, err);
}

static void cmd_capacity_release(struct capacity_result *r)
{
	free(r->uses);
	free(r->parts);
	free(r->totals);
	free(r->checks);
	capacity_release(&r->capacity);
}

/* Checks the combination of options. Returns 0, or the exit status for what was refused. */
static int cmd_capacity_check(struct job *job, struct cli *cli)
{
	const struct predictor_options *by = &job->by;
	int ret = predictor_options_take(&job->by, &job->storage, cli);

	if (ret)
		return ret;
	if (predictor_options_given(by) + (job->storage != NULL) + (job->measure.nr > 0) != 1)
		return cli_usage(cli, "expected one of --measure, --model, --db and --storage");
	if (job->slo.nr && job->measure.nr)
		return cli_usage(cli, "--slo: expected --model, --db or --storage beside it: "
				      "measured throughputs tell no response times");
	if ((job->where.nr || job->size || job->mix_column) && (!by->db || job->slo.nr))
		return cli_usage(cli, "--where, --size-factor, --mix-factor: of the throughputs in "
				      "--db; with --slo, models learn from all of it");
	if (by->set.nr && !by->models.nr && !(by->db && job->slo.nr))
		return cli_usage(cli, "--set: expected --model, or --db with --slo, beside it");
	if (!(job->bound > 0))
		return cli_usage(cli, "--bound: expected a ratio above 0");
	return 0;
}

static int cmd_capacity_run(struct cli *cli)
{
	struct job job = { .bound = CAPACITY_BOUND };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&job.options),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &job.measure,
			 "measured requests per second; 70=N: with 70 % reads"),
		PREDICTOR_OPTIONS(&job.by),
		CLI_STRING("storage", 0, "FILE", &job.storage,
			   "or ask this simulated device (blkcast storage calibrate)"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job.slo,
			 "the capacity that keeps these: read.p95=20ms, write.mean=5ms, ..."),
		CLI_STRING("size-factor", 0, "NAME", &job.size, "default size, request_size, bs"),
		CLI_STRING("mix-factor", 0, "NAME", &job.mix_column,
			   "default read, mix, rwmixread; in percent, or 0 to 1"),
		CLI_LIST("where", 0, "FACTOR=VALUE", &job.where, "only those rows of --db"),
		CLI_LIST("mix", 0, "read=PERCENT", &job.mix, "share of reads, default 100"),
		CLI_LIST("sizes", 0, "SIZE=SHARE[:READ],...", &job.sizes,
			 "sizes together, with shares of the capacity that sum to 1"),
		CLI_FLAG("request-shares", 0, &job.of_requests,
			 "--sizes: shares of the requests instead"),
		CLI_DOUBLE("bound", 0, "RATIO", &job.bound,
			   "warn where C varies by more, default 0.1"),
		CLI_END,
	};
	struct err err = { 0 };
	bool fits;
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job.options, cli))
		return cli->status;
	ret = cmd_capacity_check(&job, cli);
	if (ret)
		return ret;
	lsq_single_thread();
	ret = cmd_capacity_work(cli, &job, &err);
	if (!ret && !job.limits.broken)
		capacity_warn(cli, &job.r, job.limits.left_out_bytes);
	fits = !job.limits.broken && (ret || capacity_fits(&job.r));
	cmd_capacity_release(&job.r);
	loads_release(&job.loads);
	load_options_release(&job.options);
	predictor_release(&job.predictor);
	return cli_finish(cli, ret, &err, fits ? CLI_DONE : CLI_FAILED);
}

const struct command command_capacity = {
	.name = "capacity",
	.summary =
		"throughput of any mix of reads, writes and sizes from two measurements per size",
	.usage =
		"--measure SIZE:read=N,write=N,... [--mix read=P] [--sizes ...] [PROFILE.json...]\n"
		"(--db FILE | --storage DEVICE.json | --model MODEL.json,...) [--slo OBJECTIVE,...]\n"
		"  [--mix read=P] [--sizes ...] [PROFILE.json[=COUNT]...]",
	.example = "blkcast capacity --measure 4k:read=20000,write=5000 --measure "
		   "64k:read=4000,write=1600 --mix read=70 --sizes 4k=0.6,64k=0.4",
	.details =
		"For one size C = T_read + f_rw T_write is the same for every mix. Profiles are "
		"asked how much of\nthe capacity each uses and how many of it fit; exit status 1 where "
		"they do not fit together. With\n--slo the capacity is what is served while the "
		"objectives hold, by models of read_s and write_s, or\nby a device. Several numbers "
		"for one size and mix (read=N\nread=N) are repetitions: they give 90 % intervals, "
		"as do several runs in --db. Further mixes tell\nhow constant C is. Sizes between "
		"the measured ones are interpolated on log size, others\nextrapolated; both are "
		"marked.",
	.run = cmd_capacity_run,
};
