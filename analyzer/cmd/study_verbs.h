/* SPDX-License-Identifier: Apache-2.0 */
/* study_verbs: verbs of blkcast study in files of their own. Each returns an exit code. */
#ifndef ANALYZER_CMD_STUDY_VERBS_H
#define ANALYZER_CMD_STUDY_VERBS_H

#include "analyzer/cmd/cli.h"

int study_scenario(struct cli *cli);
int study_cache(struct cli *cli);
/* Returns 1 where nothing fits. */
int study_mix(struct cli *cli);

enum study_verb {
	VERB_MIGRATE,
	VERB_CONSOLIDATE,
	VERB_INTERFERENCE,
	VERB_SCENARIO,
	VERB_CACHE,
	VERB_MIX,
};

/* The help of each verb; the name stays, since messages begin with it. */
extern const struct command study_helps[];

#endif
