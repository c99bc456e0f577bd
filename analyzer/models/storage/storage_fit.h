/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_fit: mean response times as sums of products of clients t, request size s and the
 * logarithm of the file-set size f (Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, equations 7.1, 7.7 and 7.8), by least squares of relative
 * errors, without the terms whose p-value exceeds 0.05.
 *
 * Terms are dropped one at a time, the least significant first, and the rest fitted anew. s is
 * in bytes and f in GiB, so that the terms without ln f are those at 1 GiB. The thesis's fit is
 * of absolute errors, and it tells of the large relative errors that makes of small requests;
 * here every row weighs by the inverse square of its response.
 */
#ifndef ANALYZER_STORAGE_FIT_H
#define ANALYZER_STORAGE_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define STORAGE_FIT_TERMS 8
#define STORAGE_FIT_P	  0.05
#define STORAGE_FIT_UNIT  1073741824.0 /* bytes of a file set where ln f is 0 */

enum storage_form {
	STORAGE_FORM_7_1, /* t^i s^j */
	STORAGE_FORM_7_7, /* t^i s^j (ln f)^k */
	STORAGE_FORM_7_8, /* t^i s^j, and ln f */
	STORAGE_FORM_LN,  /* 1, ln f */
	STORAGE_FORM_7_5, /* 1, s */
};

struct storage_term {
	unsigned char t, s, f; /* exponents, 0 or 1; f of ln f */
	bool pruned;
	double coefficient; /* 0 where pruned */
	double p; /* of the final fit, or that which had it pruned; NaN: no rows to spare */
};

struct storage_fit {
	enum storage_form form;
	struct storage_term terms[STORAGE_FIT_TERMS];
	size_t nr_terms, nr_rows;
	double r2;	   /* of the values themselves; NaN where they do not vary */
	double mean_error; /* relative */
	double rss;	   /* of relative errors (of values with absolute) */
};

struct storage_point {
	double t, s, f; /* f in bytes; not looked at by forms without it */
	double y;
};

/* "c + t + s ..." of a form: number of its terms. */
size_t storage_form_terms(enum storage_form form);
/*
 * prune: drop insignificant terms. absolute: every row weighs the same (for shares). 0; -ERANGE
 * where there are fewer rows than terms or numbers overflow; -ENOMEM.
 */
int storage_fit(struct storage_fit *out, enum storage_form form, const struct storage_point *x,
		size_t nr, bool prune, bool absolute);
double storage_fit_at(const struct storage_fit *f, double t, double s, double file_set);
/* "t s ln f" of a term, "1" of the constant. */
const char *storage_term_name(const struct storage_term *t);

#endif
