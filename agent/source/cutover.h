/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cutover: the instant from which requests count, told apart from those before it exactly.
 *
 * The kernel's own count of completed requests, read at an instant, splits a device's requests in
 * two: those in it belong to whoever watched before, the others to this run. The count is read
 * several times while the source already delivers; of these the reading with the fewest
 * completions around it is taken. With none around it the split is exact, else it can be off by at
 * most that many, and the number is reported.
 */
#ifndef AGENT_CUTOVER_H
#define AGENT_CUTOVER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/spool/account.h"
#include "formats/request.h"

#define CUTOVER_READINGS 24
/* Between the trace point of a completion and its counting lie some hundred ns; with room. */
#define CUTOVER_GUARD_NS 10000u

struct cutover_reading {
	uint64_t before_ns, after_ns; /* CLOCK_MONOTONIC around the reading */
	uint64_t completed;
	uint64_t near; /* completions that could be on either side */
};

struct cutover_device {
	uint32_t device;
	size_t nr;
	struct cutover_reading readings[CUTOVER_READINGS];
	size_t best; /* index of the reading taken */
};

struct cutover {
	struct cutover_device *devices; /* owned */
	size_t nr;
};

/* How a device's completed requests are read: 0 or -errno. */
typedef int (*cutover_read)(uint32_t device, uint64_t *completed);

/* Readings of all these devices, 1 ms apart; a device that cannot be read is left out. -ENOMEM. */
int cutover_take(struct cutover *c, const uint32_t *devices, size_t nr, cutover_read read);
void cutover_release(struct cutover *c);

/* Chooses, by all requests delivered since before cutover_take() began. */
void cutover_choose(struct cutover *c, const struct request *r, size_t nr);
/* Whether the request counts. True for devices without a reading. */
bool cutover_counts(const struct cutover *c, const struct request *r);
/* The counts chosen, into bases (room for c->nr), and the sum of their uncertainties. */
uint64_t cutover_bases(const struct cutover *c, struct account_base *bases);

#endif
