/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_run: reads a model with the settings of the command line, and solves it while showing
 * progress.
 */
#ifndef ANALYZER_ARCH_RUN_H
#define ANALYZER_ARCH_RUN_H

#include "analyzer/answer/answer.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_solve.h"

#define ARCH_RUN_MAX_SETTINGS (2 * WORD_LIST_MAX)

struct arch_settings {
	struct arch_setting items[ARCH_RUN_MAX_SETTINGS]; /* names and values are owned */
	size_t nr;
	bool without_failures; /* for a Palladio model */
	const char *storages;  /* a side file of a Palladio model, or NULL */
};

/* Parses "NAME=VALUE" of each --set. Returns 0, -EINVAL or -ENOMEM. */
int arch_settings_read(struct arch_settings *s, const struct word_list *set, struct err *err);
/* Adds one setting. Returns 0 or -ENOMEM, also where there are too many. */
int arch_settings_add(struct arch_settings *s, const char *name, size_t len, const char *value);
void arch_settings_release(struct arch_settings *s);

/* Opens a YAML file, or a directory with Palladio's files. */
int arch_open(struct arch_model *m, const char *path, const struct arch_settings *s,
	      struct err *err);

/* Says on standard error which parts of a Palladio model were left out. */
void arch_say_left_out(const struct cli *cli, const struct arch_model *m);

/* The values of --precision and related options; threads 0: all processors. */
struct arch_run_options {
	bool quantiles;
	double precision, model_time;
	uint64_t seed, threads, replications, max_events;
};

#define ARCH_RUN_DEFAULTS                                                                  \
	{                                                                                  \
		.precision = 0.01, .seed = 1, .replications = 16, .max_events = 1000000000 \
	}

/* Returns NULL, or what is wrong with the options. */
const char *arch_run_bad(const struct arch_run_options *o);

struct sweep_record; /* sweep_record.h */

/*
 * Solves the model, or takes the solution of this point from the record, in which it is saved
 * otherwise; record NULL: there is none. *seconds receives the time that it took. Says on standard
 * error what lies outside of the valid range and what stopped early.
 */
int arch_run(struct arch_solution *out, double *seconds, const struct arch_model *m,
	     const struct arch_run_options *o, struct sweep_record *record, size_t point,
	     const struct cli *cli, struct err *err);

/*
 * arch_sweep: values of parameters for which a model is solved, in every combination. The last
 * parameter varies fastest.
 */

#define ARCH_SWEEP_MAX	   8
#define ARCH_SWEEP_POINTS  10000 /* largest number of combinations */
#define ARCH_SWEEP_RESULTS 16	 /* most columns of a result in the table of a sweep */

struct arch_sweep {
	char *name; /* owned */
	double from, step;
	size_t nr; /* number of values */
};

struct arch_sweeps {
	struct arch_sweep items[ARCH_SWEEP_MAX];
	size_t nr;
	size_t nr_points; /* 1 where nothing varies */
};

/*
 * Parses NAME=FROM:TO[:STEP] of each option. Returns 0, -EINVAL with the invalid option, or
 * -ENOMEM.
 */
int arch_sweeps_read(struct arch_sweeps *s, const struct word_list *options, struct err *err);
void arch_sweeps_release(struct arch_sweeps *s);
/* Returns the value of a parameter at a point (0 to nr_points - 1). */
double arch_sweep_value(const struct arch_sweeps *s, size_t parameter, size_t point);
/* Adds the values of a point to settings. Returns 0 or -ENOMEM. */
int arch_sweep_set(const struct arch_sweeps *s, size_t point, struct arch_settings *settings);

/* Makes a table whose columns are the parameters that vary, then the nr columns of a result. */
struct answer_table *arch_sweep_table(const struct arch_sweeps *s, struct answer *a,
				      const char *title, const struct answer_column *results,
				      size_t nr);
/* Fills the cells of the parameters that vary. */
void arch_sweep_cells(const struct arch_sweeps *s, size_t point, struct answer_table *t);
/* Adds the values of a point to an answer, as the member "set". */
void arch_sweep_member(const struct arch_sweeps *s, size_t point, struct answer *a);

/* The verbs that compare a model with measurements; each returns the exit code. */
int arch_calibrate(struct cli *cli);
int arch_validate(struct cli *cli);

#endif
