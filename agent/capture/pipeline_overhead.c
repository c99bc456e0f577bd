/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_overhead: measures the agent's own cost, chooses the level of capture by the bound on
 * that cost (overhead.h), and counts the requests that nobody saw while requests were shed
 * (shed_tally.h).
 */
#include <math.h>

#include "agent/capture/pipeline_state.h"

/* Returns the processor time of the agent and its kernel side since the start, in seconds. */
static double cost_s(const struct pipeline *p, double *agent_s, double *kernel_s)
{
	*agent_s = (double)clock_process_cpu_ns() / 1e9;
	*kernel_s = NAN;
	if (p->source && p->config.source->kernel_cpu_s)
		*kernel_s = p->config.source->kernel_cpu_s(p->source);
	return *agent_s + (isnan(*kernel_s) ? 0 : *kernel_s);
}

void pipeline_begin_tallies(struct pipeline *p, const struct account_base *bases, size_t nr)
{
	for (size_t i = 0; i < nr && p->config.source_config.nr_devices; i++) {
		struct traced *t = pipeline_device(p, bases[i].device);

		if (t)
			shed_tally_begin(&t->tally, bases[i].completed, t->seen.nr_countable);
	}
}

void pipeline_tally_shed(struct pipeline *p, bool is_last)
{
	uint64_t completed, missing, now_ns = clock_monotonic_ns();

	if (!(p->config.max_overhead > 0) || !p->config.read_in_flight ||
	    !p->overhead.can[OVERHEAD_COUNTERS])
		return;
	for (size_t i = 0; i < p->devices.nr; i++) {
		struct traced *t = &p->devices.all[i];
		int64_t in_flight = p->config.read_in_flight(t->facts.device);

		t->tally.has_shed |= p->counting != NULL;
		if (p->config.read_completed(t->facts.device, &completed))
			continue;
		missing = shed_tally_look(&t->tally, now_ns, completed, t->seen.nr_countable,
					  in_flight, is_last);
		if (!missing)
			continue;
		t->seen.nr += missing;
		t->seen.nr_countable += missing;
		pipeline_lost(p, LOSS_SHED, missing, t->facts.device);
	}
}

/* Switches between requests and the kernel's counters; it takes effect with the next window. */
static void count_only(struct pipeline *p, bool on)
{
	struct err err = { 0 };

	if (on && source_diskstats.open(&p->counting, &p->config.source_config, &err)) {
		log_say(p->config.log, LEVEL_WARN, "overhead_not_shed", "why=\"%s\"", err.line);
		p->overhead.can[OVERHEAD_COUNTERS] = false;
		p->overhead.level = OVERHEAD_FULL;
		return;
	}
	p->config.source->shed(p->source, on);
	if (on)
		return;
	source_diskstats.close(p->counting, NULL);
	p->counting = NULL;
}

void pipeline_bound_overhead(struct pipeline *p, double elapsed_s)
{
	enum overhead_level before = p->overhead.level, level;
	double agent_s, kernel_s, cost;

	if (!p->source)
		return;
	cost = cost_s(p, &agent_s, &kernel_s);
	level = overhead_look(&p->overhead, cost - p->window.last_cost_s, elapsed_s,
			      p->window.nr_requests);
	p->window.last_cost_s = cost;
	p->window.nr_requests = 0;
	if (level == before)
		return;
	if ((level == OVERHEAD_COUNTERS) != (before == OVERHEAD_COUNTERS))
		count_only(p, level == OVERHEAD_COUNTERS);
	log_say(p->config.log, LEVEL_WARN, "overhead",
		"level=%s cpu_percent=%.2f bound_percent=%.2f",
		overhead_level_name(p->overhead.level), 100 * p->overhead.last_share,
		100 * p->overhead.bound);
}

void pipeline_set_totals(struct pipeline *p)
{
	struct board_totals totals = { .watched_s = (double)p->window.watched_ns / 1e9,
				       .source = p->config.source->name,
				       .layer = layer_name(p->config.source_config.layer),
				       .kernel_cpu_s = NAN };
	uint64_t later[NR_LOSS_CAUSES] = { 0 };

	totals.captured = p->nr_captured;
	if (p->stream)
		account_losses(sender_account(p->config.sender), later);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		totals.lost[i] = p->lost[i] + later[i];
	totals.shed_level = p->overhead.level;
	cost_s(p, &totals.agent_cpu_s, &totals.kernel_cpu_s);
	board_set_totals(p->config.board, &totals);
}
