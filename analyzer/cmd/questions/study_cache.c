// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/questions/question_end.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/question/cache_question.h"

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
		PREDICTOR_OPTIONS(&q->by),
		CLI_STRING("storage", 0, "FILE", &q->storage,
			   "or simulate the misses on this device (blkcast storage calibrate)"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &q->slo,
			 "exit status 1 where a load breaks it: read.mean=20ms, write.mean=5ms",
			 .with = "hit-time"),
		CLI_STRING("report", 0, "FILE", &report, "an HTML page"),
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
