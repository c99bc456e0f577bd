/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: one line per event on standard error: time, level, event, key=value.
 *
 * The same event said more than LOG_BURST times within LOG_PERIOD_S is held back, and the next
 * line of it that passes says how many were. Thread-safe. A NULL log swallows everything.
 */
#ifndef AGENT_LOG_H
#define AGENT_LOG_H

#define LOG_BURST    5
#define LOG_PERIOD_S 10

enum log_level { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };

struct log;

/* fd is borrowed. Lines above level are swallowed. 0, -ENOMEM. */
int log_new(struct log **out, int fd, enum log_level level);
void log_free(struct log *log);

/*
 * event is a static word ("spool_full"): it names the line and its rate limit. fmt gives the
 * key=value pairs, separated by blanks.
 */
void log_say(struct log *log, enum log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
