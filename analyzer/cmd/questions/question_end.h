/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_end: begins and ends the commands that answer questions about loads, in the way that all
 * of them share.
 */
#ifndef ANALYZER_CMD_QUESTIONS_QUESTION_END_H
#define ANALYZER_CMD_QUESTIONS_QUESTION_END_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/question/question.h"

/*
 * Parses the options, and takes the loads and the target that they choose. There are least to most
 * loads; most 0 means any number. Returns false with cli->status set if the command ends here.
 */
bool question_parse(struct cli *cli, struct question *q, const struct cli_option *options,
		    size_t least, size_t most);
/*
 * Refuses a period of the loads beside a simulated device, which simulates all stored requests.
 * Returns 0, or the exit status.
 */
int question_all_is_simulated(const struct cli *cli, const struct question *q);
/* Shows the answer where ret is 0. Returns the exit status, which follows the verdict. */
int question_end(const struct cli *cli, const struct question *q, int ret, struct answer *a,
		 const char *report, struct err *err);

#endif
