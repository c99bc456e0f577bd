/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_predict: asks a calibrated net about configurations, with all that a simulation knows of
 * them: quantiles, throughput, and how far measured times are off. predict_ask.h asks a net for
 * what regressions tell as well.
 *
 *	struct net_predict p = { .teller = teller, .ask = STORAGE_ASK_DEFAULTS, .out = stdout };
 *
 *	ret = net_predict(&p, "array.json", "table.csv", &err);
 *	net_predict_release(&p);
 */
#ifndef ANALYZER_LEARN_NET_PREDICT_H
#define ANALYZER_LEARN_NET_PREDICT_H

#include <stdio.h>

#include "analyzer/answer/teller.h"
#include "analyzer/models/storage/net/storage_rows.h"
#include "base/memory/buf.h"
#include "base/text/word_list.h"

struct net_predict {
	const struct teller *teller;
	struct word_list set; /* COLUMN=VALUE: the one row, where there is no table */
	const char *set_name; /* how messages name that row */
	struct storage_ask ask;
	bool net;    /* only the net of the one configuration, into text */
	bool strict; /* refuses rows outside the training range */
	bool json;   /* the form of the rows */
	FILE *out;   /* receives the rows */
	/* The members below are set while the model is asked. */
	struct buf text; /* the net as YAML; the caller may take it over and empty it here */
	struct storage_model model;
	struct storage_rows rows;
};

/*
 * table is a path, or NULL for the settings. Returns 0, -EINVAL, -ERANGE where a row is refused,
 * -ENOMEM, -EIO or an error of solve_net(). Release p whatever this returns.
 */
int net_predict(struct net_predict *p, const char *model, const char *table, struct err *err);
void net_predict_release(struct net_predict *p);

#endif
