// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/qpn_model.h"
#include "analyzer/answer/grid.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/answer/progress.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/storage/calibrate_hardware.h"
#include "analyzer/models/storage/calibrate_mix.h"
#include "analyzer/models/storage/campaign_table.h"
#include "analyzer/models/regression/technique.h"
#include "base/json.h"
#include "formats/model_file.h"
#include "base/units.h"

static void fit_rows(struct grid *g, const char *what, const struct storage_fit *f)
{
	for (size_t i = 0; i < f->nr_terms; i++) {
		const struct storage_term *t = &f->terms[i];

		grid_cell(g, "%s", i ? "" : what);
		grid_cell(g, "%s", storage_term_name(t));
		if (t->pruned)
			grid_cell(g, "pruned");
		else
			grid_cell(g, "%.5g", t->coefficient);
		if (isfinite(t->p))
			grid_cell(g, "%.2g", t->p);
		else
			grid_cell(g, "-");
		if (i)
			grid_cell(g, "%s", "");
		else if (isfinite(f->r2))
			grid_cell(g, "%.4f", f->r2);
		else
			grid_cell(g, "-");
		if (i)
			grid_cell(g, "%s", "");
		else
			grid_cell(g, "%.2f %%", 100 * f->mean_error);
	}
}

static void qpn_model_bound(char *out, size_t size, const char *what, const struct storage_case *c,
			    int axis)
{
	char low[UNITS_BYTES], high[UNITS_BYTES];
	size_t used = strlen(out);

	if (axis == STORAGE_AXIS_CLIENTS) {
		snprintf(low, sizeof(low), "%.4g", c->low[axis]);
		snprintf(high, sizeof(high), "%.4g", c->high[axis]);
	} else {
		units_bytes(c->low[axis], low);
		units_bytes(c->high[axis], high);
	}
	if (isfinite(c->low[axis]))
		used += (size_t)snprintf(out + used, size - used, ", %s > %s", what, low);
	if (isfinite(c->high[axis]) && used < size)
		snprintf(out + used, size - used, ", %s <= %s", what, high);
}

static void cases_rows(struct grid *g, const char *what, const struct storage_cases *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		char text[200];

		snprintf(text, sizeof(text), "%s", what);
		qpn_model_bound(text, sizeof(text), "t", &c->items[i], STORAGE_AXIS_CLIENTS);
		qpn_model_bound(text, sizeof(text), "s", &c->items[i], STORAGE_AXIS_SIZE);
		qpn_model_bound(text, sizeof(text), "f", &c->items[i], STORAGE_AXIS_FILE_SET);
		fit_rows(g, text, &c->items[i].fit);
	}
}

static void class_rows(struct grid *g, const struct storage_class_model *c)
{
	cases_rows(g, "cached", &c->cached);
	cases_rows(g, "beyond", &c->uncached);
	for (size_t i = 0; i < c->nr_cases; i++) {
		fit_rows(g,
			 c->nr_cases == 1 ? "p1"
			 : i		  ? "p1 at high load"
					  : "p1 at low load",
			 &c->cases[i].share);
		cases_rows(g, "hits", &c->cases[i].hit);
	}
}

static void class_words(const struct storage_class_model *c, enum storage_class class)
{
	char text[UNITS_BYTES];

	printf("%s: %zu rows; ", storage_class_name(class), c->nr_rows);
	if (c->cached.nr && c->uncached.nr)
		printf("cached up to %s; ", units_bytes(c->file_set_max, text));
	else
		printf("%s; ", c->cached.nr ? "all cached" : "all beyond the cache");
	for (size_t i = 0; i < c->nr_cases; i++) {
		const struct storage_load_case *x = &c->cases[i];

		printf("hits and misses %s ", x->merged ? "merged" : "apart");
		if (isfinite(x->clients_max))
			printf("up to %g clients; ", x->clients_max);
		else
			printf("%s; ", i ? "above" : "at any load");
	}
	if (c->cached.nr)
		printf("R2 cached %.4f; ", c->cached.r2);
	if (c->uncached.nr)
		printf("R2 beyond %.4f; ", c->uncached.r2);
	printf("response times missed by %.2f %% on average, %.2f %% at most\n\n",
	       100 * c->mean_error, 100 * c->max_error);
}

static int print_classes(const struct storage_model *m)
{
	int ret = 0;

	for (int i = 0; i < STORAGE_NR_CLASSES && !ret; i++) {
		struct grid g;

		if (!m->classes[i].present)
			continue;
		grid_init(&g, "fit|term|>coefficient|>p|>R2|>error");
		class_rows(&g, &m->classes[i]);
		ret = grid_print(&g, stdout);
		grid_release(&g);
		putchar('\n');
		class_words(&m->classes[i], (enum storage_class)i);
	}
	return ret;
}

static void delta_rows(struct grid *g, const struct storage_service *s)
{
	for (int k = 0; k < 2; k++) {
		if (!isfinite(s->delta_p[k]))
			continue;
		grid_cell(g, "%s", k ? "" : "  correction");
		grid_cell(g, "%s", k ? "ln s" : "1");
		if (s->delta_p[k] > STORAGE_FIT_P)
			grid_cell(g, "pruned");
		else
			grid_cell(g, "%.5g", s->delta[k]);
		grid_cell(g, "%.2g", s->delta_p[k]);
		grid_cell(g, "%s", "");
		grid_cell(g, "%s", "");
	}
}

static void print_parts(const struct storage_parts *p)
{
	static const char *const types[] = { "reads", "writes" };

	printf("parts: %zu shared server%s, the busiest of all missed by %.2f %%; up to %g requests of a "
	       "VM under way; of one VM, each mix with its own phi, missed by %.2f %%\n",
	       p->nr_shared, p->nr_shared == 1 ? "" : "s", 100 * p->utilization_error, p->depth,
	       100 * p->depth_error);
	for (size_t k = 0; k < p->nr_shared; k++)
		for (int w = 0; w < 2; w++)
			printf("  server %zu, %s: %.4g us + %.4g ns per byte\n", k + 1, types[w],
			       1e6 * p->shared[k].base_s[w], 1e9 * p->shared[k].per_byte_s[w]);
	if (p->phi.technique)
		printf("  phi of %zu mixes that wait, %.3g to %.3g: R2 %.4f, error of held-out rows "
		       "%.2f %%\n",
		       p->nr_phi, p->phi_low, p->phi_high, p->phi.quality.r2,
		       100 * p->phi.quality.mean_relative_error);
}

static int print_mix(const struct storage_mix *x)
{
	struct grid g;
	struct buf text;
	int ret;

	grid_init(&g, "service time|term|>coefficient|>p|>R2|>error");
	for (int w = 0; w < 2; w++) {
		cases_rows(&g, w ? "writes" : "reads", &x->service[w].fit);
		delta_rows(&g, &x->service[w]);
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	buf_init(&text);
	technique_describe(x->phi.technique, x->phi.parameters, &text);
	printf("\nphi of %zu configurations, %.3g to %.3g: %s (%.*s), %s, R2 %.4f, error of held-out "
	       "rows %.2f %%\n",
	       x->nr_phi, x->phi_low, x->phi_high, x->phi.technique->name, (int)text.len,
	       text.data ? (const char *)text.data : "", x->phi.schema.log ? "of ln phi" : "of phi",
	       x->phi.quality.r2, 100 * x->phi.quality.mean_relative_error);
	buf_release(&text);
	if (x->has_busy)
		printf("utilization: %s, R2 %.4f, error of held-out rows %.2f %%\n",
		       x->busy.technique->name, x->busy.quality.r2,
		       100 * x->busy.quality.mean_relative_error);
	printf("one VM: reads missed by %.2f %%, writes by %.2f %%\n", 100 * x->mean_error[0],
	       100 * x->mean_error[1]);
	if (x->parts.present)
		print_parts(&x->parts);
	for (int i = 0; i < STORAGE_NR_RULES; i++)
		if (isfinite(x->rule_error[i]))
			printf("several VMs by %s: missed by %.2f %%%s\n", storage_rule_names[i],
			       100 * x->rule_error[i], (int)x->rule == i ? "; kept" : "");
	if (isfinite(x->inversion_error))
		printf("with the priority inversion: missed by %.2f %%%s\n",
		       100 * x->inversion_error, x->inversion ? "; kept" : "");
	return ret;
}

static int print_model(const struct cli *cli, const struct storage_model *m, const json_t *root)
{
	int ret;

	if (cli->json) {
		ret = json_print(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
		putchar('\n');
		return ret;
	}
	return m->kind < STORAGE_MIXED ? print_classes(m) : print_mix(&m->mix);
}

static void on_progress(void *ctx, uint64_t done, uint64_t of)
{
	struct progress *p = ctx;

	(void)of;
	progress_update(p, done);
}

static int calibrate(const struct cli *cli, const struct storage_task *task,
		     const struct storage_table *rows, struct storage_model *m, struct err *err)
{
	struct progress progress;
	struct mix_options o = { .saturated = task->saturated,
				 .precision = task->precision,
				 .seed = task->seed,
				 .nr_threads = (unsigned int)task->threads,
				 .rule = task->rule,
				 .progress = on_progress,
				 .ctx = &progress };
	int ret;

	if (task->kind == STORAGE_CACHE)
		return calibrate_cached(m, rows, task->saturated, err);
	if (task->kind == STORAGE_HARDWARE)
		return calibrate_hardware(m, rows, err);
	progress_begin(&progress, "qpn", rows->nr_configs, cli->quiet);
	ret = calibrate_mix(m, task->kind, rows, &o, err);
	progress_end(&progress);
	return ret;
}

/* Reads the runs of a campaign in place of a table. */
static int qpn_model_campaign(struct cli *cli, const struct storage_task *task, struct table *t,
			      struct err *err)
{
	struct campaign_setting settings[WORD_LIST_MAX];
	char *words[WORD_LIST_MAX] = { NULL };
	struct table campaign = { 0 };
	size_t nr = 0, nr_left_out = 0;
	int ret = results_table(&campaign, task->db, task->campaign, NULL, NULL, NULL, err);

	for (; !ret && nr < task->settings->nr; nr++) {
		char *equals;

		words[nr] = strdup(task->settings->items[nr]);
		equals = words[nr] ? strchr(words[nr], '=') : NULL;
		if (!equals) {
			ret = err_set(err, EINVAL, "--set: expected NAME=VALUE, got '%.80s'",
				      task->settings->items[nr]);
			break;
		}
		*equals = 0;
		settings[nr] = (struct campaign_setting){ words[nr], equals + 1 };
	}
	if (!ret)
		ret = campaign_table_make(t, &campaign, settings, nr, &nr_left_out, err);
	if (!ret && nr_left_out)
		cli_note(cli,
			 "%s: %zu runs are left out: their clients mix reads and writes, think, "
			 "flush or force writes",
			 task->db, nr_left_out);
	for (size_t i = 0; i < WORD_LIST_MAX; i++)
		free(words[i]);
	table_release(&campaign);
	return ret;
}

int qpn_model_table(struct cli *cli, const struct storage_task *task, struct table *t,
		    struct err *err)
{
	return task->db ? qpn_model_campaign(cli, task, t, err) : table_read(t, task->table, err);
}

int qpn_model_calibrate(struct cli *cli, const struct storage_task *task)
{
	unsigned int needs = STORAGE_NEEDS_RESPONSE |
			     (task->kind == STORAGE_HARDWARE ? STORAGE_NEEDS_FILE_SET : 0);
	struct storage_model m = { 0 };
	struct storage_table rows = { 0 };
	struct table table = { 0 };
	struct err err = { 0 };
	json_t *root = NULL;
	int error;

	lsq_single_thread();
	error = qpn_model_table(cli, task, &table, &err);
	if (!error)
		error = storage_table_make(&rows, &table, &task->where, needs, &err);
	if (!error)
		error = calibrate(cli, task, &rows, &m, &err);
	if (!error) {
		root = storage_model_json(&m);
		error = root ? model_file_write(task->output, root, &err) : -ENOMEM;
	}
	if (!error && print_model(cli, &m, root))
		error = err_set(&err, ENOMEM, "out of memory");
	if (error && !err.code)
		err_set(&err, -error, "%s", strerror(-error));
	json_decref(root);
	storage_model_release(&m);
	storage_table_release(&rows);
	table_release(&table);
	if (error)
		return cli_fail(cli, &err);
	cli_note(cli, "ask the model: blkcast qpn predict %s", task->output);
	return CLI_DONE;
}
