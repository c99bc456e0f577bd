/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pauses in the pipeline: found, told apart, and kept out of what is measured.
 *
 * After a suspension or a stall the running window ends where it began, and the next begins where it
 * ended: rates and means are of the time in which something could happen. A request that was under
 * way in a stall has that time in its own; it is marked, and no response time is made of it.
 */
#include <stdlib.h>

#include "agent/capture/pipeline_state.h"

static struct stall stall_of(const struct pause *pause)
{
	return (struct stall){ pause->from.monotonic_ns, pause->to.monotonic_ns };
}

void pipeline_look(struct pipeline *p, uint64_t wait_ns)
{
	struct pause_look look = { .at = stream_anchor(),
				   .cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
				   .wait_ns = wait_ns };

	p->has_pause = pause_watch_look(&p->pause_watch, &look, &p->pause);
	p->is_stalled = p->has_pause && p->pause.cause == PAUSE_STALLED;
	p->is_guest_running = false;
}

bool pipeline_ask(struct pipeline *p, const struct request *r)
{
	struct stall stall = stall_of(&p->pause);

	p->is_guest_running |= stall_is_refuted(&stall, r);
	return stall_holds(&stall, r);
}

/* Into the log, and into the profiles of the windows up to end_ns, the next ones where those have none;
 * returns it for the trace. */
static struct loss pipeline_pause_note(struct pipeline *p, enum pause_cause cause,
				       uint64_t begin_real_ns, uint64_t length_ns, uint64_t end_ns)
{
	struct loss loss = { .cause = (uint8_t)cause,
			     .count_known = true,
			     .begin_real_ns = begin_real_ns,
			     .end_real_ns = begin_real_ns + length_ns };

	if (p->nr_pauses < PROFILE_MAX_PAUSES)
		p->pauses[p->nr_pauses++] =
			(struct profile_pause){ (uint8_t)cause, (double)begin_real_ns / 1e9,
						(double)length_ns / 1e9 };
	else
		p->pauses[PROFILE_MAX_PAUSES - 1].length_s += (double)length_ns / 1e9;
	p->pauses_end_ns = end_ns;
	log_say(p->config.log, LEVEL_INFO, "pause", "cause=%s length_s=%.3f",
		loss_cause_name(cause), (double)length_ns / 1e9);
	return loss;
}

/* Windows end where nothing ran any more, and begin where it did again. */
static void cut_windows(struct pipeline *p, const struct pause *pause)
{
	uint64_t begin_ns = pause->from.monotonic_ns, end_ns = pause->to.monotonic_ns;

	/* Counters are those of an instant: what they counted before cannot be told from after. */
	if (p->config.source->profiles || p->counting)
		return;
	p->cut = &pause->from;
	while (p->window_begin_ns + p->config.window_ns < begin_ns)
		pipeline_close_windows(p, p->window_begin_ns + p->config.window_ns);
	if (p->window_begin_ns < begin_ns)
		pipeline_close_windows(p, begin_ns);
	p->cut = NULL;
	for (size_t i = 0; i < p->nr_devices; i++)
		window_resume(p->devices[i].window, end_ns);
	p->window_begin_ns = end_ns;
	reorder_set_period_end(p->reorder, end_ns + p->config.window_ns);
}

static void feed_held(struct pipeline *p)
{
	for (size_t i = 0; i < p->early.nr; i++)
		pipeline_feed(p, &p->early.r[i]);
	free(p->early.r);
	p->early = (struct early){ 0 };
}

static void tell_pause(struct pipeline *p)
{
	const struct pause *pause = &p->pause;
	enum pause_cause cause = p->is_guest_running ? PAUSE_AGENT_STOPPED : pause->cause;
	struct stall stall = stall_of(pause);
	bool is_cut = cause != PAUSE_AGENT_STOPPED;
	struct loss loss =
		pipeline_pause_note(p, cause, pause->from.realtime_ns, pause->length_ns,
				    is_cut ? pause->from.monotonic_ns : pause->to.monotonic_ns);

	if (cause == PAUSE_STALLED)
		stalls_add(&p->stalls, &stall);
	p->is_stalled = false;
	feed_held(p);
	if (!is_cut) {
		if (p->stream)
			stream_note_pause(p->stream, &loss);
		return;
	}
	cut_windows(p, pause);
	if (p->stream)
		stream_pause(p->stream, &loss, &pause->from, &pause->to);
}

/* The guest stood still, clocks and all, or is another life: nobody else must have used its names. */
static void tell_machine(struct pipeline *p)
{
	uint64_t stopped_ns = atomic_exchange(&p->told_stopped_ns, 0);
	bool is_restored = atomic_exchange(&p->told_restored, false);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct loss loss;

	if (!stopped_ns && !is_restored)
		return;
	loss = pipeline_pause_note(p, is_restored ? PAUSE_RESTORED : PAUSE_GUEST_STOPPED, now_ns,
				   stopped_ns, clock_ns(CLOCK_MONOTONIC));
	if (!p->stream)
		return;
	stream_note_pause(p->stream, &loss);
	if (!stream_begin_life(p->stream, now_ns))
		log_say(p->config.log, LEVEL_INFO, "epoch", "begin=%llu",
			(unsigned long long)now_ns);
}

void pipeline_tell_pauses(struct pipeline *p)
{
	if (p->has_pause)
		tell_pause(p);
	p->has_pause = false;
	tell_machine(p);
}

void pipeline_tell_machine(struct pipeline *p, const struct machine_news *news)
{
	if (news->is_restored)
		atomic_store(&p->told_restored, true);
	atomic_fetch_add(&p->told_stopped_ns, news->stopped_ns);
}
