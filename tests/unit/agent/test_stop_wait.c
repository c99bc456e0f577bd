/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "agent/stop_wait.h"
#include "tests/support/tap.h"

#define LONG_NS 3600000000000ull /* a sleep that does not end fails the test by its time limit */

static void *tell(void *ctx)
{
	stop_wait_tell(ctx);
	return NULL;
}

static void *end_process(void *ctx)
{
	(void)ctx;
	kill(getpid(), SIGTERM);
	return NULL;
}

static void run(void *(*what)(void *ctx), struct stop_wait *w)
{
	pthread_t thread;

	ok_int(pthread_create(&thread, NULL, what, w), 0);
	pthread_join(thread, NULL);
}

static void told_it_wakes_and_nobody_asked(void)
{
	struct stop_wait w;

	ok_int(stop_wait_init(&w), 0);
	stop_wait_sleep(&w, 0);
	stop_wait_sleep(&w, 1);
	ok(!stop_wait_is_asked(&w));
	run(tell, &w);
	stop_wait_sleep(&w, LONG_NS);
	stop_wait_sleep(&w, UINT64_MAX);
	ok(!stop_wait_is_asked(&w));
	stop_wait_release(&w);
}

/* A shell's job in the background ignores SIGINT. */
static void a_signal_before_the_sleep_is_not_missed(void)
{
	struct stop_wait w;

	signal(SIGINT, SIG_IGN);
	ok_int(stop_wait_init(&w), 0);
	ok(!stop_wait_is_asked(&w));
	kill(getpid(), SIGINT);
	stop_wait_sleep(&w, LONG_NS);
	ok(stop_wait_is_asked(&w));
	run(end_process, &w);
	stop_wait_sleep(&w, LONG_NS);
	ok(stop_wait_is_asked(&w));
	stop_wait_release(&w);
}

static const struct tap_test tests[] = {
	{ "told by another thread it wakes, and nobody asked for the end",
	  told_it_wakes_and_nobody_asked },
	{ "a signal before the sleep is not missed", a_signal_before_the_sleep_is_not_missed },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
