/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread: starts a thread and returns once it really runs.
 *
 * After pthread_create(3) a new thread still makes system calls that the agent's last filter
 * forbids (rseq, set_robust_list). A thread started here has made them by the time thread_start()
 * returns.
 */
#ifndef BASE_SYSTEM_THREAD_H
#define BASE_SYSTEM_THREAD_H

#include <pthread.h>

/*
 * Starts run(ctx) in a new thread. name has at most 15 characters and is copied. Returns when run()
 * is about to be called: 0 or -errno, such as -EAGAIN.
 */
int thread_start(pthread_t *out, const char *name, void *(*run)(void *ctx), void *ctx);

#endif
