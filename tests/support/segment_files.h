/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_files: counts what all segments below a folder hold, and reads each segment from its
 * beginning.
 */
#ifndef TESTS_SEGMENT_FILES_H
#define TESTS_SEGMENT_FILES_H

#include <stdint.h>

#include "formats/ledger.h"

struct segment_files {
	uint64_t nr_segments, nr_bad, nr_requests, nr_captured, nr_profiles;
	uint64_t profile_requests; /* sum of the requests of all profiles */
	uint64_t profile_lost, profile_own;
	uint64_t own_flag, own_pid; /* requests with the flag; requests of this process */
	uint64_t lost[NR_LOSS_CAUSES];
	uint64_t nr_pauses[NR_LEDGER_CAUSES]; /* by cause */
	uint64_t longest_pause_ns;
	uint64_t nr_paused,
		profile_paused; /* requests under way during a pause, in segments and in profiles */
	uint64_t profile_pauses;
	double profile_max_s;	  /* longest response time in all profiles */
	uint64_t nr_unknown_gaps; /* losses of unknown count */
	uint64_t descents;	  /* arrivals earlier than the one before, within segments */
	uint64_t last_pid;
	char comm[16]; /* name of one process */
};

/* Reads every *.seg below dir. Returns 0 or -errno. */
int segment_files_read(const char *dir, struct segment_files *out);
/*
 * Reads as segment_files_read() does, and removes each segment once it is counted. Profiles are
 * counted but not read.
 */
int segment_files_take(const char *dir, struct segment_files *out);
/* Returns the sum of the requests and the known losses. */
uint64_t segment_files_sum(const struct segment_files *f);

#endif
