/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results: the measurement store, which is one SQLite file. store.md beside this file describes its
 * tables.
 *
 * Each run is durable by itself: results_put_run() is one transaction with synchronous FULL. While
 * a campaign runs, the file is locked against other campaigns, but not against readers. One thread
 * at a time may use a store.
 */
#ifndef ANALYZER_MEASURE_RESULTS_H
#define ANALYZER_MEASURE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

#define RESULTS_VERSION 1

struct results;

enum results_mode {
	RESULTS_READ,
	RESULTS_WRITE, /* creates a missing file; -EBUSY while another campaign writes */
};

/*
 * Returns -EINVAL for a file that is no measurement store or is one of another version, or another
 * -errno.
 */
int results_open(struct results **out, const char *path, enum results_mode mode, struct err *err);
void results_close(struct results *r);

/*
 * Starts a campaign and sets *id, or finds an existing one where resume is set. Returns -EEXIST
 * where the campaign exists and resume is not set, and -ESTALE where the campaign was started with
 * another plan.
 */
int results_campaign(struct results *r, const struct plan *p, bool resume, int64_t *id,
		     struct err *err);
/*
 * Finds the campaign of that name, or the only one where name is NULL. On -EINVAL err lists the
 * campaigns of the store.
 */
int results_find(struct results *r, const char *name, int64_t *id, struct err *err);

/* Reads the configurations that the campaign has begun into c, which must be empty. */
int results_configurations(struct results *r, int64_t campaign, const struct factors *f,
			   struct configurations *c, struct err *err);
/*
 * Stores a configuration. number counts them from 0 in order of measurement. Storing the same one
 * again changes nothing.
 */
int results_put_configuration(struct results *r, int64_t campaign, size_t number,
			      const struct factors *f, const double *cells, struct err *err);

struct results_artifact {
	const char *target, *kind, *content;
	size_t len;
};

struct results_run {
	size_t number; /* of the configuration */
	unsigned int repetition;
	const char *error; /* NULL: done */
	double began_s, ended_s, overhead_s;
	unsigned int nr_intervals;
	const struct readings *readings;
	const struct results_artifact *artifacts;
	size_t nr_artifacts;
};
/* Stores a run and replaces an earlier one of the same configuration and repetition. */
int results_put_run(struct results *r, int64_t campaign, const struct results_run *run,
		    struct err *err);
/*
 * Returns 'd' for done, 'f' for failed, and 0 where it was not measured yet or an error occurred.
 */
char results_run_status(struct results *r, int64_t campaign, size_t number,
			unsigned int repetition);
int results_put_event(struct results *r, int64_t campaign, const char *target, const char *text,
		      struct err *err);

/*
 * Appends the done runs of a campaign as CSV (store.md). With a response it takes only the runs
 * that have this metric, and no other metric. Returns -EINVAL where no run has it; err then lists
 * the metrics of the campaign.
 */
int results_csv(struct results *r, int64_t campaign, const char *response, struct buf *out,
		struct err *err);
/*
 * Returns the names of a campaign's factors in order. The caller frees them with
 * results_names_free().
 */
int results_factors(struct results *r, int64_t campaign, char ***names, size_t *nr,
		    struct err *err);
void results_names_free(char **names, size_t nr);

#endif
