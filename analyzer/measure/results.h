/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results: the measurement store, one SQLite file; store.md beside this file describes it.
 *
 * Durable per run: results_put_run() is one transaction, synchronous FULL. While a campaign runs the
 * file is locked against another campaign, not against readers. One thread at a time.
 */
#ifndef ANALYZER_MEASURE_RESULTS_H
#define ANALYZER_MEASURE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "base/buf.h"
#include "base/err.h"

#define RESULTS_VERSION 1

struct results;

enum results_mode {
	RESULTS_READ,
	RESULTS_WRITE, /* makes it where there is none; -EBUSY where another campaign writes */
};

/* -EINVAL for a file that is no measurement store, or one of another version; -errno. */
int results_open(struct results **out, const char *path, enum results_mode mode, struct err *err);
void results_close(struct results *r);

/*
 * Starts a campaign (*id), or finds it where resume. -EEXIST where it is there and resume is not;
 * -EINVAL where it was started with another plan.
 */
int results_campaign(struct results *r, const struct plan *p, bool resume, int64_t *id,
		     struct err *err);
/* The only campaign, or the one named; -EINVAL lists what there is. name may be NULL. */
int results_find(struct results *r, const char *name, int64_t *id, struct err *err);

/* The configurations as they were begun, into c (empty). */
int results_configurations(struct results *r, int64_t campaign, const struct factors *f,
			   struct configurations *c, struct err *err);
/* Number the next: c->nr before it was added. Idempotent. */
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
/* Replaces what was known of this configuration and repetition. */
int results_put_run(struct results *r, int64_t campaign, const struct results_run *run,
		    struct err *err);
/* 'd' done, 'f' failed, 0: not measured yet, or error. */
char results_run_status(struct results *r, int64_t campaign, size_t number,
			unsigned int repetition);
int results_put_event(struct results *r, int64_t campaign, const char *target, const char *text,
		      struct err *err);

/*
 * The done runs of a campaign as CSV, see store.md; with a response only the runs that have it, and
 * of the metrics only that one. -EINVAL where no run has it, listing the metrics there are.
 */
int results_csv(struct results *r, int64_t campaign, const char *response, struct buf *out,
		struct err *err);
/* The names of a campaign's factors, in order; caller frees with results_names_free(). */
int results_factors(struct results *r, int64_t campaign, char ***names, size_t *nr,
		    struct err *err);
void results_names_free(char **names, size_t nr);

#endif
