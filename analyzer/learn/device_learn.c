// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/device_learn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/measure/results_origin.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/storage/device/device_answer.h"

static void device_learn_progress(void *ctx, double ratio)
{
	progress_update(ctx, (uint64_t)(ratio * 1000));
}

static struct answer *device_learn_answer(const struct device_learn *j)
{
	struct answer *a = device_model_answer(&j->model);
	const struct device_error *r = &j->model.errors[DEVICE_READ][DEVICE_MEAN];
	const struct device_error *w = &j->model.errors[DEVICE_WRITE][DEVICE_MEAN];
	const struct device_error *e = r->nr ? r : w;

	/* A person gets only the means. */
	device_answer_held_out(a, &j->rows, j->held, j->all_points);
	answer_fact_words(a, "file", "written to", j->output);
	answer_conclude(
		a,
		"The device gives back mean response times of %ss that it was not fitted to "
		"within %.1f %% on average.",
		r->nr ? "read" : "write", 100 * e->mean_ratio);
	return a;
}

static int device_learn_read(struct device_learn *j, struct err *err)
{
	char prefix[128] = "";
	int ret = results_table(&j->table, j->db, j->campaign, NULL, NULL, NULL, err);

	if (ret)
		return ret;
	if (j->target)
		snprintf(prefix, sizeof(prefix), "%.100s.", j->target);
	ret = device_table_make(&j->rows, &j->table, prefix, err);
	if (ret)
		return ret;
	j->held = calloc(j->rows.nr + 1, sizeof(*j->held));
	return j->held ? 0 : -ENOMEM;
}

/* Gives the model the words about the device and file system that were measured. */
static int device_learn_origin(struct device_learn *j, struct err *err)
{
	struct buf words;
	int ret;

	buf_init(&words);
	ret = results_origin(j->db, j->campaign, &words, err);
	if (!ret)
		snprintf(j->model.origin, sizeof(j->model.origin), "%s", (const char *)words.data);
	buf_release(&words);
	return ret;
}

int device_learn(struct device_learn *j, struct err *err)
{
	int ret = device_learn_read(j, err);

	if (ret)
		return ret;
	teller_note(j->teller,
		    "%s: a device is calibrated to %zu configurations, with %llu requests of each "
		    "simulated many times; this takes minutes",
		    j->db, j->rows.nr, (unsigned long long)j->task.nr_requests);
	j->task.progress = device_learn_progress;
	j->task.ctx = &j->progress;
	progress_begin(&j->progress, "calibrating", 1000, j->teller->quiet);
	ret = device_calibrate(&j->model, &j->rows, &j->task, j->held, err);
	progress_end(&j->progress);
	if (ret) {
		err_prefix(err, "%s", j->db);
		return ret;
	}
	snprintf(j->model.campaign, sizeof(j->model.campaign), "%s",
		 j->campaign ? j->campaign : "");
	ret = device_learn_origin(j, err);
	if (!ret)
		ret = device_model_save(&j->model, j->output, err);
	if (!ret)
		j->answer = device_learn_answer(j);
	return ret;
}

void device_learn_release(struct device_learn *j)
{
	table_release(&j->table);
	device_table_release(&j->rows);
	free(j->held);
}
