/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_clock: time that passes as fast as the code under test can follow. Days of the agent's life go by in
 * minutes, the same ones each time, however busy the machine is.
 *
 * For one thread that sleeps in poll(2) and one that waits for work at a condition variable. The first
 * does not sleep: time moves on by its timeout, as far as the test lets it. Works by the linker's --wrap
 * (the Makefile names calls and tests), so on our own objects only. Clocks of CPU time are left alone, and
 * all is as ever before the start.
 */
#ifndef TESTS_FAST_CLOCK_H
#define TESTS_FAST_CLOCK_H

#include <stdint.h>

/* From here on the clocks stand still unless they are moved. */
void fast_clock_start(void);
/* Lets at least ns more pass, and returns once both threads have done all that there was to do. */
void fast_clock_run(uint64_t ns);
/* As a machine that is stopped for so long: between two sleeps all clocks are further on. */
void fast_clock_jump(uint64_t ns);
/* Time passes without end: for threads that are to be stopped. */
void fast_clock_release(void);

#endif
