// SPDX-License-Identifier: Apache-2.0
#include "base/system/stop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void stop_on_signal(int number)
{
	(void)number;
	stop = 1;
}

const volatile sig_atomic_t *stop_catch(void)
{
	struct sigaction action = { .sa_handler = stop_on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return &stop;
}

/*
 * The main thread has the number of its process. The main thread never runs this handler, because
 * it blocks the signals.
 */
static void stop_pass_on(int number)
{
	int saved_errno = errno;

	syscall(SYS_tgkill, getpid(), getpid(), number);
	errno = saved_errno;
}

void stop_to_main(sigset_t *signals)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = stop_pass_on, .sa_flags = SA_RESTART };

	sigemptyset(signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(signals, numbers[i]);
	sigprocmask(SIG_BLOCK, signals, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}
