// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "analyzer/cmd/cli/capacity_options.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/questions/question_end.h"
#include "analyzer/question/capacity_question.h"

/* This struct holds the texts of --measure, --mix and --sizes before they are parsed. */
struct capacity_words {
	struct word_list measure, mix, sizes;
};

static int cmd_capacity_parse(struct capacity_question *q, const struct capacity_words *w,
			      struct err *err)
{
	struct capacity_result *r = &q->r;
	int ret = capacity_read_share(&w->mix, &q->read_ratio, err);

	if (!ret)
		ret = capacity_measured(&r->capacity, &w->measure, err);
	if (ret || !w->sizes.nr)
		return ret;
	r->nr_parts = w->sizes.nr;
	r->parts = calloc(r->nr_parts, sizeof(*r->parts));
	return r->parts ? capacity_sizes(&w->sizes, q->read_ratio, r->parts, err) : -ENOMEM;
}

static int cmd_capacity_ask(struct cli *cli, struct capacity_question *c)
{
	struct question *q = &c->of;
	struct capacity_words words = { .measure = { .nr = 0 } };
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &words.measure,
			 "measured requests per second; 70=N: with 70 % reads"),
		PREDICTOR_OPTIONS(&q->by),
		CLI_STRING("storage", 0, "FILE", &q->storage,
			   "or ask this simulated device (blkcast storage calibrate)"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &q->slo,
			 "the capacity that keeps these: read.p95=20ms, write.mean=5ms, ..."),
		CLI_STRING("size-factor", 0, "NAME", &c->size, "default size, request_size, bs"),
		CLI_STRING("mix-factor", 0, "NAME", &c->mix_column,
			   "default read, mix, rwmixread; in percent, or 0 to 1"),
		CLI_LIST("where", 0, "FACTOR=VALUE", &c->where, "only those rows of --db"),
		CLI_LIST("mix", 0, "read=PERCENT", &words.mix, "share of reads, default 100"),
		CLI_LIST("sizes", 0, "SIZE=SHARE[:READ],...", &words.sizes,
			 "sizes together, with shares of the capacity that sum to 1"),
		CLI_FLAG("request-shares", 0, &c->of_requests,
			 "--sizes: shares of the requests instead"),
		CLI_DOUBLE("bound", 0, "RATIO", &c->r.bound, "warn where C varies by more",
			   .standard = "0.1", .above = "0"),
		CLI_CHOICE(1, 1, "measure model db storage"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 0, 0))
		return cli->status;
	if (q->slo.nr && words.measure.nr)
		return cli_usage(cli, "--slo: expected --model, --db or --storage beside it: "
				      "measured throughputs tell no response times");
	if ((c->where.nr || c->size || c->mix_column) && (!q->by.db || q->slo.nr))
		return cli_usage(cli, "--where, --size-factor, --mix-factor: of the throughputs in "
				      "--db; with --slo, models learn from all of it");
	if (q->by.set.nr && !q->by.models.nr && !(q->by.db && q->slo.nr))
		return cli_usage(cli, "--set: expected --model, or --db with --slo, beside it");
	ret = cmd_capacity_parse(c, &words, &err);
	if (!ret)
		ret = capacity_question_answer(&a, c, &err);
	return question_end(cli, q, ret, a, NULL, &err);
}

static int cmd_capacity_run(struct cli *cli)
{
	struct capacity_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	q->read_ratio = 1;
	ret = cmd_capacity_ask(cli, q);
	load_options_release(&q->of.choice);
	capacity_question_release(q);
	free(q);
	return ret;
}

const struct command command_capacity = {
	.name = "capacity",
	.summary =
		"throughput of any mix of reads, writes and sizes from two measurements per size",
	.usage =
		"--measure SIZE:read=N,write=N,... [--mix read=P] [--sizes ...] [PROFILE.json...]\n"
		"(--db FILE | --storage DEVICE.json | --model MODEL.json,...) [--slo OBJECTIVE,...]\n"
		"  [--mix read=P] [--sizes ...] [PROFILE.json[=COUNT]...]",
	.example = "blkcast capacity --measure 4k:read=20000,write=5000 --measure "
		   "64k:read=4000,write=1600 --mix read=70 --sizes 4k=0.6,64k=0.4",
	.details =
		"For one size C = T_read + f_rw T_write is the same for every mix. Profiles are "
		"asked how much of\nthe capacity each uses and how many of it fit; exit status 1 where "
		"they do not fit together. With\n--slo the capacity is what is served while the "
		"objectives hold, by models of read_s and write_s, or\nby a device. Several numbers "
		"for one size and mix (read=N\nread=N) are repetitions: they give 90 % intervals, "
		"as do several runs in --db. Further mixes tell\nhow constant C is. Sizes between "
		"the measured ones are interpolated on log size, others\nextrapolated; both are "
		"marked.",
	.run = cmd_capacity_run,
};
