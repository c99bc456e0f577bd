// SPDX-License-Identifier: Apache-2.0
#include "base/stop.h"

#include <stddef.h>

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
