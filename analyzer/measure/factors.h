/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factors: what a campaign varies, and the configurations it measures: one level of every factor.
 *
 * A factor has levels (numbers or words; a level may set further values, "random" that rw is
 * randrw), or a range of numbers, of which random designs draw. Configurations are cells of
 * doubles: of a factor with levels the index of its level, of one with a range the number itself.
 */
#ifndef ANALYZER_MEASURE_FACTORS_H
#define ANALYZER_MEASURE_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/params.h"
#include "analyzer/models/num/rng.h"
#include "base/err.h"

#define CONFIGURATIONS_MAX 1000000u

struct level_setting {
	char *name, *text;
	bool word;
};

struct level_settings {
	struct level_setting *items; /* owned */
	size_t nr;
};

struct level {
	char *text; /* owned: as written, scaled where the factor is */
	bool word;
	double value; /* of a number */
	struct level_settings settings;
};

struct factor {
	char *name;
	bool scaled;
	double scale; /* what its numbers in the plan were multiplied with */
	struct level *levels;
	size_t nr_levels;	/* 0: a range */
	double low, high, step; /* of a range; step 0: any number */
};

struct factors {
	struct factor *items; /* owned */
	size_t nr;
};

/* A zeroed one is empty. */
struct configurations {
	size_t nr, nr_factors;
	double *cells; /* owned: nr x nr_factors */
};

void level_settings_release(struct level_settings *s);
void factors_release(struct factors *f);
/* Index, or -1. */
int factors_find(const struct factors *f, const char *name);
/* All words: every level of every factor is one, or a number. */
bool factor_is_text(const struct factor *f);

/* The product of all levels, the last factor fastest. -EINVAL for a range, -E2BIG. */
int configurations_full(struct configurations *c, const struct factors *f, struct err *err);
/* nr configurations, levels as likely as each other, ranges uniform. Distinct where possible. */
int configurations_random(struct configurations *c, const struct factors *f, size_t nr,
			  struct rng *rng, struct err *err);
int configurations_add(struct configurations *c, size_t nr_factors, const double *cells);
void configurations_shuffle(struct configurations *c, struct rng *rng);
void configurations_release(struct configurations *c);

/* The level of a factor as text, numbers so that they read back the same. */
int factor_cell_text(const struct factor *f, double cell, struct buf *out);
/* Sets each factor, and what its level sets besides. */
int configuration_set(const struct factors *f, const double *cells, struct params *p,
		      struct err *err);

#endif
