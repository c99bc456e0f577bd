// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/capacity_options.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/load_options.h"
#include "analyzer/cmd/show.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/whatif/capacity_device.h"
#include "analyzer/cmd/selection_options.h"
#include "analyzer/whatif/capacity_answer.h"
#include "base/json.h"
#include "base/units.h"

/* Notes what was interpolated, and where C is not constant. */
static void capacity_warn(const struct cli *cli, const struct capacity_result *r)
{
	uint64_t interpolated = 0, extrapolated = 0, requests = 0;
	const struct capacity_check *worst = NULL;
	char text[UNITS_BYTES];

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
	struct load_options options;
	struct word_list measure, mix, sizes, where;
	const char *db, *storage, *campaign, *size, *mix_column, *target;
	bool of_requests;
	double bound;
	struct loads loads;
	struct capacity_result r;
};

static int read_store(struct job *job, struct err *err)
{
	struct table table = { 0 };
	struct capacity_columns k = { .size = job->size,
				      .mix = job->mix_column,
				      .target = job->target,
				      .where = job->where.items,
				      .nr_where = job->where.nr };
	char **factors = NULL;
	int ret = results_table(&table, job->db, job->campaign, NULL, &factors, &k.nr_factors, err);

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
	ret = capacity_of_device(&job->r.capacity, &model, err);
	if (ret)
		err_prefix(err, "%s", job->storage);
	return ret;
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

/* Without --sizes each measured size has the whole capacity. */
static int mix_sizes(struct job *job, double read_ratio, struct err *err)
{
	struct capacity_result *r = &job->r;
	const struct capacity *c = &r->capacity;
	int ret;

	r->alone = !job->sizes.nr;
	r->nr_parts = r->alone ? c->nr_sizes : job->sizes.nr;
	r->parts = calloc(r->nr_parts + 1, sizeof(*r->parts));
	r->totals = calloc(r->nr_parts + 1, sizeof(*r->totals));
	if (!r->parts || !r->totals)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_sizes && r->alone; i++)
		r->parts[i] = (struct capacity_part){ .bytes = c->sizes[i].bytes,
						      .share = 1,
						      .read_ratio = read_ratio };
	if (!r->alone) {
		ret = capacity_sizes(&job->sizes, read_ratio, r->parts, err);
		return ret ? ret
			   : capacity_mix(c, r->parts, r->nr_parts, job->of_requests,
					  &r->totals[0]);
	}
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

	if (ret)
		return ret;
	ret = job->db	     ? read_store(job, err)
	      : job->storage ? read_device(job, err)
			     : capacity_measured(&r->capacity, &job->measure, err);
	if (ret)
		return ret;
	ret = capacity_finish(&r->capacity, err);
	if (ret)
		return ret;
	ret = loads_read(&job->loads, &job->options, cli, SIZE_MAX, err);
	if (ret)
		return ret;
	r->loads = job->loads.groups;
	r->nr_loads = job->loads.nr;
	ret = mix_sizes(job, read_ratio, err);
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

static int cmd_capacity_run(struct cli *cli)
{
	struct job job = { .bound = CAPACITY_BOUND };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&job.options),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &job.measure,
			 "measured requests per second; 70=N: with 70 % reads"),
		CLI_STRING("db", 0, "FILE", &job.db, "a measurement store instead"),
		CLI_STRING("storage", 0, "FILE", &job.storage,
			   "or ask this simulated device (blkcast storage calibrate)"),
		CLI_STRING("campaign", 0, "NAME", &job.campaign,
			   "of --db, where there are several"),
		CLI_STRING("size-factor", 0, "NAME", &job.size, "default size, request_size, bs"),
		CLI_STRING("mix-factor", 0, "NAME", &job.mix_column,
			   "default read, mix, rwmixread; in percent, or 0 to 1"),
		CLI_STRING("target", 0, "NAME", &job.target, "of --db, where there are several"),
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
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job.options, cli))
		return cli->status;
	if ((job.db != NULL) + (job.storage != NULL) + (job.measure.nr > 0) != 1)
		return cli_usage(cli, "expected one of --measure, --db and --storage");
	if (!(job.bound > 0))
		return cli_usage(cli, "--bound: expected a ratio above 0");
	ret = cmd_capacity_work(cli, &job, &err);
	if (!ret)
		capacity_warn(cli, &job.r);
	cmd_capacity_release(&job.r);
	loads_release(&job.loads);
	load_options_release(&job.options);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

const struct command command_capacity = {
	.name = "capacity",
	.summary =
		"throughput of any mix of reads, writes and sizes from two measurements per size",
	.usage =
		"--measure SIZE:read=N,write=N,... [--mix read=P] [--sizes ...] [PROFILE.json...]\n"
		"--db FILE [--campaign NAME] [--mix read=P] [--sizes ...] [PROFILE.json...]\n"
		"--storage DEVICE.json [--mix read=P] [--sizes ...] [PROFILE.json...]",
	.example = "blkcast capacity --measure 4k:read=20000,write=5000 --measure "
		   "64k:read=4000,write=1600 --mix read=70 --sizes 4k=0.6,64k=0.4",
	.details =
		"For one size C = T_read + f_rw T_write is the same for every mix. Profiles are "
		"asked how much of\nthe capacity each uses and how many of it fit. Several numbers "
		"for one size and mix (read=N\nread=N) are repetitions: they give 90 % intervals, "
		"as do several runs in --db. Further mixes tell\nhow constant C is. Sizes between "
		"the measured ones are interpolated on log size, others\nextrapolated; both are "
		"marked.",
	.run = cmd_capacity_run,
};
