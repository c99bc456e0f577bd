// SPDX-License-Identifier: Apache-2.0
/* The throttle of a replay: how many threads it lets in at once, and in which order. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "analyzer/replay/replay_throttle.h"
#include "tests/support/tap.h"

#define NR_THREADS 24
#define NR_EACH	   40

static const struct causal_throttle law = { .on = true, .cache = true, .target_ns = WBT_TARGET_NS };
static const struct causal_request write_back = { .operation = OPERATION_WRITE, .throttled = true };
static const struct causal_request direct = { .operation = OPERATION_WRITE };

static void those_in_line_come_in_order(void)
{
	struct replay_throttle t;
	uint64_t number[12] = { 0 };
	uint64_t other = 0;

	replay_throttle_init(&t, &law);
	for (int i = 0; i < 8; i++)
		ok(replay_throttle_pass(&t, &write_back, &number[0]));
	for (int i = 0; i < 12; i++)
		ok(!replay_throttle_pass(&t, &write_back, &number[i]));
	/* What is not throttled passes all. */
	ok(replay_throttle_pass(&t, &direct, &other));
	for (int i = 0; i < 8; i++) {
		ok(!replay_throttle_pass(&t, &write_back, &number[0]));
		replay_throttle_done(&t, &write_back, 0, 1);
	}
	/* All have completed. Nobody overtakes the first one in line. */
	ok(!replay_throttle_pass(&t, &write_back, &number[1]));
	ok(!replay_throttle_pass(&t, &write_back, &other));
	for (int i = 0; i < 8; i++)
		ok(replay_throttle_pass(&t, &write_back, &number[i]));
	ok(!replay_throttle_pass(&t, &write_back, &number[8]));
	/* Those who came later wait for the next time, although there is room again. */
	replay_throttle_done(&t, &write_back, 0, 1);
	ok(!replay_throttle_pass(&t, &write_back, &number[8]));
	replay_throttle_destroy(&t);
}

static void without_a_throttle_all_pass(void)
{
	struct replay_throttle t;
	uint64_t number = 0;

	replay_throttle_init(&t, &(struct causal_throttle){ .on = false });
	for (int i = 0; i < 1000; i++)
		ok(replay_throttle_pass(&t, &write_back, &number));
	replay_throttle_done(&t, &write_back, 0, 1);
	replay_throttle_destroy(&t);
}

struct crowd {
	struct replay_throttle t;
	_Atomic uint32_t under_way, most;
	_Atomic uint64_t nr;
};

static void *crowd_main(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < NR_EACH; i++) {
		uint64_t number = 0;
		uint32_t now, most = c->most;

		while (!replay_throttle_pass(&c->t, &write_back, &number))
			nanosleep(&(struct timespec){ .tv_nsec = 10000 }, NULL);
		now = ++c->under_way;
		while (now > most && !atomic_compare_exchange_weak(&c->most, &most, now))
			;
		c->nr++;
		c->under_way--;
		replay_throttle_done(&c->t, &write_back, 0, 1000);
	}
	return NULL;
}

/* 48 is what the largest step admits of write-back. */
static void threads_get_all_their_requests_through(void)
{
	static struct crowd c;
	pthread_t threads[NR_THREADS];

	replay_throttle_init(&c.t, &law);
	for (int i = 0; i < NR_THREADS; i++)
		ok_int(pthread_create(&threads[i], NULL, crowd_main, &c), 0);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ok_eq(c.nr, NR_THREADS * NR_EACH);
	ok(c.most >= 1 && c.most <= 48);
	ok_int(c.t.wbt.nr, 0);
	replay_throttle_destroy(&c.t);
}

static const struct tap_test tests[] = {
	{ "those in line are let in by their order, as many as the throttle admits",
	  those_in_line_come_in_order },
	{ "without a throttle all pass", without_a_throttle_all_pass },
	{ "many threads get all their requests through", threads_get_all_their_requests_through },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
