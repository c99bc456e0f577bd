/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cutover: finds the instant at which a run takes over from the run before, so that no request
 * counts twice and none is left out.
 *
 * The kernel's own count of completed requests splits a device's requests in two: those that are in
 * the count belong to the run before, the others to this run. The count is read several times while
 * the source already delivers requests, and the reading with the fewest completions near it is
 * chosen. Where no completion is near, the split is exact; otherwise it can be wrong by at most
 * that many requests, and the number is reported. Order of calls: cutover_take(), poll the source,
 * cutover_choose(), then cutover_bases() and cutover_counts(), cutover_release().
 */
#ifndef AGENT_CUTOVER_H
#define AGENT_CUTOVER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/spool/account.h"
#include "formats/request.h"

#define CUTOVER_READINGS 24
/*
 * Where the machine rarely runs the agent, the readings stop after this time, but never before a
 * few were made.
 */
#define CUTOVER_MAX_NS	     250000000u
#define CUTOVER_READINGS_MIN 4
/*
 * The kernel counts a completion some hundred nanoseconds after its tracepoint. This guard interval
 * is long enough to cover that delay.
 */
#define CUTOVER_GUARD_NS 10000u

struct cutover_reading {
	uint64_t before_ns, after_ns; /* CLOCK_MONOTONIC before and after the reading */
	uint64_t completed;
	uint64_t near; /* completions that could belong to either side of the reading */
};

struct cutover_device {
	uint32_t device;
	size_t nr;
	struct cutover_reading readings[CUTOVER_READINGS];
	size_t best; /* index of the reading that was chosen */
};

struct cutover {
	struct cutover_device *devices; /* owned */
	size_t nr;
};

/* Reads the number of completed requests of a device. Returns 0 or -errno. */
typedef int (*cutover_read)(uint32_t device, uint64_t *completed);

/*
 * Reads the counts of all these devices several times, 1 ms apart. A device that cannot be read is
 * left out. Returns 0 or -ENOMEM.
 */
int cutover_take(struct cutover *c, const uint32_t *devices, size_t nr, cutover_read read);
void cutover_release(struct cutover *c);

/*
 * Chooses one reading per device. r holds all requests that were delivered since before
 * cutover_take() began.
 */
void cutover_choose(struct cutover *c, const struct request *r, size_t nr);
/*
 * Returns whether the request belongs to this run. It returns true for devices without a reading.
 */
bool cutover_counts(const struct cutover *c, const struct request *r);
/*
 * Writes the chosen counts into bases, which has room for c->nr entries, and returns the sum of
 * their uncertainties in requests.
 */
uint64_t cutover_bases(const struct cutover *c, struct account_base *bases);

#endif
