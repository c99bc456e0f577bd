// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/report/curve/study_draw.h"

static int study_scenario_show(const struct scenario_result *r, const struct cli *cli,
			       const char *report, struct err *err)
{
	struct answer *a = scenario_answer(r, cli->teller.utc);
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

/* The options of the verb scenario. */
struct study_scenario_ask {
	struct word_list storage; /* "DEVICE.json" or "NAME=DEVICE.json" */
	struct word_list slo;
	const char *report;
};

/* Reads a scenario, and replaces the storages that --storage names. */
static int study_scenario_read(struct scenario *s, struct scenario_files *f, const char *path,
			       const struct study_scenario_ask *ask, struct err *err)
{
	int ret = scenario_read(s, f, path, err);

	for (size_t i = 0; i < ask->storage.nr && !ret; i++) {
		const char *text = ask->storage.items[i], *equals = strchr(text, '=');
		char name[SCENARIO_NAME_BYTES];

		if (equals && equals - text >= (ptrdiff_t)sizeof(name))
			return err_set(err, EINVAL, "--storage %.80s: expected [NAME=]DEVICE.json",
				       text);
		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - text) : 0, text);
		ret = scenario_simulate(s, equals ? name : NULL, equals ? equals + 1 : text, err);
		if (ret)
			err_prefix(err, "--storage %.80s", text);
	}
	return ret;
}

/* Says once for each VM which of its requests are not simulated. */
static void study_scenario_note_left_out(const struct cli *cli, const struct scenario_result *r,
					 size_t scenario, const struct scenario_vm *vm)
{
	for (size_t i = 0; i < scenario; i++) {
		const struct scenario_vm *before = scenario_vm_of(&r->scenarios[i], vm->name);

		if (before && before->nr_left_out)
			return;
	}
	if (vm->nr_left_out)
		cli_note(cli,
			 "%s: %s: %" PRIu64 " requests are left out: they are no reads, writes or "
			 "flushes, or have no times",
			 vm->name, vm->path, vm->nr_left_out);
}

static void study_scenario_note(const struct cli *cli, const struct scenario_result *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];

		for (size_t k = 0; k < s->nr_storages; k++)
			if (s->storages[k].why[0])
				cli_note(cli, "%s: %s: extrapolated", s->name, s->storages[k].why);
		for (size_t k = 0; k < s->nr_vms; k++)
			study_scenario_note_left_out(cli, r, i, &s->vms[k]);
	}
}

static int study_scenario_objectives(struct study_slo *slo, const struct word_list *texts,
				     struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < texts->nr && !ret; i++) {
		ret = study_slo_add(slo, texts->items[i], err);
		if (!ret && slo->objectives[i].point[0])
			ret = err_set(err, EINVAL, "--slo %.60s: a scenario tells means",
				      texts->items[i]);
	}
	return ret;
}

static int study_scenario_work(struct cli *cli, struct scenario_result *r, struct scenario_files *f,
			       const struct study_scenario_ask *ask, struct err *err)
{
	int ret = study_scenario_objectives(&r->slo, &ask->slo, err);

	for (; r->nr < (size_t)cli->argc && !ret; r->nr++)
		ret = study_scenario_read(&r->scenarios[r->nr], f, cli->argv[r->nr], ask, err);
	if (!ret)
		ret = study_scenario_same_names(r, err);
	for (size_t i = 0; i < r->nr && !ret; i++)
		ret = scenario_solve(&r->scenarios[i], err);
	if (ret)
		return ret;
	scenario_judge(r);
	study_scenario_note(cli, r);
	ret = scenario_files_origins(f, cli->teller.maker.origins, cli->teller.utc, err);
	return ret ? ret : study_scenario_show(r, cli, ask->report, err);
}

int study_scenario(struct cli *cli)
{
	struct scenario_result r = { 0 };
	struct scenario_files *files;
	struct study_scenario_ask ask = { .report = NULL };
	struct err err = { 0 };
	const struct cli_option options[] = {
		CLI_LIST("storage", 0, "[NAME=]FILE,...", &ask.storage,
			 "simulate what is stored on this device (blkcast storage calibrate) "
			 "instead of the files' storages, or of the one of that name"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &ask.slo,
			 "exit status 1 where a VM breaks it: read.mean=20ms, write.mean=5ms, ..."),
		CLI_STRING("report", 0, "FILE", &ask.report, "an HTML page"),
		CLI_END,
	};
	bool cannot_tell = false, overloaded = false;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc < 1 || cli->argc > SCENARIOS_MAX)
		return cli_usage(cli, "expected 1 to %d scenario files", SCENARIOS_MAX);
	lsq_single_thread();
	files = scenario_files_new();
	r.scenarios = calloc(SCENARIOS_MAX, sizeof(*r.scenarios));
	ret = files && r.scenarios ? study_scenario_work(cli, &r, files, &ask, &err) : -ENOMEM;
	for (size_t i = 0; !ret && i < r.nr; i++) {
		cannot_tell |= scenario_cannot_tell(&r.scenarios[i]);
		overloaded |= scenario_overloaded(&r.scenarios[i]);
	}
	free(r.scenarios);
	scenario_files_free(files);
	cannot_tell |= r.slo_verdict == STUDY_SLO_UNKNOWN;
	overloaded |= r.slo_verdict == STUDY_SLO_BROKEN;
	return cli_finish(cli, ret, &err,
			  cannot_tell  ? CLI_CANNOT_TELL
			  : overloaded ? CLI_FAILED
				       : CLI_DONE);
}
