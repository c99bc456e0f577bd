/* SPDX-License-Identifier: Apache-2.0 */
/*
 * technique: the method table of a regression technique. One more technique is one more file and
 * one line in technique.c.
 *
 * A technique is worked through a sweep: opened on training rows, asked for any number of
 * parameter sets, and free to keep whatever it shares between them (a forward pass, a grown tree,
 * the members of a committee). The answer for a set must not depend on which sets were asked before.
 */
#ifndef ANALYZER_REGRESSION_TECHNIQUE_H
#define ANALYZER_REGRESSION_TECHNIQUE_H

#include <stdbool.h>

#include "analyzer/models/regression/dataset.h"
#include "analyzer/models/regression/model.h"

struct parameter {
	const char *name;
	double low, high; /* the searched range */
	bool whole;
	/* The value people get who choose none; nr_columns: of the design; p: the parameters before. */
	double (*standard)(size_t nr_columns, const double *p);
};

struct sweep_input {
	const struct schema *schema;
	const struct dataset *train;
	const double *rows; /* to predict: nr_rows x nr_vars, row-major */
	size_t nr_rows;
};

struct technique {
	const char *name, *summary;
	/*
	 * Points 1 (worst) to 5 of the comparison in Noorshams, Modeling and Prediction of I/O
	 * Performance in Virtualized Environments, 2015, section 6.3.2:
	 */
	int speed, simplicity;
	/* Time of a whole search against one evaluation, as measured on 960 rows of 5 variables. */
	double search_ratio;
	bool bounded;	  /* a sum of terms, which struct limits keeps between bounds */
	bool by_name;	  /* too slow to be tried where nobody asked for it */
	size_t most_rows; /* it refuses larger tables with -EFBIG; 0: none is too large */
	/*
	 * A mean of other techniques: its parameters begin with theirs, one part after the other, and
	 * are searched part by part. NULL: it has no parts.
	 */
	const struct technique *const *parts;
	unsigned int nr_parts;
	unsigned int nr_parameters;
	const struct parameter *parameters;
	/* 0, or -ENOMEM. What in points to must outlive the sweep. */
	int (*open)(void **sweep, const struct technique *t, const struct sweep_input *in);
	/* The model with parameters p at in->rows. */
	int (*predict)(void *sweep, const double *p, double *out);
	/* The model itself: fills m's terms or forest. */
	int (*extract)(void *sweep, const double *p, struct model *m);
	/* Models fitted so far: less than the sets asked for, by what was shared. */
	uint64_t (*nr_fits)(const void *sweep);
	void (*close)(void *sweep);
};

extern const struct technique technique_lrm, technique_lrm_ia, technique_mars, technique_mars_ia,
	technique_cart, technique_m5, technique_cubist, technique_ensemble, technique_mars_bag,
	technique_gp;

/* Ends with NULL; simplest first; a mean of techniques stands behind them. */
extern const struct technique *const techniques[];

const struct technique *technique_find(const char *name);
/* Fills p[0..nr_parameters). */
void technique_standard(const struct technique *t, size_t nr_columns, double *p);
/* Columns of the design the schema makes. */
size_t technique_nr_columns(const struct schema *s);
/* 0, or -EINVAL where a value lies outside the parameter's range or is no whole number. */
int technique_check(const struct technique *t, const double *p, struct err *err);
/* "nnodes 21, threshold 0.001" */
void technique_describe(const struct technique *t, const double *p, struct buf *out);

#endif
