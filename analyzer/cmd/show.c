// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/show.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/answer/page_shell.h"

static int show_page(const struct answer *a, const char *path, struct err *err)
{
	struct buf page;
	int ret;

	buf_init(&page);
	ret = answer_html(a, &page);
	if (ret)
		goto out;
	ret = page_save(&page, path, err);
out:
	buf_release(&page);
	return ret;
}

int cli_show(const struct cli *cli, const struct answer *a, const char *report_path,
	     struct err *err)
{
	int ret;

	if (report_path) {
		ret = show_page(a, report_path, err);
		if (ret)
			return ret;
	}
	if (answer_is_for_page())
		return answer_print_for_page(a, stdout);
	return answer_print(a, cli->json ? ANSWER_JSON : ANSWER_TEXT, stdout);
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
