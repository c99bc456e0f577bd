/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/stop_wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NS_PER_MS 1000000u

int stop_wait_init(struct stop_wait *w)
{
	struct stop_wait made;
	sigset_t signals, asks;
	int ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	made.signals_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (made.signals_fd < 0)
		return -errno;
	sigemptyset(&asks);
	sigaddset(&asks, SIGUSR1);
	sigaddset(&signals, SIGUSR1);
	made.told_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	made.asks_fd = signalfd(-1, &asks, SFD_CLOEXEC | SFD_NONBLOCK);
	ret = made.told_fd < 0 || made.asks_fd < 0 ? -errno
						   : -pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (!ret)
		*w = made;
	else
		stop_wait_release(&made);
	return ret;
}

void stop_wait_release(struct stop_wait *w)
{
	close(w->signals_fd);
	if (w->told_fd >= 0)
		close(w->told_fd);
	if (w->asks_fd >= 0)
		close(w->asks_fd);
}

bool stop_wait_take_ask(const struct stop_wait *w)
{
	struct signalfd_siginfo one;
	bool is_asked = false;

	while (read(w->asks_fd, &one, sizeof(one)) == sizeof(one))
		is_asked = true;
	return is_asked;
}

bool stop_wait_is_asked(const struct stop_wait *w)
{
	struct pollfd fd = { .fd = w->signals_fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

void stop_wait_sleep(const struct stop_wait *w, uint64_t ns)
{
	struct pollfd fds[3] = { { .fd = w->signals_fd, .events = POLLIN },
				 { .fd = w->told_fd, .events = POLLIN },
				 { .fd = w->asks_fd, .events = POLLIN } };
	uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);

	poll(fds, 3, ms < INT_MAX ? (int)ms : INT_MAX);
}

void stop_wait_tell(const struct stop_wait *w)
{
	uint64_t one = 1;

	/*
	 * The write fails only where the counter is full, and a full counter wakes the thread as
	 * well.
	 */
	if (write(w->told_fd, &one, sizeof(one)) < 0)
		errno = 0;
}
