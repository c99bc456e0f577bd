/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop_wait: the main thread's sleep, which ends at once where a signal asks the process to end
 * (SIGINT, SIGTERM) or another thread has something to tell. The signals are not delivered but
 * read, so that none falls between a look and the sleep.
 */
#ifndef AGENT_STOP_WAIT_H
#define AGENT_STOP_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct stop_wait {
	int signals_fd, told_fd;
};

/*
 * Before any other thread is started: the calling one and those that it starts get these signals no
 * more. 0 or -errno, with nothing changed.
 */
int stop_wait_init(struct stop_wait *w);
/* Signals that came meanwhile stay unanswered. */
void stop_wait_release(struct stop_wait *w);

/* Whether a signal came. It stays so. */
bool stop_wait_is_asked(const struct stop_wait *w);
/* Sleeps for ns at most, rounded up to milliseconds. */
void stop_wait_sleep(const struct stop_wait *w, uint64_t ns);
/* Ends this sleep, or the next; any thread, for good. */
void stop_wait_tell(const struct stop_wait *w);

#endif
