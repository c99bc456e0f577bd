// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/questions/question_commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/cli/option_value.h"
#include "analyzer/models/num/lsq.h"

/* tolerance for shares such as thirds, which decimals cannot give exactly */
#define SHARES_TOLERANCE 1e-6
#define TEXT_BYTES	 64

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
	if (ret == -ENOTSUP)
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

static bool capacity_options_number(const char *text, double *out)
{
	return option_value_parse(CLI_KIND_DOUBLE, text, out) == NULL;
}

/*
 * Copies the text before the sign into head. Returns the text after it, or NULL where there is no
 * sign.
 */
static const char *capacity_options_split(const char *text, char sign, char head[TEXT_BYTES])
{
	const char *at = strchr(text, sign);

	if (!at || at - text >= TEXT_BYTES)
		return NULL;
	snprintf(head, TEXT_BYTES, "%.*s", (int)(at - text), text);
	return at + 1;
}

int capacity_measured(struct capacity *c, const struct word_list *list, struct err *err)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const char *item = list->items[i], *rest;
		char head[TEXT_BYTES];
		double percent, iops;
		int ret;

		rest = capacity_options_split(item, ':', head);
		if (rest && option_value_parse(CLI_KIND_SIZE, head, &bytes))
			return err_set(err, EINVAL, "--measure %.60s: expected a size, got '%s'",
				       item, head);
		rest = capacity_options_split(rest ? rest : item, '=', head);
		percent = strcmp(head, "read") == 0 ? 100 : 0;
		if (!rest || !bytes ||
		    (strcmp(head, "read") != 0 && strcmp(head, "write") != 0 &&
		     !capacity_options_number(head, &percent)) ||
		    !capacity_options_number(rest, &iops))
			return err_set(
				err, EINVAL,
				"--measure: expected SIZE:read=N,write=N with N requests per "
				"second, got '%.60s'",
				item);
		ret = capacity_add(c, bytes, percent / 100, iops, NAN, err);
		if (ret) {
			err_prefix(err, "--measure %.60s", item);
			return ret;
		}
	}
	return 0;
}

int capacity_read_share(const struct word_list *list, double *read_ratio, struct err *err)
{
	double read = NAN, write = NAN, percent;

	for (size_t i = 0; i < list->nr; i++) {
		char head[TEXT_BYTES] = "";
		const char *rest = capacity_options_split(list->items[i], '=', head);
		bool is_read = strcmp(head, "read") == 0;

		if (!rest || !capacity_options_number(rest, &percent) ||
		    !(percent >= 0 && percent <= 100) || (!is_read && strcmp(head, "write") != 0))
			return err_set(err, EINVAL,
				       "--mix: expected read=PERCENT, from 0 to 100, got '%.60s'",
				       list->items[i]);
		*(is_read ? &read : &write) = percent;
	}
	if (!isnan(read) && !isnan(write) && fabs(read + write - 100) > SHARES_TOLERANCE)
		return err_set(err, EINVAL, "--mix: read %g and write %g do not sum to 100", read,
			       write);
	if (!isnan(read))
		*read_ratio = read / 100;
	else if (!isnan(write))
		*read_ratio = 1 - write / 100;
	return 0;
}

int capacity_sizes(const struct word_list *list, double read_ratio, struct capacity_part *parts,
		   struct err *err)
{
	double sum = 0;

	for (size_t i = 0; i < list->nr; i++) {
		char size[TEXT_BYTES], head[TEXT_BYTES];
		const char *rest = capacity_options_split(list->items[i], '=', size), *mix;
		double percent = 100 * read_ratio;

		mix = rest ? capacity_options_split(rest, ':', head) : NULL;
		if (!rest || option_value_parse(CLI_KIND_SIZE, size, &parts[i].bytes) ||
		    !parts[i].bytes || parts[i].bytes > 1u << 30 ||
		    !capacity_options_number(mix ? head : rest, &parts[i].share) ||
		    !(parts[i].share > 0 && parts[i].share <= 1) ||
		    (mix && (!capacity_options_number(mix, &percent) ||
			     !(percent >= 0 && percent <= 100))))
			return err_set(err, EINVAL,
				       "--sizes: expected SIZE=SHARE or SIZE=SHARE:PERCENT_READS, "
				       "with a share above 0 and up to 1, got '%.60s'",
				       list->items[i]);
		parts[i].read_ratio = mix ? percent / 100 : read_ratio;
		sum += parts[i].share;
	}
	if (fabs(sum - 1) > SHARES_TOLERANCE)
		return err_set(err, EINVAL, "--sizes: expected shares that sum to 1, got %g", sum);
	return 0;
}
