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
#include "analyzer/whatif/capacity.h"
#include "base/json.h"
#include "base/units.h"

/* What was found, for the answer. */

struct capacity_result {
	struct capacity capacity;
	struct capacity_part *parts; /* all members are owned */
	size_t nr_parts;
	/* each part has the whole capacity, so there is one total per part; otherwise one in all */
	bool alone;
	bool of_requests;
	struct capacity_value *totals;
	struct capacity_check *checks;
	size_t nr_checks;
	double bound;
	struct loads loads;
	/* one entry per load, followed by one for all together where there are several */
	struct capacity_use *uses;
};

static void capacity_show_interval(struct answer_table *t, const struct capacity_value *v,
				   double scale)
{
	char low[UNITS_BYTES], high[UNITS_BYTES];

	if (isfinite(v->low))
		answer_words(t, "%s .. %s", units_count(scale * v->low, low),
			     units_count(scale * v->high, high));
	else
		answer_words(t, "-");
}

static void capacity_show_sizes(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "size" },
		{ .title = "C /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "f_rw", .right = true },
		{ .title = "reads", .right = true },
		{ .title = "share", .right = true },
		{ .title = "read /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "write /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "total /s", .unit = ANSWER_COUNT },
		{ .title = "90 %", .right = true },
		{ .title = "" },
	};
	struct answer_table *t =
		answer_table(a, NULL, NULL, NULL, columns, sizeof(columns) / sizeof(*columns));
	char text[UNITS_BYTES];

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct capacity_part *p = &r->parts[i];

		answer_words(t, "%s", units_bytes((double)p->bytes, text));
		answer_number(t, p->at.capacity);
		answer_words(t, "%.3g", p->at.f_rw);
		answer_words(t, "%.4g %%", 100 * p->read_ratio);
		answer_words(t, "%.4g", p->share);
		answer_number(t, p->read_iops);
		answer_number(t, p->write_iops);
		answer_number(t, p->read_iops + p->write_iops);
		if (r->alone)
			capacity_show_interval(t, &r->totals[i], 1);
		else
			answer_words(t, "%s", "");
		answer_words(t, "%s",
			     p->at.extrapolated	  ? "extrapolated"
			     : p->at.interpolated ? "interpolated"
						  : "measured");
	}
	if (r->alone)
		return;
	answer_words(t, "total");
	for (int blank = 0; blank < 6; blank++)
		answer_words(t, "%s", "");
	answer_number(t, r->totals[0].value);
	capacity_show_interval(t, &r->totals[0], 1);
	answer_words(t, "%s", "");
}

static void capacity_show_checks(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "size" },
		{ .key = "bytes", .unit = ANSWER_INTEGER },
		{ .title = "reads", .right = true },
		{ .key = "read_ratio" },
		{ .key = "total_iops", .title = "total /s", .unit = ANSWER_COUNT },
		{ .key = "predicted_iops", .title = "predicted", .unit = ANSWER_COUNT },
		{ .key = "error_ratio", .title = "error", .unit = ANSWER_RATIO },
		{ .key = "capacity", .title = "C there", .unit = ANSWER_COUNT },
		{ .key = "deviation_ratio", .title = "from C", .unit = ANSWER_CHANGE },
	};
	struct answer_table *t = answer_table(a, "constancy", "how constant C is", NULL, columns,
					      sizeof(columns) / sizeof(*columns));
	char text[UNITS_BYTES];

	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct capacity_check *c = &r->checks[i];

		answer_words(t, "%s", units_bytes((double)c->point->bytes, text));
		answer_number(t, (double)c->point->bytes);
		answer_words(t, "%.4g %%", 100 * c->point->read_ratio);
		answer_number(t, c->point->read_ratio);
		answer_number(t, c->point->mean);
		answer_number(t, c->predicted);
		answer_number(t, c->error_ratio);
		answer_number(t, c->capacity);
		answer_number(t, c->deviation_ratio);
	}
}

static void capacity_show_use(struct answer_table *t, const char *host, const char *device,
			      const struct capacity_use *u)
{
	answer_words(t, "%s", host);
	answer_words(t, "%s", device);
	answer_number(t, u->rate_per_s);
	answer_words(t, "%.3g %%", 100 * u->share.value);
	capacity_show_interval(t, &u->share, 100);
	answer_words(t, "%s", u->share.value <= 1 ? "yes" : "no");
	answer_words(t, "%.3g", 1 / u->share.value);
}

static json_t *capacity_interval_json(const struct capacity_value *v)
{
	return isfinite(v->low) ? json_pack("[f,f]", v->low, v->high) : json_null();
}

static json_t *capacity_sizes_json(const struct capacity_result *r)
{
	json_t *sizes = json_array();

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct capacity_part *p = &r->parts[i];
		json_t *one = json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:b}", "bytes",
					(json_int_t)p->bytes, "capacity", p->at.capacity, "f_rw",
					p->at.f_rw, "share", p->share, "read_ratio", p->read_ratio,
					"read_iops", p->read_iops, "write_iops", p->write_iops,
					"interpolated", p->at.interpolated, "extrapolated",
					p->at.extrapolated);

		if (r->alone)
			json_object_set_new(one, "ci", capacity_interval_json(&r->totals[i]));
		json_array_append_new(sizes, one);
	}
	return sizes;
}

static json_t *capacity_use_json(const struct capacity_use *u)
{
	return json_pack("{s:f, s:f, s:o, s:b, s:f, s:I, s:I}", "rate_per_s", u->rate_per_s,
			 "capacity_share", u->share.value, "ci", capacity_interval_json(&u->share),
			 "fits", u->share.value <= 1, "how_many_fit", 1 / u->share.value,
			 "interpolated_requests", (json_int_t)u->interpolated,
			 "extrapolated_requests", (json_int_t)u->extrapolated);
}

/* Adds how much each load uses, and for people all together in a row of the same table. */
static void capacity_show_uses(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "host" },
		{ .title = "device" },
		{ .title = "requests /s", .unit = ANSWER_COUNT },
		{ .title = "uses", .right = true },
		{ .title = "90 %", .right = true },
		{ .title = "fits" },
		{ .title = "how many fit", .right = true },
	};
	struct answer_table *t =
		answer_table(a, NULL, NULL, NULL, columns, sizeof(columns) / sizeof(*columns));
	json_t *uses = json_array();

	for (size_t i = 0; i < r->loads.nr; i++) {
		const struct profile *p = &r->loads.groups[i]->whole;
		json_t *one = capacity_use_json(&r->uses[i]);

		json_object_set_new(one, "host", json_text(p->host));
		json_object_set_new(one, "device_name", json_text(p->device_name));
		json_array_append_new(uses, one);
		capacity_show_use(t, p->host, p->device_name, &r->uses[i]);
	}
	if (r->loads.nr > 1)
		capacity_show_use(t, "all together", "", &r->uses[r->loads.nr]);
	answer_member(a, "profiles", uses);
}

static struct answer *capacity_answer(const struct capacity_result *r)
{
	struct answer *a = answer_new("blkcast.capacity/1", "Capacity");
	/* Sizes that each have the whole capacity cannot be added. */
	bool has_total = !r->alone || r->nr_parts <= 1;

	answer_fact(a, "confidence", NULL, ANSWER_RATIO, CAPACITY_LEVEL);
	answer_member(a, "sizes", capacity_sizes_json(r));
	capacity_show_sizes(r, a);
	capacity_show_checks(r, a);
	capacity_show_uses(r, a);
	answer_fact_words(a, "shares", NULL,
			  r->alone	   ? "alone"
			  : r->of_requests ? "requests"
					   : "capacity");
	answer_fact(a, "total_iops", NULL, ANSWER_PER_S, has_total ? r->totals[0].value : NAN);
	answer_member(a, "ci", has_total ? capacity_interval_json(&r->totals[0]) : json_null());
	if (r->loads.nr > 1)
		answer_member(a, "together", capacity_use_json(&r->uses[r->loads.nr]));
	return a;
}

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
		cli_note(
			cli,
			"C is not constant: at %s and %.4g %% reads it is %+.1f %% from that of reads "
			"alone (bound %.3g %%)",
			units_bytes((double)worst->point->bytes, text),
			100 * worst->point->read_ratio, 100 * worst->deviation_ratio,
			100 * r->bound);
	for (size_t i = 0; i < r->loads.nr; i++) {
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
	struct load_facts *all = calloc(r->loads.nr + 1, sizeof(*all));
	int ret = 0;

	r->uses = calloc(r->loads.nr + 1, sizeof(*r->uses));
	if (!all || !r->uses) {
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < r->loads.nr; i++) {
		const struct profile_group *group = r->loads.groups[i];

		load_facts_of_group(group, &all[i]);
		ret = capacity_use(&r->capacity, &all[i], 1, &r->uses[i], err);
		if (ret) {
			err_prefix(err, "%s %s", group->whole.host, group->whole.device_name);
			goto out;
		}
	}
	if (r->loads.nr > 1)
		ret = capacity_use(&r->capacity, all, r->loads.nr, &r->uses[r->loads.nr], err);
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
	ret = loads_read(&r->loads, &job->options, cli, SIZE_MAX, err);
	if (ret)
		return ret;
	ret = mix_sizes(job, read_ratio, err);
	if (!ret && r->loads.nr)
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
	loads_release(&r->loads);
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
