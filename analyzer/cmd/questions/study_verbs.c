// SPDX-License-Identifier: Apache-2.0
/* study_verbs: the verbs scenario, cache and mix of blkcast study. cmd_study.c has the others. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/cmd/questions/question_commands.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/question/cache_question.h"
#include "analyzer/question/mix_question.h"
#include "analyzer/question/question_words.h"
#include "analyzer/question/scenario_question.h"

int study_scenario(struct cli *cli)
{
	struct scenario_question q = { .of.teller = &cli->teller };
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		CLI_LIST("storage", 0, "[NAME=]FILE,...", &q.storages,
			 "simulate what is stored on this device (blkcast storage calibrate) "
			 "instead of the files' storages, or of the one of that name"),
		SLO_OPTION(&q.of.slo,
			   "exit status 1 where a VM breaks it: read.mean=20ms, write.mean=5ms, "
			   "..."),
		REPORT_OPTION(&report, "an HTML page"),
		CLI_OPERANDS(1, SCENARIOS_MAX, "the files of some scenarios"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	lsq_single_thread();
	q.paths = (const char *const *)cli->argv;
	q.nr = (size_t)cli->argc;
	ret = scenario_question_answer(&a, &q, &err);
	return question_end(cli, &q.of, ret, a, report, &err);
}

static int study_cache_ask(struct cli *cli, struct cache_question *c)
{
	struct question *q = &c->of;
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	double percent = NAN;
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		CLI_SIZE("size", 0, "SIZE", &c->size_bytes,
			 "of a cache for all loads; default the knees of all"),
		CLI_DOUBLE("hits", 0, "PERCENT", &percent, "how large for that share of hits",
			   .above = "0", .to = "100"),
		CLI_DURATION("hit-time", 0, "TIME", &c->hit_s,
			     "of a request that hits: for response times"),
		CLI_DURATION("miss-time", 0, "TIME", &c->miss_s,
			     "of a request that misses; default as characterized"),
		TARGET_OPTIONS(q, "simulate the misses on this"),
		SLO_OPTION(&q->slo,
			   "exit status 1 where a load breaks it: read.mean=20ms, write.mean=5ms",
			   .with = "hit-time"),
		REPORT_OPTION(&report, "an HTML page"),
		CLI_CHOICE(0, 1, "miss-time model db storage"),
		CLI_END,
	};
	int ret;

	c->hit_s = c->miss_s = NAN;
	if (!question_parse(cli, q, options, 1, CACHE_LOADS_MAX))
		return cli->status;
	ret = question_all_is_simulated(cli, q);
	if (ret)
		return ret;
	c->hit_ratio = percent / 100;
	ret = cache_question_answer(&a, c, &err);
	return question_end(cli, q, ret, a, report, &err);
}

int study_cache(struct cli *cli)
{
	struct cache_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	ret = study_cache_ask(cli, q);
	load_options_release(&q->of.choice);
	question_release(&q->of);
	free(q);
	return ret;
}

static int study_mix_ask(struct cli *cli, struct mix_question *m)
{
	struct question *q = &m->of;
	struct word_list measure = { .nr = 0 };
	const char *report = NULL;
	uint64_t most;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		SLO_OPTION(&q->slo, "read.p95=20ms, write.mean=5ms, ..."),
		LOAD_OPTIONS(&q->choice),
		TARGET_OPTIONS(q, "simulate what is stored on this"),
		MEASURE_OPTION(&measure,
			       "measured requests per second: the capacity, as of blkcast "
			       "capacity"),
		CLI_U64("most", 0, "N", &most, "of one load to look at", .standard = "64",
			.from = "1", .to = "256"),
		REPORT_OPTION(&report, "an HTML page"),
		CLI_CHOICE(1, CLI_ANY, "slo measure"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 1, MIX_LOADS_MAX))
		return cli->status;
	if (q->slo.nr > MIX_LOADS_MAX)
		return cli_usage(cli, "--slo: expected up to %d", MIX_LOADS_MAX);
	if (predictor_options_given(&q->by) + (q->storage != NULL) != (q->slo.nr > 0))
		return cli_usage(cli, "expected one of --model, --db and --storage beside --slo");
	ret = question_all_is_simulated(cli, q);
	if (ret)
		return ret;
	m->r.mix.most = most;
	m->is_measured = measure.nr;
	ret = m->is_measured ? question_words_measured(&m->capacity, &measure, &err) : 0;
	if (!ret)
		ret = mix_question_answer(&a, m, &err);
	return question_end(cli, q, ret, a, report, &err);
}

int study_mix(struct cli *cli)
{
	struct mix_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	ret = study_mix_ask(cli, q);
	load_options_release(&q->of.choice);
	mix_question_release(q);
	free(q);
	return ret;
}
