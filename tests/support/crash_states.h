/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_states: makes the states that a power cut may leave of recorded calls (faulty_calls.h). It
 * is a small model of a file system that keeps no more than POSIX promises.
 *
 * Data written to a file before its last fsync are kept. Of each later write any set of its
 * 512-byte sectors may be kept, with zeros in the others, or the file may end where it ended
 * before. Each sector of a mapped file may have any content that it had since the last sync. Names
 * that were made, moved or removed since the last fsync of their folder may each be as before or as
 * after, in any combination, except that a rename is kept whole or not at all.
 */
#ifndef TESTS_CRASH_STATES_H
#define TESTS_CRASH_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/faulty_calls.h"

/*
 * Makes one state after the first nr calls in the empty folder dir. seed chooses the state: seed 0
 * keeps nothing that was not synced, seed 1 keeps everything. Aborts the test program where it
 * fails.
 */
void crash_state_make(const struct call *calls, size_t nr, uint64_t seed, const char *dir);

#endif
