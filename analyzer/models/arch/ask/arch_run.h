/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_run: reads a model of a software system with settings of its parameters, and solves it while
 * showing progress.
 */
#ifndef ANALYZER_MODELS_ARCH_ASK_ARCH_RUN_H
#define ANALYZER_MODELS_ARCH_ASK_ARCH_RUN_H

#include "analyzer/answer/teller.h"
#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/solve/sweep.h"
#include "analyzer/models/solve/sweep_record.h"

#define ARCH_RUN_MAX_SETTINGS (2 * WORD_LIST_MAX)

struct arch_settings {
	struct arch_setting items[ARCH_RUN_MAX_SETTINGS]; /* names and values are owned */
	size_t nr;
	bool without_failures; /* for a Palladio model */
	const char *storages;  /* a side file of a Palladio model, or NULL */
};

/* Parses words "NAME=VALUE". Returns 0, -EINVAL or -ENOMEM. */
int arch_settings_read(struct arch_settings *s, const struct word_list *set, struct err *err);
/* Adds one setting. Returns 0 or -ENOMEM, also where there are too many. */
int arch_settings_add(struct arch_settings *s, const char *name, size_t len, const char *value);
void arch_settings_release(struct arch_settings *s);

/* Opens a YAML file, or a directory with Palladio's files. */
int arch_open(struct arch_model *m, const char *path, const struct arch_settings *s,
	      struct err *err);

/* Tells which parts of a Palladio model were left out. */
void arch_say_left_out(const struct teller *t, const struct arch_model *m);

/*
 * Solves the model, or takes the solution of this point from the record; a new solution is saved
 * there. record is NULL if there is none. *seconds receives the time that the solution took. Tells
 * what lies outside of the valid range and what stopped early.
 */
int arch_run(struct arch_solution *out, double *seconds, const struct arch_model *m,
	     const struct solve_options *o, struct sweep_record *record, size_t point,
	     const struct teller *t, struct err *err);

/* Adds the values of a point of a sweep to settings. Returns 0 or -ENOMEM. */
int arch_sweep_set(const struct sweeps *s, size_t point, struct arch_settings *settings);

#endif
