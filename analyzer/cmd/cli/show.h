/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show: the last steps of a command: it shows its answer and turns its result into an exit status.
 *
 *	int ret = cli_show(cli, study_answer(&result, cli->teller.utc), report_path, &err);
 *
 *	return cli_finish(cli, ret, &err, CLI_DONE);
 */
#ifndef ANALYZER_CMD_CLI_SHOW_H
#define ANALYZER_CMD_CLI_SHOW_H

#include "analyzer/answer/answer.h"
#include "analyzer/cmd/cli/cli.h"

/*
 * Writes the page of the answer to report_path (NULL: no page). Then it writes the answer to
 * standard output, as JSON where --json was given and as text otherwise. A NULL answer counts as
 * out of memory. The answer is freed in every case. Returns 0 or -errno.
 */
int cli_show(const struct cli *cli, struct answer *a, const char *report_path, struct err *err);
/*
 * Adds the member "provenance" to an answer that was made from recordings, models or campaigns, as
 * cli_show() does by itself. An answer within a page of serve has none: its readers are not told
 * the paths of the server.
 */
void cli_show_provenance(const struct cli *cli, struct answer *a);
/*
 * Prints a value, for results that are no answer, and gives its reference up. NULL counts as out of
 * memory. Returns 0, -ENOMEM or -EIO.
 */
int cli_show_json(json_t *value) __attribute__((warn_unused_result));
/*
 * Prints what draw() writes, in the language of graphviz, as SVG. Returns the exit status of the
 * command.
 */
int cli_show_drawing(const struct cli *cli, void (*draw)(const void *model, FILE *dot),
		     const void *model);
/* Writes a text to standard output and releases it. Returns 0, its kept failure, or -EIO. */
int cli_show_text(struct buf *text);

/*
 * Returns the exit status of a command: status where ret is 0, otherwise that of the failure, which
 * is printed on standard error. ret is 0 or -errno. Where err has no message yet, the system's
 * message for ret is used.
 */
int cli_finish(const struct cli *cli, int ret, struct err *err, int status);

#endif
