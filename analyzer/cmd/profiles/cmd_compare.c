// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/characterize/compare.h"
#include "analyzer/characterize/compare_text.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/data/json.h"
#include "base/system/output_file.h"
#include "base/text/shown.h"

struct job {
	const struct cli *cli;
	double tolerance_ratio;
	size_t verdicts[NR_VERDICTS];
	size_t nr_pairs;
	bool is_single; /* there is one pair alone */
	json_t *pairs;
	struct answer *page; /* NULL: no page was asked for */
};

/* A device is identified by its name, or by its number where the trace holds no name. */
static bool cmd_compare_same_device(const struct profile *a, const struct profile *b)
{
	if (!a->device_name[0] && !b->device_name[0])
		return strcmp(a->device, b->device) == 0;
	return strcmp(a->device_name, b->device_name) == 0;
}

/*
 * Returns the group of b with which g is compared. This is the only one where each side has one
 * group. Otherwise it is the same device of the same host, or, where no host matches, the same
 * device of another host if b has it only once.
 */
static const struct profile_group *cmd_compare_partner(const struct profile_set *a,
						       const struct profile_group *g,
						       const struct profile_set *b)
{
	const struct profile_group *found = NULL;
	size_t nr_found = 0;

	if (a->nr_groups == 1 && b->nr_groups == 1)
		return &b->groups[0];
	for (size_t i = 0; i < b->nr_groups; i++) {
		const struct profile_group *other = &b->groups[i];

		if (!cmd_compare_same_device(&other->whole, &g->whole))
			continue;
		if (strcmp(other->whole.host, g->whole.host) == 0)
			return other;
		found = other;
		nr_found++;
	}
	return nr_found == 1 ? found : NULL;
}

static json_t *row_json(const struct comparison *c)
{
	static const char *const units[] = {
		"per_s", "bytes", "bytes_per_s", "s", "ratio", "count"
	};

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:[o,o], s:s, s:s}", "dimension", c->dimension,
			 "unit", units[c->unit], "a", json_number(c->a), "b", json_number(c->b),
			 "difference", json_number(c->difference), "ci", json_number(c->lo),
			 json_number(c->hi), "method", c->method, "verdict",
			 verdict_name(c->verdict));
}

static const char *cmd_compare_name(const struct profile *p)
{
	return p->device_name[0] ? p->device_name : p->device;
}

/* Prints the hosts and devices that the table below compares. */
static void print_pair(const struct job *job, const struct profile *a, const struct profile *b)
{
	printf("%sA: ", job->nr_pairs > 1 ? "\n" : "");
	shown_print(a->host, stdout);
	putchar(' ');
	shown_print(cmd_compare_name(a), stdout);
	printf("   B: ");
	shown_print(b->host, stdout);
	putchar(' ');
	shown_print(cmd_compare_name(b), stdout);
	putchar('\n');
}

/* Adds a pair to the page. */
static int cmd_compare_add(struct job *job, struct comparison *rows, size_t nr,
			   const struct profile *a, const struct profile *b)
{
	char title[4 * PROFILE_NAME_BYTES + 16];

	snprintf(title, sizeof(title), "A: %s %s, B: %s %s", a->host, cmd_compare_name(a), b->host,
		 cmd_compare_name(b));
	return compare_text_page(rows, nr, job->tolerance_ratio, title, job->is_single, job->page);
}

static int compare_pair(struct job *job, const struct profile_group *a,
			const struct profile_group *b)
{
	struct comparison *rows = calloc(compare_nr_dimensions(), sizeof(*rows));
	json_t *all = json_array(), *pair;
	size_t nr = 0;
	int ret = rows && all ? 0 : -ENOMEM;

	for (size_t i = 0; i < compare_nr_dimensions() && ret == 0; i++) {
		struct comparison *c = &rows[nr];

		compare_dimension(a, b, i, job->tolerance_ratio, c);
		if (isnan(c->a) && isnan(c->b))
			continue;
		nr++;
		job->verdicts[c->verdict]++;
		if (job->cli->json)
			json_array_append_new(all, row_json(c));
	}
	if (ret)
		goto out;
	job->nr_pairs++;
	if (job->page)
		ret = cmd_compare_add(job, rows, nr, &a->whole, &b->whole);
	if (ret)
		goto out;
	if (job->cli->json) {
		pair = json_pack("{s:s, s:s, s:s, s:s, s:O}", "host_a", a->whole.host, "device_a",
				 cmd_compare_name(&a->whole), "host_b", b->whole.host, "device_b",
				 cmd_compare_name(&b->whole), "dimensions", all);
		if (!pair || json_array_append_new(job->pairs, pair) < 0)
			ret = -ENOMEM;
	} else {
		print_pair(job, &a->whole, &b->whole);
		ret = compare_text_print(rows, nr, job->tolerance_ratio, stdout);
	}
out:
	json_decref(all);
	free(rows);
	return ret;
}

static int print_end(struct job *job, char **paths)
{
	const size_t *v = job->verdicts;

	if (!job->cli->json) {
		printf("\n%zu same, %zu better, %zu worse, %zu different, cannot tell %zu; "
		       "tolerance %.3g %%\n",
		       v[VERDICT_SAME], v[VERDICT_BETTER], v[VERDICT_WORSE], v[VERDICT_DIFFERENT],
		       v[VERDICT_CANNOT_TELL], 100 * job->tolerance_ratio);
		return 0;
	}
	return cli_show_json(json_pack(
		"{s:s, s:o, s:o, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:O, s:o}", "schema",
		"blkcast.compare/1", "a", json_text(paths[0]), "b", json_text(paths[1]),
		"confidence", COMPARE_CONFIDENCE, "tolerance_ratio", job->tolerance_ratio, "same",
		(json_int_t)v[VERDICT_SAME], "better", (json_int_t)v[VERDICT_BETTER], "worse",
		(json_int_t)v[VERDICT_WORSE], "different", (json_int_t)v[VERDICT_DIFFERENT],
		"cannot_tell", (json_int_t)v[VERDICT_CANNOT_TELL], "pairs", job->pairs,
		"provenance", provenance_json(&job->cli->teller.maker)));
}

/* Writes the page, with what was compared at its end. */
static int cmd_compare_save(struct job *job, const char *path, struct err *err)
{
	char **paths = job->cli->argv;
	const size_t *v = job->verdicts;
	struct buf page;
	int ret;

	if (!job->is_single)
		answer_conclude(job->page,
				"Of %zu pairs of devices, %zu values became worse, %zu better, and "
				"%zu are different; %zu are the same, and of %zu it is not known.",
				job->nr_pairs, v[VERDICT_WORSE], v[VERDICT_BETTER],
				v[VERDICT_DIFFERENT], v[VERDICT_SAME], v[VERDICT_CANNOT_TELL]);
	answer_note(
		job->page,
		"A is %s, B is %s. The rows are sorted by how much changed; changes come first. "
		"Intervals are of 95 %%, differences of up to %.3g %% do not matter.",
		paths[0], paths[1], 100 * job->tolerance_ratio);
	buf_init(&page);
	ret = answer_html(job->page, &job->cli->teller.maker, &page);
	if (ret == 0)
		ret = output_file_save(&page, path, err);
	buf_release(&page);
	return ret;
}

/* Loads one side. Where the selection leaves nothing of it, err names the devices that it has. */
static int cmd_compare_load(const struct cli *cli, struct profile_set *set, const char *path,
			    const struct selection *sel, struct err *err)
{
	int ret = profile_set_load(set, path, sel, err);

	if (!ret)
		ret = origins_loads(cli->teller.maker.origins, path, set, 0, cli->teller.utc);
	return ret == -ENODATA ? selection_nothing_of(sel, path, err) : ret;
}

/* Returns how many groups of a are compared with one of b. */
static size_t cmd_compare_count(const struct profile_set *a, const struct profile_set *b)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_groups; i++)
		nr += cmd_compare_partner(a, &a->groups[i], b) != NULL;
	return nr;
}

static int cmd_compare_perform(struct cli *cli, const struct selection *sel, struct job *job,
			       struct err *err)
{
	struct profile_set a, b;
	int ret;

	profile_set_init(&a);
	profile_set_init(&b);
	a.sum = b.sum = compare_sum_window;
	a.leave_out_regions = b.leave_out_regions = true;
	ret = cmd_compare_load(cli, &a, cli->argv[0], sel, err);
	if (ret == 0)
		ret = cmd_compare_load(cli, &b, cli->argv[1], sel, err);
	job->is_single = ret == 0 && cmd_compare_count(&a, &b) == 1;
	for (size_t i = 0; i < a.nr_groups && ret == 0; i++) {
		const struct profile_group *other = cmd_compare_partner(&a, &a.groups[i], &b);

		if (other)
			ret = compare_pair(job, &a.groups[i], other);
		else
			cli_note(cli, "%s %s: only in A", a.groups[i].whole.host,
				 cmd_compare_name(&a.groups[i].whole));
	}
	if (ret == 0 && job->nr_pairs == 0)
		ret = err_set(err, EINVAL,
			      "expected a device of the same name in A and B, of one host in each; "
			      "--device and --host choose");
	if (ret == 0)
		ret = print_end(job, cli->argv);
	profile_set_release(&a);
	profile_set_release(&b);
	return ret;
}

static int cmd_compare_run(struct cli *cli)
{
	struct job job = { .cli = cli };
	struct selection sel = { 0 };
	const char *report = NULL;
	bool fail_on_worse = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DOUBLE("tolerance", 0, "RATIO", &job.tolerance_ratio,
			   "differences of this share do not matter", .standard = "0.05",
			   .from = "0", .below = "1"),
		CLI_STRING("report", 0, "FILE", &report, "an HTML page of it"),
		CLI_FLAG("fail-on-worse", 0, &fail_on_worse, "exit 1 where any verdict is worse"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret = 0;

	if (!cli_parse(cli, options))
		return cli->status;
	if (sel.dir || cli->argc != 2)
		return cli_usage(cli, "expected two operands: profiles (JSON), stores or "
				      "segment files");
	job.pairs = json_array();
	if (report) {
		job.page = answer_new("blkcast.compare/1", "Comparison");
		ret = job.page ? 0 : -ENOMEM;
	}
	if (ret == 0)
		ret = cmd_compare_perform(cli, &sel, &job, &err);
	if (ret == 0 && report)
		ret = cmd_compare_save(&job, report, &err);
	json_decref(job.pairs);
	answer_free(job.page);
	return cli_finish(cli, ret, &err,
			  fail_on_worse && job.verdicts[VERDICT_WORSE] ? CLI_FAILED : CLI_DONE);
}

const struct command command_compare = {
	.name = "compare",
	.has_one_heap = true,
	.summary = "two profiles or traces, dimension by dimension, with verdicts",
	.usage = "[SELECTION] A B [--report FILE.html]",
	.example = "blkcast compare before.json after.json --fail-on-worse\n"
		   "blkcast compare before.json after.json --report comparison.html",
	.details =
		"The text begins with what differs most: first whether the loads are alike (rates, "
		"mix, sizes),\nthen what became better or worse. Its rows are sorted by how much "
		"changed; --json has them all in\na fixed order.\n\n"
		"A and B are profiles (JSON, one or an array), stores or segment files. Intervals "
		"are of 95 %:\nby batch means where there are at least eight windows, else by "
		"approximations that take\nrequests as independent; --json names the method of "
		"each. `same` means that the whole\ninterval lies within the tolerance, better and "
		"worse that none of it does.",
	.run = cmd_compare_run,
};
