/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_life: the life of an agent as far as spool and account see it, and a check whether what is
 * left after its death adds up.
 *
 * A life is two runs one after the other. Requests are seen, become segments, and are spooled, sent
 * to a receiver, acknowledged, refused, or dropped by a full spool; then the agent starts again.
 * What was promised is noted in shared memory, which the parent can read after the child was
 * killed.
 */
#ifndef TESTS_SPOOL_LIFE_H
#define TESTS_SPOOL_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/segment/segment.h"

#define LIFE_MAX_SEGMENTS 256
#define LIFE_MAX_RUNS	  10

struct life_segment {
	uint64_t epoch, sequence;
	uint64_t nr; /* number of requests in it */
	struct segment_hash hash;
	uint64_t lost; /* losses in its ledger, as far as their number is known */
	bool has_gap;  /* one of its losses has an unknown number */
	/*
	 * These are the numbers of calls recorded (faulty_calls.h) at that event, plus 1. 0 means
	 * that the event did not happen.
	 */
	size_t appended, dropping, received;
};

struct life_seen {
	uint64_t nr;
	size_t at; /* number of calls recorded before the note, plus 1 */
};

struct life {
	char dir[64];
	struct life_segment segments[LIFE_MAX_SEGMENTS];
	size_t nr_segments;
	struct life_seen seen[LIFE_MAX_SEGMENTS]; /* each is valid after the one before it */
	size_t nr_seen;
	bool finished;
};

/* Allocates memory that a forked child shares. */
struct life *life_new(const char *dir);
void life_free(struct life *l);
/* Runs a life in this process. Where a call fails it goes on as an agent would. */
void life_run(struct life *l);
/* Does one run on what an earlier run left. A life has at most LIFE_MAX_RUNS. */
void life_run_once(struct life *l);

/* This struct holds what the next start finds after everything was sent to the receiver. */
struct life_end {
	bool started;
	uint64_t known;	     /* requests and losses of known number, each counted once */
	bool has_gap;	     /* a loss of unknown number is recorded */
	uint64_t nr_missing; /* promised segments, neither received nor dropped, that are missing */
	uint64_t nr_altered; /* promised segments whose content has changed */
	double start_s;
};

/*
 * Starts on dir (that of l, or a state made of it) under the boot id, and drains the spool. Only
 * what was promised up to `at` counts, in calls recorded plus 1 (SIZE_MAX: everything).
 */
void life_check(struct life *l, const char *dir, const char *boot_id, size_t at,
		struct life_end *out);
/* Return the smallest and the largest number of requests that may have been seen by then. */
uint64_t life_seen_least(const struct life *l, size_t at);
uint64_t life_seen_most(const struct life *l, size_t at);
/* Returns the number of requests in the segments promised by then. */
uint64_t life_promised(const struct life *l, size_t at);

#endif
