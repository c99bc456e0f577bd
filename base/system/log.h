/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: prints one line per event to standard error: time, level, event, key=value.
 *
 * When the same event occurs more than LOG_BURST times within LOG_PERIOD_S, further lines are held
 * back; the next line of the event that is printed says how many. Thread-safe. A NULL log prints
 * nothing.
 */
#ifndef BASE_SYSTEM_LOG_H
#define BASE_SYSTEM_LOG_H

#define LOG_BURST    5
#define LOG_PERIOD_S 10

enum log_level { LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };

struct log;

/* fd is borrowed. Lines above level are not printed. Returns 0 or -ENOMEM. */
int log_new(struct log **out, int fd, enum log_level level);
void log_free(struct log *log);

/*
 * event is a static word ("spool_full") that names the line and its rate limit. fmt gives the
 * key=value pairs, separated by blanks.
 */
void log_say(struct log *log, enum log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
