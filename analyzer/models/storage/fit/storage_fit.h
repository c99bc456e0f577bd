/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_fit: fits mean response times as sums of products of the clients t, the request size s
 * and the logarithm of the file-set size f (Noorshams, Modeling and Prediction of I/O Performance
 * in Virtualized Environments, 2015, equations 7.1, 7.7 and 7.8). The method is least squares of
 * relative errors, without the terms whose p-value exceeds 0.05.
 *
 * Terms are dropped one at a time, the least significant first, and the rest is fitted again. s is
 * in bytes and f in GiB, so that the terms without ln f are the values at 1 GiB. The thesis
 * minimizes absolute errors and reports large relative errors for small requests as a consequence.
 * Here the weight of every row is the inverse square of its response.
 */
#ifndef ANALYZER_STORAGE_FIT_H
#define ANALYZER_STORAGE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define STORAGE_FIT_TERMS 8
#define STORAGE_FIT_P	  0.05
#define STORAGE_FIT_UNIT  1073741824.0 /* size of a file set, in bytes, at which ln f is 0 */

enum storage_form {
	STORAGE_FORM_7_1, /* t^i s^j */
	STORAGE_FORM_7_7, /* t^i s^j (ln f)^k */
	STORAGE_FORM_7_8, /* t^i s^j, and ln f */
	STORAGE_FORM_LN,  /* 1, ln f */
	STORAGE_FORM_7_5, /* 1, s */
};

struct storage_term {
	unsigned char t, s, f; /* exponents, 0 or 1; f is the exponent of ln f */
	bool pruned;
	double coefficient; /* 0 if the term was pruned */
	/* p-value in the final fit, or in the fit that pruned the term; NaN without spare rows */
	double p;
};

struct storage_fit {
	enum storage_form form;
	struct storage_term terms[STORAGE_FIT_TERMS];
	size_t nr_terms, nr_rows;
	double r2;	   /* R squared of the values themselves; NaN where they do not vary */
	double mean_error; /* mean relative error */
	double rss;	   /* residual sum of squares of relative errors (of values if absolute) */
};

struct storage_point {
	double t, s, f; /* f is in bytes; forms without f ignore it */
	double y;
};

/* Returns the number of terms of a form, that is of the sum "c + t + s ...". */
size_t storage_form_terms(enum storage_form form);
/*
 * Fits the form. prune drops insignificant terms. absolute gives every row the same weight, which
 * suits shares. Returns 0, -ERANGE if there are fewer rows than terms or numbers overflow, or
 * -ENOMEM.
 */
int storage_fit(struct storage_fit *out, enum storage_form form, const struct storage_point *x,
		size_t nr, bool prune, bool absolute);
double storage_fit_at(const struct storage_fit *f, double t, double s, double file_set);
/* Returns the name of a term: "t s ln f" for example, and "1" for the constant. */
const char *storage_term_name(const struct storage_term *t);

#endif
