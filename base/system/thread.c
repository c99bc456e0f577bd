/* SPDX-License-Identifier: Apache-2.0 */
#include <semaphore.h>

#include "base/system/thread.h"

struct start {
	void *(*run)(void *ctx);
	void *ctx;
	const char *name;
	sem_t runs;
};

static void *thread_begin(void *arg)
{
	struct start *start = arg;
	void *(*run)(void *ctx) = start->run;
	void *ctx = start->ctx;

	pthread_setname_np(pthread_self(), start->name);
	/* The starting function may return from here on, so start must not be used any more. */
	sem_post(&start->runs);
	return run(ctx);
}

int thread_start(pthread_t *out, const char *name, void *(*run)(void *ctx), void *ctx)
{
	struct start start = { .run = run, .ctx = ctx, .name = name };
	int ret;

	sem_init(&start.runs, 0, 0);
	ret = pthread_create(out, NULL, thread_begin, &start);
	if (!ret)
		while (sem_wait(&start.runs))
			;
	sem_destroy(&start.runs);
	return -ret;
}
