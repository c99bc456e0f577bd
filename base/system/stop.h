/* SPDX-License-Identifier: Apache-2.0 */
/* stop: notices that the user wants a command to end early, so that the command can clean up. */
#ifndef BASE_SYSTEM_STOP_H
#define BASE_SYSTEM_STOP_H

#include <signal.h>

/*
 * From this call on, SIGINT, SIGTERM and SIGHUP set a flag instead of ending the program, and
 * SIGPIPE has no effect. Returns the flag. A function that works for long checks it, cleans up and
 * returns -EINTR.
 */
const volatile sig_atomic_t *stop_catch(void);

/*
 * Serves a program whose main thread waits for SIGINT, SIGTERM and SIGHUP with sigwait(). Blocks
 * the three in the calling thread, which has to be the main thread, and fills in *signals. Threads
 * that are created later inherit that. A library may have created threads before main() began
 * (OpenBLAS does), which do not block them: a signal that such a thread receives is passed on to
 * the main thread, where its default action would have killed the process in the midst of its work.
 * SIGPIPE does nothing from here on.
 */
void stop_to_main(sigset_t *signals);

#endif
