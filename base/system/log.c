/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/log.h"

#define NR_EVENTS      64
#define LOG_LINE_BYTES 768

struct event_rate {
	const char *event; /* a static string; events are distinguished by its address */
	time_t since_s;
	unsigned int said, held_back;
};

struct log {
	pthread_mutex_t lock;
	int fd;
	enum log_level level;
	struct event_rate rates[NR_EVENTS];
};

int log_new(struct log **out, int fd, enum log_level level)
{
	struct log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	pthread_mutex_init(&log->lock, NULL);
	log->fd = fd;
	log->level = level;
	*out = log;
	return 0;
}

void log_free(struct log *log)
{
	if (!log)
		return;
	pthread_mutex_destroy(&log->lock);
	free(log);
}

/* Returns the entry of the event. Beyond NR_EVENTS distinct events the last entry is shared. */
static struct event_rate *rate_of(struct log *log, const char *event)
{
	struct event_rate *rate = log->rates;

	while (rate < log->rates + NR_EVENTS - 1 && rate->event && rate->event != event)
		rate++;
	rate->event = event;
	return rate;
}

/*
 * Returns whether the line may be printed; *held_back receives the number of lines of this event
 * that were held back before.
 */
static bool rate_allows(struct log *log, const char *event, unsigned int *held_back)
{
	struct event_rate *rate = rate_of(log, event);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - rate->since_s >= LOG_PERIOD_S) {
		rate->since_s = now.tv_sec;
		rate->said = 0;
	}
	if (rate->said >= LOG_BURST) {
		rate->held_back++;
		return false;
	}
	rate->said++;
	*held_back = rate->held_back;
	rate->held_back = 0;
	return true;
}

static size_t print_time(char *out, size_t size)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	return strftime(out, size, "%Y-%m-%dT%H:%M:%S%z", &tm);
}

void log_say(struct log *log, enum log_level level, const char *event, const char *fmt, ...)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	char line[LOG_LINE_BYTES];
	unsigned int held_back = 0;
	/* leaves room for the number of lines that were held back */
	size_t len, room = sizeof(line) - 40;
	va_list ap;
	int nr;

	if (!log || level > log->level)
		return;
	pthread_mutex_lock(&log->lock);
	if (rate_allows(log, event, &held_back)) {
		len = print_time(line, sizeof(line));
		len += (size_t)snprintf(line + len, room - len, " %s %s ", names[level], event);
		va_start(ap, fmt);
		nr = vsnprintf(line + len, room - len, fmt, ap);
		va_end(ap);
		len = nr < 0 ? len : len + (size_t)nr;
		if (len > room - 1)
			len = room - 1;
		if (held_back)
			len += (size_t)snprintf(line + len, 39, " held_back=%u", held_back);
		line[len++] = '\n';
		/* A failure of the log itself cannot be reported anywhere. */
		if (write(log->fd, line, len) < 0)
			errno = 0;
	}
	pthread_mutex_unlock(&log->lock);
}
