// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/qpn_weights.h"
#include "analyzer/answer/grid.h"
#include "base/json.h"

static json_t *step_json(const struct weights_step *s)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "alpha", s->alpha, "beta", s->beta,
			 "read_time", s->read_time, "write_time", s->write_time,
			 "mean_relative_error", s->error);
}

static int print_json(const struct weights_found *f, uint64_t seed)
{
	json_t *steps = json_array(), *out;
	int ret;

	for (size_t i = 0; i < f->nr_steps; i++)
		json_array_append_new(steps, step_json(&f->steps[i]));
	out = json_pack("{s:s, s:s, s:I, s:o, s:o}", "schema", "blkcast.calibration/1", "model",
			"weights", "seed", (json_int_t)seed, "best", step_json(&f->best), "steps",
			steps);
	ret = out ? json_print(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : -1;
	putchar('\n');
	json_decref(out);
	return ret;
}

static void qpn_weights_row(struct grid *g, const char *name, const struct weights_step *s)
{
	grid_cell(g, "%s", name);
	grid_cell(g, "%g", s->alpha);
	grid_cell(g, "%g", s->beta);
	grid_cell(g, "%.5g", s->read_time);
	grid_cell(g, "%.5g", s->write_time);
	grid_cell(g, "%.2f%%", 100 * s->error);
}

static int print_table(const struct weights_found *f)
{
	struct grid g;
	char name[32];
	int ret;

	grid_init(&g, "step|>alpha|>beta|>reads|>writes|>error");
	for (size_t i = 0; i < f->nr_steps; i++) {
		snprintf(name, sizeof(name), "%zu", i + 1);
		qpn_weights_row(&g, name, &f->steps[i]);
	}
	qpn_weights_row(&g, "best", &f->best);
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

int qpn_weights(struct cli *cli, const struct weights_task *t)
{
	struct weights_found f;
	struct err err = { 0 };

	if (!calibrate_weights(&f, t, &err) &&
	    (cli->json ? print_json(&f, t->seed) : print_table(&f)))
		err_set(&err, ENOMEM, "out of memory");
	return err.code ? cli_fail(cli, &err) : CLI_DONE;
}
