/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread: a thread that is known to run.
 *
 * After pthread_create(3) a thread still makes calls of its own that the last filter of system calls
 * does not let through (rseq, set_robust_list): what starts here has made them.
 */
#ifndef AGENT_THREAD_H
#define AGENT_THREAD_H

#include <pthread.h>

/* name: at most 15 characters, copied. Returns once run() is about to be called. -EAGAIN, ... */
int thread_start(pthread_t *out, const char *name, void *(*run)(void *ctx), void *ctx);

#endif
