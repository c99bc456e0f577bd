/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_life: an agent's whole life as far as spool and account see it, and whether what is left
 * after its death adds up.
 *
 * A life is two runs one after the other: requests are seen, become segments, are spooled, sent to a
 * receiver, acknowledged, refused, dropped by a full spool; then the agent starts again. What was
 * promised is written down in memory that a killed child leaves to its parent.
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
	uint64_t nr; /* requests in it */
	struct segment_hash hash;
	uint64_t lost; /* in the ledger it carries, as far as known */
	bool has_gap;  /* whether one of them is of unknown count */
	/* Calls recorded (see faulty_calls.h) when that was so, plus 1; 0: it never was. */
	size_t appended, dropping, received;
};

struct life_seen {
	uint64_t nr;
	size_t at; /* calls recorded before it was noted, plus 1 */
};

struct life {
	char dir[64];
	struct life_segment segments[LIFE_MAX_SEGMENTS];
	size_t nr_segments;
	struct life_seen seen[LIFE_MAX_SEGMENTS]; /* each holds from the one before to its own */
	size_t nr_seen;
	bool finished;
};

/* Memory that a forked child shares. */
struct life *life_new(const char *dir);
void life_free(struct life *l);
/* Runs it in this process; where a call fails it goes on as an agent would. */
void life_run(struct life *l);
/* One of its runs, on what an earlier one left; at most LIFE_MAX_RUNS in a life. */
void life_run_once(struct life *l);

/* What the next start finds, with everything of it sent to the receiver. */
struct life_end {
	bool started;
	uint64_t known;	     /* requests and losses of known count, each once */
	bool has_gap;	     /* some loss of unknown count is declared */
	uint64_t nr_missing; /* promised, neither received nor dropping, and not there */
	uint64_t nr_altered; /* there with another content */
	double start_s;
};

/*
 * Starts on dir (of l, or a state made of it) under the boot id and drains it. at: what was promised
 * by then counts, in calls recorded plus 1 (SIZE_MAX: all).
 */
void life_check(struct life *l, const char *dir, const char *boot_id, size_t at,
		struct life_end *out);
/* The least and the most that may have been seen by then. */
uint64_t life_seen_least(const struct life *l, size_t at);
uint64_t life_seen_most(const struct life *l, size_t at);
/* Requests of the segments promised by then. */
uint64_t life_promised(const struct life *l, size_t at);

#endif
