/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_update: tests whether new rows fit a saved model, and fits the model again to old and new
 * rows together, with the same technique and parameters (model_update.h). The results say how the
 * new rows compare with the model.
 */
#ifndef ANALYZER_LEARN_FIT_UPDATE_H
#define ANALYZER_LEARN_FIT_UPDATE_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/answer/teller.h"
#include "analyzer/models/regression/choice/model_update.h"

struct fit_update {
	const struct teller *teller;
	const char *model; /* path of the model file to read */
	const char *table; /* path of the rows; NULL: the rows of db */
	const char *db, *campaign;
	const char *weight;	     /* column of the weights; may be NULL */
	const char *where;	     /* condition on the rows to take; may be NULL */
	const char *output, *report; /* files to write; may be NULL */
	/* The members below are results. */
	struct update_facts facts;
	size_t nr_rows; /* number of all rows */
	double cv_rmse; /* error of held-out rows */
};

/* Returns 0, or -errno with a message. */
int fit_update(struct fit_update *u, struct err *err);
/* The result in words, and as "blkcast.update/1", which is NULL where memory is out. */
void fit_update_print(const struct fit_update *u, FILE *out);
json_t *fit_update_json(const struct fit_update *u);

#endif
