/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_verbs: declares the verbs of blkcast study that have files of their own. Each function
 * returns an exit code.
 */
#ifndef ANALYZER_CMD_QUESTIONS_STUDY_VERBS_H
#define ANALYZER_CMD_QUESTIONS_STUDY_VERBS_H

#include "analyzer/cmd/cli/cli.h"

int study_scenario(struct cli *cli);
int study_cache(struct cli *cli);
/* Returns 1 where no mix of the loads fits the target. */
int study_mix(struct cli *cli);

/* These are indices of study_helps. The first three are those of enum study_verb. */
enum { VERB_MIGRATE, VERB_CONSOLIDATE, VERB_INTERFERENCE, VERB_SCENARIO, VERB_CACHE, VERB_MIX };

/*
 * This table has the help of each verb. All have the name "study", because messages begin with it.
 */
extern const struct command study_helps[];

#endif
