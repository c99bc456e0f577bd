/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predictor_options: the options by which commands say how to predict a target.
 *
 *	struct predictor_options by = { 0 };
 *	const struct cli_option options[] = { PREDICTOR_OPTIONS(&by), ..., CLI_END };
 */
#ifndef ANALYZER_CMD_PREDICTOR_OPTIONS_H
#define ANALYZER_CMD_PREDICTOR_OPTIONS_H

#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/predictor.h"

struct predictor_options {
	struct word_list models, set;
	const char *db, *campaign, *target;
};

#define PREDICTOR_OPTIONS(o)                                                                       \
	CLI_LIST("model", 'm', "MODEL.json,...", &(o)->models,                                     \
		 "models fitted or a net calibrated on the target"),                               \
		CLI_STRING("db", 0, "FILE", &(o)->db, "or a measurement store to learn from"),     \
		CLI_STRING("campaign", 0, "NAME", &(o)->campaign,                                  \
			   "of --db, where there are several"),                                    \
		CLI_STRING("target", 0, "NAME", &(o)->target, "of --db, where there are several"), \
		CLI_LIST("set", 0, "K=V,...", &(o)->set, "variables that profiles do not say")

/* Returns how many ways of predicting were given: --model, --db. */
static inline int predictor_options_given(const struct predictor_options *o)
{
	return (o->models.nr > 0) + (o->db != NULL);
}
/*
 * Reads what the options name into p, which is zeroed before and must be released in every case. o
 * must outlive p.
 */
int predictor_open(struct predictor *p, const struct predictor_options *o, struct err *err);

#endif
