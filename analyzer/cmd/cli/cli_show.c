// SPDX-License-Identifier: Apache-2.0
/* cli_show: the last steps of a command: it shows its answer and gives the exit status. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/cmd/cli/cli.h"
#include "base/data/json.h"
#include "base/system/output_file.h"

static int show_page(const struct cli *cli, const struct answer *a, const char *path,
		     struct err *err)
{
	struct buf page;
	int ret;

	buf_init(&page);
	ret = answer_html(a, &cli->teller.maker, &page);
	if (ret)
		goto out;
	ret = output_file_save(&page, path, err);
out:
	buf_release(&page);
	return ret;
}

void cli_show_provenance(const struct cli *cli, struct answer *a)
{
	const struct page_origins *o = cli->teller.maker.origins;

	if (o && (o->nr || o->devices) && !answer_is_for_page())
		answer_member(a, "provenance", provenance_json(&cli->teller.maker));
}

int cli_show(const struct cli *cli, struct answer *a, const char *report_path, struct err *err)
{
	int ret = report_path ? show_page(cli, a, report_path, err) : 0;

	if (ret)
		goto out;
	if (cli->json)
		cli_show_provenance(cli, a);
	ret = answer_is_for_page() ? answer_print_for_page(a, stdout)
				   : answer_print(a, cli->json ? ANSWER_JSON : ANSWER_TEXT, stdout);
out:
	answer_free(a);
	return ret;
}

int cli_show_json(json_t *value)
{
	int ret;

	if (!value)
		return -ENOMEM;
	ret = json_print(value, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(value);
	return ret;
}

int cli_show_drawing(const struct cli *cli, void (*draw)(const void *model, FILE *dot),
		     const void *model)
{
	FILE *dot;

	fflush(stdout);
	dot = popen("dot -Tsvg", "w");
	if (dot)
		draw(model, dot);
	if (dot && !pclose(dot))
		return CLI_DONE;
	fprintf(stderr, "blkcast %s: graphviz' dot failed: is the package graphviz installed?\n",
		cli->command->name);
	return CLI_FAILED;
}

int cli_show_text(struct buf *text)
{
	int ret = text->error;

	/* An empty text has no memory, and fwrite() takes no NULL. */
	if (!ret && text->len && fwrite(text->data, 1, text->len, stdout) != text->len)
		ret = -EIO;
	buf_release(text);
	return ret;
}

int cli_hint(int ret, const struct cli_hint *hints, struct err *err)
{
	for (; hints->code; hints++) {
		if (ret != -hints->code)
			continue;
		err_suffix(err, "%s", hints->text);
		return -EINVAL;
	}
	return ret;
}

int cli_finish(const struct cli *cli, int ret, struct err *err, int status)
{
	if (!ret)
		return status;
	if (!err->line[0])
		err_set(err, -ret, "%s", strerror(-ret));
	err->code = -ret;
	return cli_fail(cli, err);
}
