/* SPDX-License-Identifier: Apache-2.0 */
/* stop: the wish of the user that a command ends early and leaves nothing behind. */
#ifndef ANALYZER_STOP_H
#define ANALYZER_STOP_H

#include <signal.h>

/*
 * From here on SIGINT, SIGTERM and SIGHUP set the flag instead of ending the program, and SIGPIPE does
 * nothing. Returns the flag; whoever works for long looks at it, cleans up and returns -EINTR.
 */
const volatile sig_atomic_t *stop_catch(void);

#endif
