/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_files: counts what all segments below a folder hold, by reading each from its beginning.
 */
#ifndef TESTS_SEGMENT_FILES_H
#define TESTS_SEGMENT_FILES_H

#include <stdint.h>

#include "formats/ledger.h"

struct segment_files {
	uint64_t nr_segments, nr_bad, nr_requests, nr_captured, nr_profiles;
	uint64_t profile_requests; /* sum of the requests of all profiles */
	uint64_t profile_lost, profile_own;
	uint64_t own_flag, own_pid; /* requests that bear the flag; that this process submitted */
	uint64_t lost[NR_LOSS_CAUSES];
	uint64_t nr_pauses[NR_LEDGER_CAUSES]; /* by cause */
	uint64_t longest_pause_ns;
	uint64_t nr_paused,
		profile_paused; /* requests under way in one, in segments and profiles */
	uint64_t profile_pauses;
	double profile_max_s;	  /* the longest response time of all profiles */
	uint64_t nr_unknown_gaps; /* losses of unknown count */
	uint64_t descents;	  /* arrivals before the one before them, within segments */
	uint64_t last_pid;
	char comm[16]; /* of some process named */
};

/* Every *.seg below dir. 0 or -errno. */
int segment_files_read(const char *dir, struct segment_files *out);
/* The same, and each is removed once it is counted; profiles are counted and not looked into. */
int segment_files_take(const char *dir, struct segment_files *out);
/* Requests and known losses. */
uint64_t segment_files_sum(const struct segment_files *f);

#endif
