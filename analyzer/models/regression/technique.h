/* SPDX-License-Identifier: Apache-2.0 */
/*
 * technique: the table of functions of a regression technique. A new technique is one new file and
 * one line in technique.c.
 *
 * A technique works through a sweep. The sweep is opened on training rows and asked for any number
 * of parameter sets. It may keep everything that these share (a forward pass, a grown tree, the
 * members of a committee). The result for a parameter set must not depend on the sets that were
 * asked for before.
 */
#ifndef ANALYZER_REGRESSION_TECHNIQUE_H
#define ANALYZER_REGRESSION_TECHNIQUE_H

#include <stdbool.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/table/dataset.h"

struct parameter {
	const char *name;
	double low, high; /* the range that is searched */
	bool whole;
	double standard; /* the default value; of a part of a mean, the part has it */
	/*
	 * Returns the default value where it depends on nr_columns, the number of columns of the
	 * design, or on p, the earlier parameters; NULL where it does not.
	 */
	double (*standard_of)(size_t nr_columns, const double *p);
};

struct sweep_input {
	const struct schema *schema;
	const struct dataset *train;
	const double *rows; /* rows to predict: nr_rows x nr_vars, row-major */
	size_t nr_rows;
	uint64_t *nr_fits; /* counts the models that are fitted; NULL: nobody asks */
};

/* Counts a model. Sets of parameters that share a model are counted once. */
static inline void sweep_count(const struct sweep_input *in)
{
	if (in->nr_fits)
		++*in->nr_fits;
}

struct technique {
	const char *name, *summary;
	/*
	 * These are points from 1 (worst) to 5 in the comparison of Noorshams, Modeling and
	 * Prediction of I/O Performance in Virtualized Environments, 2015, section 6.3.2.
	 */
	int speed, simplicity;
	/*
	 * This is the time of a whole search divided by the time of one evaluation, measured on 960
	 * rows of 5 variables.
	 */
	double search_ratio;
	bool bounded;	  /* a sum of terms, which struct limits keeps within bounds */
	bool by_name;	  /* too slow to be tried unless the user names it */
	size_t most_rows; /* larger tables are refused with -EFBIG; 0 means no limit */
	/*
	 * The parts of a mean of other techniques. Its parameters begin with those of its parts,
	 * one part after the other, and are searched part by part. NULL means that the technique
	 * has no parts.
	 */
	const struct technique *const *parts;
	unsigned int nr_parts;
	/*
	 * The last nr_parts - 1 parameters are the shares of the parts in their mean, except for
	 * the last part, which has the rest. They come from held-out predictions (blend.h).
	 */
	bool is_blend;
	unsigned int nr_parameters;
	const struct parameter *parameters;
	/* Returns 0 or -ENOMEM. The objects to which `in` points must outlive the sweep. */
	int (*open)(void **sweep, const struct technique *t, const struct sweep_input *in);
	/* Predicts the rows in->rows with the model of the parameters p. */
	int (*predict)(void *sweep, const double *p, double *out);
	/* Extracts the model itself: sets the form of m, such as its terms or its forest. */
	int (*extract)(void *sweep, const double *p, struct model *m);
	void (*close)(void *sweep);
};

extern const struct technique technique_lrm, technique_lrm_ia, technique_mars, technique_mars_ia,
	technique_cart, technique_m5, technique_cubist, technique_ensemble, technique_mars_bag,
	technique_gp, technique_stack;

/*
 * The list ends with NULL. Simpler techniques come first, and means of techniques come after their
 * parts.
 */
extern const struct technique *const techniques[];

const struct technique *technique_find(const char *name);
/* Sets p[0..nr_parameters). */
void technique_standard(const struct technique *t, size_t nr_columns, double *p);
/* Returns the number of columns of the schema's design. */
size_t technique_nr_columns(const struct schema *s);
/*
 * Returns 0, or -EINVAL if a value is outside the range of its parameter or is not a whole number.
 */
int technique_check(const struct technique *t, const double *p, struct err *err);
/* Writes the parameters as text: "nnodes 21, threshold 0.001". */
void technique_describe(const struct technique *t, const double *p, struct buf *out);

#endif
