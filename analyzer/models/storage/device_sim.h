/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_sim: a device (device_model.h) that is asked requests, one after the other.
 *
 * Requests are submitted in order of arrival. Every station serves in that order, so that the time at
 * which a request completes is known when it is submitted: there are no events inside of the device. A
 * request costs O(log servers).
 *
 *	struct device_sim d;
 *	int ret = device_sim_init(&d, &model, seed);
 *
 *	done_s = device_sim_submit(&d, &(struct device_request){ .at_s = 0.5, .type = DEVICE_READ, .bytes = 4096 });
 *	...
 *	device_sim_release(&d);
 *
 * A request follows an earlier one (is sequential) if it begins where one of the last ones ended.
 * Flushes that arrive while one is under way are joined into the next one, as the block layer of Linux
 * does (block/blk-flush.c).
 *
 * Each source of randomness has a stream of its own. Two models of one law that differ in their times
 * see the same random numbers, so that differences between them come from the times.
 */
#ifndef ANALYZER_STORAGE_DEVICE_SIM_H
#define ANALYZER_STORAGE_DEVICE_SIM_H

#include "analyzer/models/num/rng.h"
#include "analyzer/models/storage/device_model.h"

#define DEVICE_STREAMS 1024 /* ends of earlier requests that are remembered; a power of two */

struct device_request {
	double at_s;
	uint64_t offset; /* bytes */
	uint32_t bytes;
	enum device_type type;
	bool durable;
};

/* The state of a token bucket. */
struct device_bucket {
	double tokens, at_s; /* so many there were at that time; below 0: owed */
	double used;
};

struct device_sim {
	const struct device_model *model; /* borrowed */
	struct rng service[DEVICE_NR_TYPES], pause, overtake;
	struct device_bucket ops, bytes;
	double *free_s;	   /* owned heap: when each server has nothing left to do */
	uint64_t *ends;	   /* owned: offset at which a request ended plus 1, by hash; 0 none */
	double drained_s;  /* when the cache will be empty */
	double admitted_s; /* when the write before got its place in the cache */
	struct {
		double begin_s, end_s;
	} running, pending; /* flushes */
	bool has_pending;
	/* Sums for the question what limits. */
	double busy_s, flush_busy_s, cache_wait_s, end_s;
	uint64_t nr;
};

/* 0 or -ENOMEM. The model must be checked, and must outlive it. Release it whatever this returns. */
int device_sim_init(struct device_sim *d, const struct device_model *m, uint64_t seed);
void device_sim_release(struct device_sim *d);
/* When it completes, in the seconds of at_s; at_s must not lie before that of the request before. */
double device_sim_submit(struct device_sim *d, const struct device_request *r);

enum device_part {
	DEVICE_PART_NONE, /* nothing is busy: who asks waits for itself */
	DEVICE_PART_OPERATIONS,
	DEVICE_PART_BYTES,
	DEVICE_PART_SERVERS,
	DEVICE_PART_CACHE,
	DEVICE_PART_FLUSHES,
	DEVICE_NR_PARTS,
};
/* "operations per second", ... */
extern const char *const device_part_names[DEVICE_NR_PARTS];
/* The busy share of each part from 0 to the last completion. */
void device_sim_busy(const struct device_sim *d, double ratio[DEVICE_NR_PARTS]);
/* The busiest part, DEVICE_PART_NONE where none is busy for most of the time. */
enum device_part device_sim_limit(const struct device_sim *d);

#endif
