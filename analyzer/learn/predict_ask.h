/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_ask: asks a saved model, a regression or a storage model, about rows, or shows the model.
 *
 *	struct predict_ask p = { .teller = teller, .level = 0.9, .out = stdout };
 *
 *	ret = predict_ask(&p, "m.json", "table.csv");	on failure p.err says why
 *	... rows were written to out; or p.text, or p.answer of a check ...
 *	predict_ask_release(&p);
 */
#ifndef ANALYZER_LEARN_PREDICT_ASK_H
#define ANALYZER_LEARN_PREDICT_ASK_H

#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/answer/teller.h"
#include "analyzer/models/regression/use/predict_rows.h"
#include "analyzer/models/storage/net/storage_rows.h"
#include "base/text/word_list.h"

struct predict_ask {
	const struct teller *teller;
	const char *db, *campaign; /* a measurement store with the rows, or NULL */
	struct word_list set;	   /* NAME=VALUE: the one row, where there is no other */
	bool strict;		   /* refuses rows outside the training range */
	bool show, c;		   /* the model as text or as C instead */
	const char *report;	   /* a page of the model instead, or NULL */
	bool check;		   /* only the errors, beside `against` and by the column `by` */
	const char *against, *by;  /* or NULL */
	double level;		   /* confidence level of the interval */
	bool level_asked;	   /* an interval that cannot be given is an error */
	bool json, for_person;	   /* the form of the rows; a person reads their first digits */
	FILE *out;		   /* receives the rows */
	/* The members below are results. */
	struct answer *answer; /* answer of a check; the caller frees this answer */
	struct buf text;       /* output of show and c */
	bool cannot_tell;
	struct err err;
	/* The members below are set while the model is asked. */
	char *texts[WORD_LIST_MAX]; /* owned; settings converted to plain numbers */
	struct model model;
	bool is_storage;
	struct storage_model storage; /* set where the model is a queueing Petri net */
	struct storage_rows rows_of_storage;
	struct table table;
	struct predict_rows rows;
};

/* table is a path or NULL. Returns 0 or -errno. Release p whatever this returns. */
int predict_ask(struct predict_ask *p, const char *model, const char *table);
void predict_ask_release(struct predict_ask *p);

#endif
