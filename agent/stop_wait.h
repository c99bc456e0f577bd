/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_wait: provides the main thread's sleep, which ends at once when a signal asks the process to
 * end (SIGINT, SIGTERM) or another thread wakes it. The signals are read from a descriptor instead
 * of being delivered, so that none is missed between the check and the sleep.
 */
#ifndef AGENT_STOP_WAIT_H
#define AGENT_STOP_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct stop_wait {
	int signals_fd, told_fd;
	int asks_fd; /* SIGUSR1 */
};

/*
 * Prepares w; call this before any other thread is started. The calling thread and those that it
 * starts no longer receive these signals. Returns 0 or -errno, with nothing changed.
 */
int stop_wait_init(struct stop_wait *w);
/* Releases w. Signals that arrived meanwhile stay unanswered. */
void stop_wait_release(struct stop_wait *w);

/* Returns whether a signal came. Once true it stays true. */
bool stop_wait_is_asked(const struct stop_wait *w);
/* Returns whether SIGUSR1 came since the last call. */
bool stop_wait_take_ask(const struct stop_wait *w);
/* Sleeps for at most ns, rounded up to milliseconds. */
void stop_wait_sleep(const struct stop_wait *w, uint64_t ns);
/* Ends the present sleep and all later ones. May be called by any thread. */
void stop_wait_tell(const struct stop_wait *w);

#endif
