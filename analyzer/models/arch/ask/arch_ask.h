/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_ask: what a person asks of the model of a software system: to solve it, once or for every
 * point of a sweep; to compare two; to compare it with measurements, or calibrate it to them
 * (arch_fit.h).
 *
 *	struct arch_ask q = { .teller = teller, .path = "shop.yaml", .run = ARCH_SOLVE_DEFAULTS };
 *
 *	ret = arch_ask_solve(&q, &err);
 *	... q.answer, q.points or q.csv, as q.form says ...
 *	arch_ask_release(&q);
 */
#ifndef ANALYZER_MODELS_ARCH_ASK_ARCH_ASK_H
#define ANALYZER_MODELS_ARCH_ASK_ARCH_ASK_H

#include <jansson.h>

#include "analyzer/models/arch/arch_fit.h"
#include "analyzer/models/arch/ask/arch_run.h"

enum arch_form {
	ARCH_FORM_TEXT, /* one answer, which of a sweep is a table of its points */
	ARCH_FORM_LIST, /* a sweep gives a list of answers */
	ARCH_FORM_CSV,	/* every time of every point as a line */
};

struct arch_ask {
	const struct teller *teller;
	const char *path;	     /* of the model */
	struct word_list set, sweep; /* NAME=VALUE; NAME=FROM:TO:STEP */
	bool without_failures;	     /* for a Palladio model */
	const char *storages;	     /* a side file of a Palladio model, or NULL */
	const char *checkpoint;	     /* file of a sweep, or NULL */
	struct solve_options run;
	enum arch_form form;
	/* The members below are results. */
	struct answer *answer; /* owned; NULL: none */
	json_t *points;	       /* owned; NULL: none */
	struct buf csv;
	bool overloaded; /* some solution has no steady state */
	/* These members belong to a sweep. */
	struct sweeps sweeps;
	struct answer_table *table; /* part of the answer */
	struct sweep_record record;
};

/* Opens the model with the settings and a point of the sweep. The caller releases m. */
int arch_ask_open(const struct arch_ask *q, size_t point, struct arch_model *m, struct err *err);
/* Each returns 0 or -errno. Release q whatever they return. */
int arch_ask_solve(struct arch_ask *q, struct err *err);
int arch_ask_compare(struct arch_ask *q, const char *other, struct err *err);
void arch_ask_release(struct arch_ask *q);

/* This struct is a model beside measurements; of.answer is the result. */
struct arch_beside {
	struct arch_ask of;
	const char *table;    /* the path of the measurements (arch_fit.h) */
	struct word_list fit; /* NAME=LOW:HIGH: parameters to find; none: the model is validated */
	/* The members below are results. */
	struct arch_measured_set measured;
	struct arch_errors errors;
	struct arch_fit_parameter parameters[ARCH_FIT_MAX];
	char *names[ARCH_FIT_MAX]; /* owned */
	size_t nr_parameters;
	uint64_t outside, asked;
};

/* Returns 0 or -errno. Release q whatever this returns. */
int arch_beside(struct arch_beside *q, struct err *err);
void arch_beside_release(struct arch_beside *q);

#endif
