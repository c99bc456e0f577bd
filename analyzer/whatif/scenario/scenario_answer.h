/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_answer: shows scenarios side by side as an answer (answer.h). */
#ifndef ANALYZER_WHATIF_SCENARIO_SCENARIO_ANSWER_H
#define ANALYZER_WHATIF_SCENARIO_SCENARIO_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/headroom/study_slo.h"
#include "analyzer/whatif/scenario/scenario.h"

#define SCENARIOS_MAX 16

struct scenario_result {
	struct scenario *scenarios; /* owned by the caller; solved; the first one is the baseline */
	size_t nr;
	struct study_slo slo; /* objectives of means, of every VM in every scenario */
	/* These members are results of scenario_judge(). */
	enum study_slo_verdict slo_verdict;
	char slo_words[384];
};

/* This struct is a VM and a direction that occur in at least one scenario. */
struct scenario_row {
	const char *vm;
	int side;      /* 0 reads, 1 writes */
	double base_s; /* mean where the VM was characterized; NaN unknown */
};

/*
 * Gives row k of all scenarios, in the order in which their VMs first appear; false behind the last
 * row.
 */
bool scenario_row_of(const struct scenario_result *r, size_t k, struct scenario_row *out);
/*
 * Returns the mean response time of a row in a scenario; NaN if the scenario does not have the VM.
 */
double scenario_time_s(const struct scenario *s, const struct scenario_row *row);
/* Returns whether a scenario allows no conclusion: a load lies outside a model's range, or its
 * storage cannot carry it. */
bool scenario_cannot_tell(const struct scenario *s);
/* Returns whether a simulated storage serves fewer requests than its VMs offer. */
bool scenario_overloaded(const struct scenario *s);
/* Judges the objectives; the answer then says which one is broken. */
void scenario_judge(struct scenario_result *r);
/* Returns the answer "blkcast.scenario/1" without pictures; NULL if memory is out. */
struct answer *scenario_answer(const struct scenario_result *r, bool utc);

#endif
