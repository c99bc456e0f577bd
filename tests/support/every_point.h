/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_point: what is under test, tried again and again in children of its own, with a death, an
 * error, or want of memory at each of its calls in turn (faulty_calls.h). BLKCAST_ENDURANCE=1 visits
 * every point, else one in a stride.
 */
#ifndef TESTS_EVERY_POINT_H
#define TESTS_EVERY_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/faulty_calls.h"

/* How a child ended. */
struct point_end {
	bool is_killed;	 /* by SIGKILL */
	bool is_crashed; /* by another signal, as after its time, or with an exit code */
	bool is_reached; /* the plan's point; else there are no more */
	uint64_t nr_wrong;
};

/* Runs in the child, between calls_begin(plan) and calls_end(), whose answer it returns; *nr_wrong: what it found
 * wrong itself. */
typedef uint64_t (*point_run)(void *ctx, const struct calls_plan *plan, uint64_t *nr_wrong);
/* One child, and what the parent makes of it: whether the plan's point was reached. */
typedef bool (*point_try)(void *ctx, const struct calls_plan *plan);

/* run() in a child that has that many seconds. */
struct point_end point_in_child(const struct calls_plan *plan, unsigned int seconds, point_run run,
				void *ctx);
/* 1 with BLKCAST_ENDURANCE. */
uint64_t point_stride(uint64_t when_short);

/* try() at each point, or one in that stride: killed before and after it; */
void points_of_death(uint64_t when_short, point_try try, void *ctx);
/* with each of thirteen errors, and short writes, at it, and from it on; */
void points_of_error(uint64_t when_short, point_try try, void *ctx);
/* without memory at it, and from it on. */
void points_without_memory(uint64_t when_short, point_try try, void *ctx);

#endif
