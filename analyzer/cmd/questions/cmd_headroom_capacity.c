// SPDX-License-Identifier: Apache-2.0
/* How much more of a load a target bears (headroom), and its throughput of any mix (capacity). */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/cmd/questions/question_commands.h"
#include "analyzer/question/capacity_question.h"
#include "analyzer/question/headroom_question.h"
#include "analyzer/question/question_words.h"

static int cmd_headroom_ask(struct cli *cli, struct headroom_question *h)
{
	static const struct cli_hint hints[] = { { ENOTUNIQ, "; --load names it" }, { 0 } };
	struct question *q = &h->of;
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		SLO_OPTION(&q->slo, "read.p95=20ms, write.mean=5ms, ...", .required = true),
		TARGET_OPTIONS(q, "simulate what is stored on this"),
		CLI_DURATION("duration", 0, "TIME", &q->study.run.duration_s,
			     "--storage: simulate only the beginning, default all"),
		CLI_STRING("intervals", 0, "TABLE.csv", &h->intervals,
			   "--storage: widen by these applications, as study does"),
		CLI_STRING("load", 0, "NAME", &h->load,
			   "the variable to scale; default clients, rate or depth"),
		REPORT_OPTION(&report, "the knee curve, an HTML page"),
		CLI_CHOICE(1, 1, "model db storage"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 1, 0))
		return cli->status;
	if (q->storage && h->load)
		return cli_usage(cli, "--load: not of a simulated device, where the stored "
				      "requests say whether clients or the rate can grow");
	if (q->storage && (q->choice.sel.begin_real_ns || q->choice.sel.end_real_ns))
		return cli_usage(cli, "--begin, --end: of answers by --model or --db; --duration "
				      "says how much is simulated");
	if (!q->storage && (h->intervals || q->study.run.duration_s > 0))
		return cli_usage(cli, "--intervals, --duration: expected with --storage");
	ret = headroom_question_answer(&a, h, &err);
	return question_end(cli, q, cli_hint(ret, hints, &err), a, report, &err);
}

static int cmd_headroom_run(struct cli *cli)
{
	struct headroom_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	ret = cmd_headroom_ask(cli, q);
	load_options_release(&q->of.choice);
	headroom_question_release(q);
	free(q);
	return ret;
}

const struct command command_headroom = {
	.name = "headroom",
	.summary = "how many times today's load a target bears before an objective breaks",
	.usage = "PROFILE.json --slo OBJECTIVE,... (--model MODEL.json,... | --db FILE | --storage "
		 "DEVICE.json) [--report FILE.html]",
	.example = "blkcast headroom today.json --slo read.p95=20ms --db results.sqlite\n"
		   "blkcast fit --db results.sqlite --response read_p95_s -o p95.json\n"
		   "blkcast headroom today.json --slo read.p95=20ms --model p95.json --report "
		   "headroom.html",
	.details =
		"The model's load variable (clients, rate or depth) is multiplied until the "
		"prediction breaks the\nobjective, within the range that was measured; the "
		"interval is where the ends of the prediction's\n90 % interval break it. Clients "
		"that think do so as long as today, by the interactive response-time\nlaw (--load "
		"think: there are as many, and they think less); that needs models of read_s and "
		"write_s\nbeside the objective's. Several devices in the profile add up. With "
		"--storage the stored requests are\n"
		"multiplied and simulated on a device that blkcast storage calibrate has made: "
		"clients are copied,\n"
		"and requests that come by themselves come faster. Exit status 1 where an "
		"objective is\nbroken today or the target cannot carry the load, 3 where the load "
		"lies outside the model.",
	.run = cmd_headroom_run,
};

/* This struct holds the texts of --measure, --mix and --sizes before they are parsed. */
struct capacity_words {
	struct word_list measure, mix, sizes;
};

static int cmd_capacity_parse(struct capacity_question *q, const struct capacity_words *w,
			      struct err *err)
{
	struct capacity_result *r = &q->r;
	int ret = question_words_share(&w->mix, &q->read_ratio, err);

	if (!ret)
		ret = question_words_measured(&r->capacity, &w->measure, err);
	if (ret || !w->sizes.nr)
		return ret;
	r->nr_parts = w->sizes.nr;
	r->parts = calloc(r->nr_parts, sizeof(*r->parts));
	return r->parts ? question_words_sizes(&w->sizes, q->read_ratio, r->parts, err) : -ENOMEM;
}

static int cmd_capacity_ask(struct cli *cli, struct capacity_question *c)
{
	static const struct cli_hint hints[] = { { ENOTUNIQ, " (--where)" }, { 0 } };
	struct question *q = &c->of;
	struct capacity_words words = { .measure = { .nr = 0 } };
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		MEASURE_OPTION(&words.measure,
			       "measured requests per second; 70=N: with 70 % reads"),
		TARGET_OPTIONS(q, "ask this simulated"),
		SLO_OPTION(&q->slo,
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
		ret = cli_hint(capacity_question_answer(&a, c, &err), hints, &err);
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
