/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show: the last steps of a command: it shows its answer and turns its result into an exit status.
 *
 *	struct answer *answer = study_answer(&result, cli->utc);
 *	int ret = cli_show(cli, answer, report_path, &err);
 *
 *	answer_free(answer);
 *	return cli_finish(cli, ret, &err, CLI_DONE);
 */
#ifndef ANALYZER_CMD_SHOW_H
#define ANALYZER_CMD_SHOW_H

#include "analyzer/answer/answer.h"
#include "analyzer/cmd/cli.h"

/*
 * Writes the page of the answer to report_path (NULL: no page). Then it writes the answer to
 * standard output, as JSON where --json was given and as text otherwise. A NULL answer counts as
 * out of memory. Returns 0, or -errno with err filled in.
 */
int cli_show(const struct cli *cli, const struct answer *a, const char *report_path,
	     struct err *err);

/*
 * Returns the exit status of a command: status where ret is 0, otherwise that of the failure, which
 * is printed on standard error. ret is 0 or -errno. Where err has no message yet, the system's
 * message for ret is used.
 */
int cli_finish(const struct cli *cli, int ret, struct err *err, int status);

#endif
