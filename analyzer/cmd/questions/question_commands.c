// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/questions/question_commands.h"

#include <errno.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"

bool question_parse(struct cli *cli, struct question *q, const struct cli_option *options,
		    size_t least, size_t most)
{
	q->teller = &cli->teller;
	if (!cli_parse(cli, options) || !load_options_take(&q->choice, cli))
		return false;
	if (q->choice.nr < least)
		cli->status = cli_usage(cli, "expected a load: a profile, a store or a segment");
	else if (most && q->choice.nr > most)
		cli->status =
			cli_usage(cli, "expected up to %zu loads, got %zu", most, q->choice.nr);
	else
		cli->status = predictor_options_take(&q->by, &q->storage, cli);
	lsq_single_thread();
	return !cli->status;
}

int question_all_is_simulated(const struct cli *cli, const struct question *q)
{
	if (!q->storage || !(q->choice.sel.begin_real_ns || q->choice.sel.end_real_ns))
		return 0;
	return cli_usage(cli, "--begin, --end: not beside --storage, which simulates all stored "
			      "requests");
}

int question_overwrite_check(const struct cli *cli, const char *overwrite, const char *target)
{
	if (!overwrite || !strcmp(overwrite, target))
		return 0;
	return cli_usage(cli,
			 "--overwrite %.200s: expected the target's own path a second time, %.200s",
			 overwrite, target);
}

int question_run_hint(int ret, const char *target, struct err *err)
{
	if (ret == -EDOM && target)
		err_suffix(err, " (--leave-out)");
	else if (ret == -ENOTUNIQ)
		err_suffix(err, "; --device, --host, --begin and --end choose");
	else if (ret == -ENOTEMPTY)
		err_suffix(err,
			   "; name it a second time with --overwrite %s, or name another target",
			   target);
	else
		return ret;
	return -EINVAL;
}

int question_end(const struct cli *cli, const struct question *q, int ret, struct answer *a,
		 const char *report, struct err *err)
{
	static const int statuses[] = { [QUESTION_YES] = CLI_DONE,
					[QUESTION_NO] = CLI_FAILED,
					[QUESTION_CANNOT_TELL] = CLI_CANNOT_TELL };
	static const struct cli_hint hints[] = { { ENOKEY, "; --set gives it" }, { 0 } };

	if (!ret)
		ret = cli_show(cli, a, report, err);
	if (q->by.models.nr || q->by.db)
		ret = cli_hint(ret, hints, err);
	return cli_finish(cli, ret, err, statuses[q->verdict]);
}
