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
#include "analyzer/cmd/capacity_text.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/load_options.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/cmd/selection_options.h"

struct job {
	struct load_options loads;
	struct word_list measure, mix, sizes, where;
	const char *db, *campaign, *size, *mix_column, *target;
	bool of_requests;
	double bound;
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

static int read_profiles(struct cli *cli, const struct load_options *o, struct capacity_result *r,
			 struct err *err)
{
	int ret = 0;

	r->sets = calloc((size_t)cli->argc + 1, sizeof(*r->sets));
	if (!r->sets)
		return -ENOMEM;
	for (int i = 0; i < cli->argc; i++) {
		profile_set_init(&r->sets[i]);
		ret = load_options_read(o, cli, cli->argv[i], &r->sets[i], err);
		r->nr_sets++;
		r->nr_uses += r->sets[i].nr_groups;
		if (ret)
			return ret;
	}
	return 0;
}

/* Uses each load alone, followed by all together. */
static int use_profiles(struct capacity_result *r, struct err *err)
{
	struct load_facts *all = calloc(r->nr_uses + 1, sizeof(*all));
	size_t nr = 0;
	int ret = all ? 0 : -ENOMEM;

	r->uses = calloc(r->nr_uses + 1, sizeof(*r->uses));
	if (!r->uses)
		ret = -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < r->nr_sets; i++) {
		for (size_t g = 0; g < r->sets[i].nr_groups; g++) {
			const struct profile_group *group = &r->sets[i].groups[g];

			load_facts_of_group(group, &all[nr]);
			ret = capacity_use(&r->capacity, &all[nr], 1, &r->uses[nr], err);
			nr++;
			if (ret)
				err_prefix(err, "%s %s", group->whole.host,
					   group->whole.device_name);
			if (ret)
				goto out;
		}
	}
	if (nr > 1)
		ret = capacity_use(&r->capacity, all, nr, &r->uses[nr], err);
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

	if (!ret)
		ret = job->db ? read_store(job, err)
			      : capacity_measured(&r->capacity, &job->measure, err);
	if (!ret)
		ret = capacity_finish(&r->capacity, err);
	if (!ret)
		ret = read_profiles(cli, &job->loads, r, err);
	if (!ret)
		ret = mix_sizes(job, read_ratio, err);
	if (!ret && r->nr_uses)
		ret = use_profiles(r, err);
	if (ret)
		return ret;
	r->checks = calloc(r->capacity.nr_points, sizeof(*r->checks));
	if (!r->checks)
		return -ENOMEM;
	r->nr_checks = capacity_check(&r->capacity, r->checks);
	r->of_requests = job->of_requests;
	r->bound = job->bound;
	return cli->json ? capacity_json(r) : capacity_print(r);
}

static void cmd_capacity_release(struct capacity_result *r)
{
	for (size_t i = 0; i < r->nr_sets; i++)
		profile_set_release(&r->sets[i]);
	free(r->sets);
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
		LOAD_OPTIONS(&job.loads),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &job.measure,
			 "measured requests per second; 70=N: with 70 % reads"),
		CLI_STRING("db", 0, "FILE", &job.db, "a measurement store instead"),
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

	if (!cli_parse(cli, options) || !load_options_take(&job.loads, cli))
		return cli->status;
	if ((job.db != NULL) + (job.measure.nr > 0) != 1)
		return cli_usage(cli, "expected either --measure or --db");
	if (!(job.bound > 0))
		return cli_usage(cli, "--bound: expected a ratio above 0");
	ret = cmd_capacity_work(cli, &job, &err);
	if (!ret)
		capacity_warn(cli, &job.r);
	cmd_capacity_release(&job.r);
	load_options_release(&job.loads);
	if (ret < 0) {
		if (!err.line[0])
			err_set(&err, -ret, "%s", strerror(-ret));
		err.code = -ret;
		return cli_fail(cli, &err);
	}
	return CLI_DONE;
}

const struct command command_capacity = {
	.name = "capacity",
	.summary =
		"throughput of any mix of reads, writes and sizes from two measurements per size",
	.usage =
		"--measure SIZE:read=N,write=N,... [--mix read=P] [--sizes ...] [PROFILE.json...]\n"
		"--db FILE [--campaign NAME] [--mix read=P] [--sizes ...] [PROFILE.json...]",
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
