/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/stop.h"
#include "tests/support/tap.h"

#define MANY 50

/* A thread that exists before the program has decided about signals, as those of a library do. */
struct early {
	pthread_t thread;
	pthread_mutex_t held; /* the thread ends when it is released */
	int tid;
};

static void *early_run(void *ctx)
{
	struct early *e = ctx;

	__atomic_store_n(&e->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&e->held);
	pthread_mutex_unlock(&e->held);
	return NULL;
}

/*
 * Sends the signal to the early thread itself, as the kernel does where the main thread blocks it.
 * Returns the number of signals that the main thread has waited for, or another number where one
 * was not the right one.
 */
static int stop_take_many(void)
{
	static const int numbers[] = { SIGTERM, SIGHUP, SIGINT };
	struct early e = { .held = PTHREAD_MUTEX_INITIALIZER };
	sigset_t signals;
	int nr = 0, number;

	pthread_mutex_lock(&e.held);
	if (pthread_create(&e.thread, NULL, early_run, &e) != 0)
		return -1;
	while (!__atomic_load_n(&e.tid, __ATOMIC_ACQUIRE))
		usleep(100);
	stop_to_main(&signals);
	for (int i = 0; i < MANY; i++) {
		number = 0;
		syscall(SYS_tgkill, getpid(), e.tid, numbers[i % 3]);
		nr += sigwait(&signals, &number) == 0 && number == numbers[i % 3];
	}
	pthread_mutex_unlock(&e.held);
	pthread_join(e.thread, NULL);
	return nr;
}

static void a_signal_to_a_thread_of_a_library_reaches_the_main_thread(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		alarm(60);
		_exit(stop_take_many());
	}
	ok(child > 0 && waitpid(child, &status, 0) == child);
	ok(WIFEXITED(status));
	ok_int(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), MANY);
}

static const struct tap_test tests[] = {
	{ "a signal to a thread of a library reaches the main thread, and ends nobody",
	  a_signal_to_a_thread_of_a_library_reaches_the_main_thread },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
