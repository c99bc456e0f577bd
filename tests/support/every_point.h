/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_point: runs the code under test again and again, each time in a child of its own. In each
 * run a death, an error or a lack of memory hits another one of its calls (faulty_calls.h). With
 * BLKCAST_ENDURANCE=1 every call is hit in turn; otherwise one call in a stride.
 */
#ifndef TESTS_EVERY_POINT_H
#define TESTS_EVERY_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/faulty_calls.h"

/* This struct says how a child ended. */
struct point_end {
	bool is_killed;	 /* by SIGKILL */
	bool is_crashed; /* killed by another signal, such as the alarm, or a nonzero exit code */
	bool is_reached; /* the run met the plan's point; otherwise there are no more points */
	uint64_t nr_wrong;
};

/*
 * Runs in the child, between calls_begin(plan) and calls_end(). Returns what calls_end() returned.
 * *nr_wrong receives the number of errors that it found itself.
 */
typedef uint64_t (*point_run)(void *ctx, const struct calls_plan *plan, uint64_t *nr_wrong);
/*
 * Runs one child and checks the result in the parent. Returns whether the plan's point was reached.
 */
typedef bool (*point_try)(void *ctx, const struct calls_plan *plan);

/* Runs run() in a child, which is killed after that many seconds. */
struct point_end point_in_child(const struct calls_plan *plan, unsigned int seconds, point_run run,
				void *ctx);
/* Returns when_short, or 1 with BLKCAST_ENDURANCE. */
uint64_t point_stride(uint64_t when_short);

/*
 * Calls try() for each point, or for one point in the stride: the child is killed before and after
 * it.
 */
void points_of_death(uint64_t when_short, point_try try, void *ctx);
/*
 * Tries what points_of_death() tries, with each of thirteen errors and with short writes instead of
 * a death, at the point and from the point on.
 */
void points_of_error(uint64_t when_short, point_try try, void *ctx);
/* Tries what points_of_death() tries, with a lack of memory, at the point and from the point on. */
void points_without_memory(uint64_t when_short, point_try try, void *ctx);

#endif
