/* SPDX-License-Identifier: Apache-2.0 */
/*
 * factors: what a campaign varies. A configuration is one level of every factor, and a campaign
 * measures configurations.
 *
 * A factor has levels, which are numbers or words, or it is a range of numbers from which random
 * designs draw. A level may also set further values: the level "random" may set rw to randrw. A
 * configuration is stored as an array of doubles, one per factor: the index of the level for a
 * factor with levels, and the number itself for a range.
 */
#ifndef ANALYZER_MEASURE_FACTORS_H
#define ANALYZER_MEASURE_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/measure/params.h"
#include "analyzer/models/num/rng.h"
#include "base/text/err.h"

#define CONFIGURATIONS_MAX 100000u /* which take more than a day at a second each */

struct level_setting {
	char *name, *text;
	bool word;
};

struct level_settings {
	struct level_setting *items; /* owned */
	size_t nr;
};

struct level {
	char *text; /* owned: as written, multiplied by the scale if scaled */
	bool word;
	double value; /* of a number */
	struct level_settings settings;
};

struct factor {
	char *name;
	bool scaled;
	double scale; /* The factor's numbers in the plan were multiplied by it. */
	struct level *levels;
	size_t nr_levels;	/* 0: the factor is a range */
	double low, high, step; /* of a range; step 0: any number */
};

struct factors {
	struct factor *items; /* owned */
	size_t nr;
};

/* A zeroed struct holds no configuration. */
struct configurations {
	size_t nr, nr_factors;
	double *cells; /* owned: nr x nr_factors */
};

void level_settings_release(struct level_settings *s);
void factors_release(struct factors *f);
/* Returns the index of the factor, or -1 where no factor has that name. */
int factors_find(const struct factors *f, const char *name);
/* Returns true where the factor has levels and at least one of them is a word. */
bool factor_is_text(const struct factor *f);

/*
 * Makes the product of all levels; the last factor changes fastest. Returns -EINVAL where a factor
 * is a range, and -E2BIG above CONFIGURATIONS_MAX.
 */
int configurations_full(struct configurations *c, const struct factors *f, struct err *err);
/*
 * Draws nr configurations: every level of a factor is equally likely, and ranges are uniform. The
 * configurations are distinct where enough distinct ones exist.
 */
int configurations_random(struct configurations *c, const struct factors *f, size_t nr,
			  struct rng *rng, struct err *err);
int configurations_add(struct configurations *c, size_t nr_factors, const double *cells);
void configurations_shuffle(struct configurations *c, struct rng *rng);
void configurations_release(struct configurations *c);

/*
 * Appends the level of a factor as text. Numbers are printed so that they read back as the same
 * value.
 */
int factor_cell_text(const struct factor *f, double cell, struct buf *out);
/* Sets every factor to its level, and also the further values that the level sets. */
int configuration_set(const struct factors *f, const double *cells, struct params *p,
		      struct err *err);

#endif
