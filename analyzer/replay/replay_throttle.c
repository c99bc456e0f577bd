// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/replay_throttle.h"

#include "base/system/clock.h"

void replay_throttle_init(struct replay_throttle *t, const struct causal_throttle *law)
{
	t->on = law->on;
	t->next = t->first = t->woken = 1;
	pthread_mutex_init(&t->lock, NULL);
	wbt_init(&t->wbt, law->target_ns, law->cache, law->first_step);
}

void replay_throttle_destroy(struct replay_throttle *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* Tells the throttle the time. It may become weaker by that, which wakes all in line. */
static uint64_t replay_throttle_look(struct replay_throttle *t)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (wbt_look(&t->wbt, now_ns))
		t->woken = t->next;
	return now_ns;
}

bool replay_throttle_pass(struct replay_throttle *t, const struct causal_request *r,
			  uint64_t *number)
{
	uint64_t now_ns;
	bool turn, passes;

	if (!t->on || !r->throttled)
		return true;
	pthread_mutex_lock(&t->lock);
	now_ns = replay_throttle_look(t);
	turn = *number ? *number == t->first && *number < t->woken : t->first == t->next;
	passes = turn && wbt_admits(&t->wbt, now_ns, r->sync);
	if (passes && *number)
		t->first++;
	else if (!passes && !*number)
		*number = t->next++;
	else if (!passes && turn)
		t->woken = t->first; /* the next completions wake them again */
	if (passes) {
		*number = 0;
		wbt_sent(&t->wbt, now_ns);
	}
	pthread_mutex_unlock(&t->lock);
	return passes;
}

void replay_throttle_read(struct replay_throttle *t, uint64_t id)
{
	if (!t->on)
		return;
	pthread_mutex_lock(&t->lock);
	wbt_read_sent(&t->wbt, replay_throttle_look(t), id);
	pthread_mutex_unlock(&t->lock);
}

void replay_throttle_done(struct replay_throttle *t, const struct causal_request *r, uint64_t id,
			  uint64_t response_ns)
{
	bool write = r->operation == OPERATION_WRITE;
	uint64_t now_ns;

	if (!t->on)
		return;
	pthread_mutex_lock(&t->lock);
	now_ns = replay_throttle_look(t);
	if (r->operation == OPERATION_READ)
		wbt_read_done(&t->wbt, now_ns, id, response_ns);
	else if (!r->throttled && write)
		wbt_write_done(&t->wbt);
	else if (r->throttled && wbt_done(&t->wbt, write))
		t->woken = t->next;
	pthread_mutex_unlock(&t->lock);
}
