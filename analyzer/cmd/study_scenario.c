// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/show.h"
#include "analyzer/cmd/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/report/study_draw.h"

static int study_scenario_show(const struct scenario_result *r, const struct cli *cli,
			       const char *report, struct err *err)
{
	struct answer *a = scenario_answer(r, cli->utc);
	struct buf svg;

	buf_init(&svg);
	answer_fail(a, study_draw_scenarios(r, &svg));
	answer_picture(a, "Response times",
		       "A bar for each scenario; the thin line is a 90 % interval.", &svg);
	return cli_show(cli, a, report, err);
}

static int study_scenario_same_names(const struct scenario_result *r, struct err *err)
{
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(r->scenarios[i].name, r->scenarios[k].name))
				return err_set(err, EINVAL,
					       "%s: scenario: expected another name than %s of %s",
					       r->scenarios[i].path, r->scenarios[k].name,
					       r->scenarios[k].path);
	return 0;
}

static int study_scenario_work(struct cli *cli, struct scenario_result *r, struct scenario_files *f,
			       const char *report, struct err *err)
{
	int ret = 0;

	for (; r->nr < (size_t)cli->argc && !ret; r->nr++)
		ret = scenario_read(&r->scenarios[r->nr], f, cli->argv[r->nr], err);
	if (!ret)
		ret = study_scenario_same_names(r, err);
	for (size_t i = 0; i < r->nr && !ret; i++)
		ret = scenario_solve(&r->scenarios[i], err);
	if (ret)
		return ret;
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < r->scenarios[i].nr_storages; k++)
			if (r->scenarios[i].storages[k].outside)
				cli_note(cli,
					 "%s: '%s' lies outside what the model of %s knows: "
					 "extrapolated",
					 r->scenarios[i].name, r->scenarios[i].storages[k].outside,
					 r->scenarios[i].storages[k].name);
	return study_scenario_show(r, cli, report, err);
}

int study_scenario(struct cli *cli)
{
	struct scenario_result r = { 0 };
	struct scenario_files *files;
	const char *report = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		CLI_STRING("report", 0, "FILE", &report, "an HTML page"),
		CLI_END,
	};
	bool cannot_tell = false;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc < 1 || cli->argc > SCENARIOS_MAX)
		return cli_usage(cli, "expected 1 to %d scenario files", SCENARIOS_MAX);
	lsq_single_thread();
	files = scenario_files_new();
	r.scenarios = calloc(SCENARIOS_MAX, sizeof(*r.scenarios));
	ret = files && r.scenarios ? study_scenario_work(cli, &r, files, report, &err) : -ENOMEM;
	for (size_t i = 0; !ret && i < r.nr; i++)
		cannot_tell |= scenario_cannot_tell(&r.scenarios[i]);
	free(r.scenarios);
	scenario_files_free(files);
	return cli_finish(cli, ret, &err, cannot_tell ? CLI_CANNOT_TELL : CLI_DONE);
}
