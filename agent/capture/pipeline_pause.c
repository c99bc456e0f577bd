/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_pause: keeps the time in which nothing ran out of rates and response times.
 *
 * After a suspension or a stall the running window ends where the pause began, and the next window
 * begins where the pause ended, so that rates and means cover only the time in which something
 * could happen. The response time of a request that was under way through a stall contains the
 * stall; the request is marked, and no response time is computed from it. Where only the agent
 * stood still the window is not cut.
 */
#include <stdlib.h>

#include "agent/capture/pipeline_state.h"

static struct stall stall_of(const struct pause *pause)
{
	return (struct stall){ pause->from.monotonic_ns, pause->to.monotonic_ns };
}

void pipeline_pause_look(struct pipeline *p, uint64_t wait_ns)
{
	struct pause_look look = { .at = stream_anchor(),
				   .cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID),
				   .wait_ns = wait_ns };

	p->pauses.has_found = pause_watch_look(&p->pauses.watch, &look, &p->pauses.found);
	p->pauses.is_stalled = p->pauses.has_found && p->pauses.found.cause == PAUSE_STALLED;
	p->pauses.is_guest_running = false;
}

bool pipeline_pause_ask(struct pipeline *p, const struct request *r)
{
	struct stall stall = stall_of(&p->pauses.found);

	p->pauses.is_guest_running |= stall_is_refuted(&stall, r);
	return stall_holds(&stall, r);
}

/*
 * Writes the pause into the log, and notes it for the profiles of the windows up to end_ns, or of
 * the next windows where those have no profile. Returns the pause as an entry for the trace's
 * ledger.
 */
static struct loss pipeline_pause_note(struct pipeline *p, enum pause_cause cause,
				       uint64_t begin_real_ns, uint64_t length_ns, uint64_t end_ns)
{
	struct loss loss = { .cause = (uint8_t)cause,
			     .count_known = true,
			     .begin_real_ns = begin_real_ns,
			     .end_real_ns = begin_real_ns + length_ns };

	if (p->pauses.nr_noted < PROFILE_MAX_PAUSES)
		p->pauses.noted[p->pauses.nr_noted++] =
			(struct profile_pause){ (uint8_t)cause, (double)begin_real_ns / 1e9,
						(double)length_ns / 1e9 };
	else
		p->pauses.noted[PROFILE_MAX_PAUSES - 1].length_s += (double)length_ns / 1e9;
	p->pauses.noted_end_ns = end_ns;
	log_say(p->config.log, LEVEL_INFO, "pause", "cause=%s length_s=%.3f",
		loss_cause_name(cause), (double)length_ns / 1e9);
	return loss;
}

/* Closes the windows at the begin of the pause and begins the next ones at its end. */
static void cut_windows(struct pipeline *p, const struct pause *pause)
{
	uint64_t begin_ns = pause->from.monotonic_ns, end_ns = pause->to.monotonic_ns;

	/*
	 * A counter is read now, because its counts from before the pause cannot be separated from
	 * later ones.
	 */
	if (p->config.source->profiles || p->counting)
		return;
	p->pauses.cut = &pause->from;
	while (p->window.begin_ns + p->config.window_ns < begin_ns)
		pipeline_close_windows(p, p->window.begin_ns + p->config.window_ns);
	if (p->window.begin_ns < begin_ns)
		pipeline_close_windows(p, begin_ns);
	p->pauses.cut = NULL;
	for (size_t i = 0; i < p->devices.nr; i++)
		window_resume(p->devices.all[i].window, end_ns);
	p->window.begin_ns = end_ns;
	reorder_set_period_end(p->reorder, end_ns + p->config.window_ns);
}

static void settle_found(struct pipeline *p)
{
	const struct pause *pause = &p->pauses.found;
	enum pause_cause cause = p->pauses.is_guest_running ? PAUSE_AGENT_STOPPED : pause->cause;
	struct stall stall = stall_of(pause);
	bool is_cut = cause != PAUSE_AGENT_STOPPED;
	struct loss loss =
		pipeline_pause_note(p, cause, pause->from.realtime_ns, pause->length_ns,
				    is_cut ? pause->from.monotonic_ns : pause->to.monotonic_ns);

	if (cause == PAUSE_STALLED)
		stalls_add(&p->pauses.stalls, &stall);
	p->pauses.is_stalled = false;
	pipeline_feed_held(p);
	if (!is_cut) {
		if (p->stream)
			stream_note_pause(p->stream, &loss);
		return;
	}
	cut_windows(p, pause);
	if (p->stream)
		stream_pause(p->stream, &loss, &pause->from, &pause->to);
}

/*
 * The guest stood still together with its clocks, or it was restored from a snapshot. In both cases
 * another copy of the guest may have used its epoch meanwhile, so the stream begins a new one.
 */
static void settle_machine(struct pipeline *p)
{
	uint64_t stopped_ns = atomic_exchange(&p->pauses.machine_stopped_ns, 0);
	bool is_restored = atomic_exchange(&p->pauses.is_machine_restored, false);
	uint64_t now_ns = clock_real_ns();
	struct loss loss;

	if (!stopped_ns && !is_restored)
		return;
	loss = pipeline_pause_note(p, is_restored ? PAUSE_RESTORED : PAUSE_GUEST_STOPPED, now_ns,
				   stopped_ns, clock_monotonic_ns());
	if (!p->stream)
		return;
	stream_note_pause(p->stream, &loss);
	if (!stream_begin_life(p->stream, now_ns))
		log_say(p->config.log, LEVEL_INFO, "epoch", "begin=%llu",
			(unsigned long long)now_ns);
}

void pipeline_pause_settle(struct pipeline *p)
{
	if (p->pauses.has_found)
		settle_found(p);
	p->pauses.has_found = false;
	settle_machine(p);
}

void pipeline_tell_machine(struct pipeline *p, const struct machine_news *news)
{
	if (news->is_restored)
		atomic_store(&p->pauses.is_machine_restored, true);
	atomic_fetch_add(&p->pauses.machine_stopped_ns, news->stopped_ns);
}
