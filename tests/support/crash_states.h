/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash_states: what a power cut may leave of recorded calls (faulty_calls.h): a small model of a
 * file system that keeps no more than POSIX promises.
 *
 * What was written to a file before its last fsync is there; of each later write any set of its
 * 512-byte sectors may be, the others being zero, or the file may end where it did before. Of a
 * mapped file each sector may be as it was at any time since the last sync. Names made, moved and
 * removed since the last fsync of their folder may each be as before or as after, in any
 * combination, but for each rename being whole.
 */
#ifndef TESTS_CRASH_STATES_H
#define TESTS_CRASH_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/faulty_calls.h"

/* Makes one state after the first nr calls, chosen by seed, in the empty folder dir. Seed 0 keeps
 * nothing that was not synced, seed 1 all. Aborts the test program where it cannot. */
void crash_state_make(const struct call *calls, size_t nr, uint64_t seed, const char *dir);

#endif
