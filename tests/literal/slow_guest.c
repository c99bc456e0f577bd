// SPDX-License-Identifier: Apache-2.0
#include "tests/literal/slow_guest.h"

#include <string.h>

#define US 1000ull

enum who { KERNEL, PROGRAM };

/* The variables of struct rq_wb and struct rq_depth. */
struct slow_wbt {
	int scale_step, unknown_cnt, max_depth, wb_normal, wb_background, inflight;
	bool scaled_max;
	uint64_t timer_us; /* 0: not armed */
	int write_samples;
	int waiters[2], nr_waiters; /* who waits, in order */
};

struct slow_request {
	enum who who;
	uint64_t left_us; /* until it completes */
	size_t index;	  /* in requests[] */
};

struct slow_machine {
	struct slow_guest *g;
	struct slow_wbt wb;
	struct request *requests;
	size_t nr;
	struct slow_request queue[4096]; /* the device's, in order */
	size_t nr_queue;
	uint64_t now_us, kernel_us, program_us; /* when they go on; 0: they wait */
	uint32_t dirty, round;
	bool flushes, flush_under_way;
	size_t flush;
};

static void slow_calc(struct slow_wbt *wb)
{
	int depth = 16;

	wb->scaled_max = false;
	if (wb->scale_step > 0) {
		depth = 1 + ((depth - 1) >> wb->scale_step);
	} else if (wb->scale_step < 0) {
		depth = 1 + ((depth - 1) << -wb->scale_step);
		if (depth > 96) {
			depth = 96;
			wb->scaled_max = true;
		}
	}
	wb->max_depth = depth;
	wb->wb_normal = depth <= 2 ? depth : (depth + 1) / 2;
	wb->wb_background = depth <= 2 ? 1 : (depth + 3) / 4;
}

static int slow_limit(const struct slow_machine *m, enum who who)
{
	if (!m->g->throttles)
		return 1 << 20;
	return who == PROGRAM ? m->wb.max_depth : m->wb.wb_normal; /* nobody reads */
}

static size_t slow_send(struct slow_machine *m, enum who who)
{
	bool flush = who == PROGRAM && m->flushes;
	struct request *r = &m->requests[m->nr];

	*r = (struct request){ .arrival_ns = m->now_us * US,
			       .dispatch_ns = m->now_us * US,
			       .operation = flush ? OPERATION_FLUSH : OPERATION_WRITE,
			       .bytes = flush ? 0 : 4096,
			       .sector = 8 * m->nr,
			       .tid = who == PROGRAM ? SLOW_GUEST_PROGRAM : 7,
			       .flags = who == PROGRAM ? REQUEST_SYNC : REQUEST_KERNEL_THREAD };
	m->wb.inflight++;
	if (m->g->most_under_way < (uint32_t)m->wb.inflight)
		m->g->most_under_way = (uint32_t)m->wb.inflight;
	if (!m->wb.timer_us) {
		m->wb.timer_us = m->now_us + 100000;
		m->wb.write_samples = 0;
	}
	if (flush) {
		m->flush_under_way = true;
		m->flush = m->nr;
	} else {
		m->queue[m->nr_queue++] = (struct slow_request){ who, m->g->service_us, m->nr };
	}
	return m->nr++;
}

/* What each does when its request has been sent. */
static void slow_sent(struct slow_machine *m, enum who who)
{
	slow_send(m, who);
	if (who == PROGRAM) {
		m->program_us = 0;
		return;
	}
	m->dirty--;
	m->kernel_us = m->dirty ? m->now_us + 5 : 0;
}

/* rq_qos_wait() */
static void slow_try(struct slow_machine *m, enum who who)
{
	if (!m->wb.nr_waiters && m->wb.inflight < slow_limit(m, who)) {
		slow_sent(m, who);
		return;
	}
	m->wb.waiters[m->wb.nr_waiters++] = who;
	*(who == PROGRAM ? &m->program_us : &m->kernel_us) = 0;
	m->g->waits++;
}

/* wake_up_all(): each in order, until one may not go. */
static void slow_wake(struct slow_machine *m)
{
	while (m->wb.nr_waiters && m->wb.inflight < slow_limit(m, (enum who)m->wb.waiters[0])) {
		enum who who = (enum who)m->wb.waiters[0];

		m->wb.waiters[0] = m->wb.waiters[1];
		m->wb.nr_waiters--;
		slow_sent(m, who);
	}
}

/* wb_timer_fn() */
static void slow_timer(struct slow_machine *m)
{
	struct slow_wbt *wb = &m->wb;

	if (wb->write_samples || wb->inflight) {
		if (!wb->scaled_max) {
			wb->scale_step--;
			slow_calc(wb);
			wb->unknown_cnt = 0;
			slow_wake(m);
		}
	} else if (++wb->unknown_cnt >= 5 && wb->scale_step < 0) {
		wb->scale_step++;
		slow_calc(wb);
		wb->unknown_cnt = 0;
	}
	wb->write_samples = 0;
	wb->timer_us = wb->scale_step || wb->inflight ? m->now_us + 100000 : 0;
}

static void slow_completed(struct slow_machine *m, enum who who, size_t index)
{
	struct slow_wbt *wb = &m->wb;
	int limit = m->g->cache ? 0 : wb->wb_normal;

	m->requests[index].completion_ns = m->now_us * US;
	wb->inflight--;
	wb->write_samples += m->requests[index].operation == OPERATION_WRITE;
	if (!wb->inflight ||
	    (wb->inflight < limit && limit - wb->inflight >= wb->wb_background / 2))
		slow_wake(m);
	if (who == KERNEL)
		return;
	if (!m->flushes && m->g->cache) {
		m->flushes = true;
		m->program_us = m->now_us + 20;
		return;
	}
	m->flushes = false;
	if (++m->round < m->g->nr_rounds)
		m->program_us = m->now_us + m->g->think_us;
}

static void slow_tick(struct slow_machine *m)
{
	if (m->nr_queue && !--m->queue[0].left_us) {
		struct slow_request done = m->queue[0];

		memmove(m->queue, m->queue + 1, --m->nr_queue * sizeof(*m->queue));
		slow_completed(m, done.who, done.index);
	}
	if (m->flush_under_way && m->requests[m->flush].arrival_ns < m->now_us * US) {
		m->flush_under_way = false;
		slow_completed(m, PROGRAM, m->flush);
	}
	if (m->wb.timer_us == m->now_us)
		slow_timer(m);
	if (m->kernel_us == m->now_us)
		slow_try(m, KERNEL);
	if (m->program_us != m->now_us)
		return;
	if (!m->flushes) {
		m->kernel_us = m->dirty ? m->kernel_us : m->now_us + 200;
		m->dirty += m->g->nr_dirty;
	}
	slow_try(m, PROGRAM);
}

size_t slow_guest_run(struct slow_guest *g, struct request *requests)
{
	static struct slow_machine m;

	m = (struct slow_machine){ .g = g, .requests = requests, .program_us = 1 };
	g->most_under_way = 0;
	g->waits = 0;
	slow_calc(&m.wb);
	for (m.now_us = 1; m.round < g->nr_rounds || m.dirty || m.nr_queue; m.now_us++)
		slow_tick(&m);
	return m.nr;
}
