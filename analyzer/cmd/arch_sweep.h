/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_sweep: values of parameters for which a model is solved, in every combination. The last
 * parameter varies fastest.
 */
#ifndef ANALYZER_ARCH_SWEEP_H
#define ANALYZER_ARCH_SWEEP_H

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/arch_run.h"

#define ARCH_SWEEP_MAX	  8
#define ARCH_SWEEP_POINTS 10000 /* largest number of combinations */

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

#endif
