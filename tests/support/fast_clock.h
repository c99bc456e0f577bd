/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_clock: lets time pass as fast as the code under test can follow. Days of the agent's life
 * pass in minutes, and in the same way each time, however busy the machine is.
 *
 * It is made for one thread that sleeps in poll(2) and one that waits for work at a condition
 * variable. The first thread does not really sleep: time moves on by its timeout, as far as the
 * test permits. It works by the linker's --wrap (the Makefile names the calls and tests), so it
 * affects the project's own objects only. Clocks of CPU time are left alone. Before the start all
 * calls work as usual.
 */
#ifndef TESTS_FAST_CLOCK_H
#define TESTS_FAST_CLOCK_H

#include <stdint.h>

/* From here on the clocks stand still unless they are moved. */
void fast_clock_start(void);
/* Lets at least ns more pass. Returns once both threads have done all that there was to do. */
void fast_clock_run(uint64_t ns);
/* Imitates a machine that is stopped for ns: between two sleeps all clocks move on by it. */
void fast_clock_jump(uint64_t ns);
/* Lets time pass without end, for threads that are to be stopped. */
void fast_clock_release(void);

#endif
