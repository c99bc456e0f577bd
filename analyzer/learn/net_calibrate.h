/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_calibrate: makes a storage model, a calibrated queueing Petri net, from a table of measured
 * response times or from a campaign, and writes it (models/storage/calibration).
 */
#ifndef ANALYZER_LEARN_NET_CALIBRATE_H
#define ANALYZER_LEARN_NET_CALIBRATE_H

#include <jansson.h>

#include "analyzer/answer/answer.h"
#include "analyzer/answer/teller.h"
#include "analyzer/models/storage/net/storage_model.h"
#include "base/text/word_list.h"

struct net_calibration {
	const struct teller *teller;
	const char *table, *output; /* table: a file of CSV; NULL where db is given */
	const char *db, *campaign;  /* a measurement store; campaign may be NULL */
	struct word_list settings;  /* "NAME=VALUE" for what is no factor of the campaign */
	struct word_list where;	    /* "COLUMN=VALUE": the rows that are taken */
	enum storage_kind kind;
	enum storage_vm_rule rule; /* STORAGE_NR_RULES: the best rule is chosen */
	double saturated, precision;
	uint64_t seed;
	unsigned int nr_threads;
	/* The members below are results, which the caller frees. */
	struct answer *answer;
	json_t *root; /* the model as it was written; NULL where it is a net */
	bool is_long; /* the answer has several tables */
};

/* Returns whether the model of that path is a net, which files of YAML are. */
bool net_calibration_is_net(const char *path);
/* Returns 0 or -errno with one line in err. */
int net_calibrate(struct net_calibration *task, struct err *err);

#endif
