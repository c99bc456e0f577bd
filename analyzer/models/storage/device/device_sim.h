/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_sim: simulates a device (device_model.h) that is given requests one after the other.
 *
 * Requests are submitted in the order of their arrival, and every station serves in that order.
 * Therefore the time at which a read or a write completes is known as soon as it is submitted, and
 * the device needs no events of its own. A request costs O(log servers).
 *
 *	struct device_request r = { .at_s = 0.5, .type = DEVICE_READ, .bytes = 4096 };
 *	struct device_sim d;
 *	int ret = device_sim_init(&d, &model, seed);
 *
 *	while (!device_sim_submit(&d, &r, &end_s))
 *		r.at_s = end_s;		(other requests that arrive before end_s come first)
 *	...
 *	device_sim_release(&d);
 *
 * Some requests take part in the queue a second time, later, so that the caller has to submit them
 * again at a time that the device names: a flush that finds another flush under way, a flush behind
 * a cache that is not empty, the flush of a forced write after its data, and any flush while data
 * of writes with a flush before or after them are under way, such as the commit of a journal. All
 * flushes that wait for the same end share the next flush. These are rules of the block layer of
 * Linux (block/blk-flush.c), which defers a flush for data by 5 s at most.
 *
 * A request follows an earlier one (is sequential) if it begins at the offset where one of the
 * last requests ended.
 *
 * Each source of randomness has a stream of random numbers of its own. If two models have the same
 * distributions and differ only in their times, they therefore draw the same random numbers, and
 * differences between their results come from the times alone.
 */
#ifndef ANALYZER_STORAGE_DEVICE_SIM_H
#define ANALYZER_STORAGE_DEVICE_SIM_H

#include "analyzer/models/num/rng.h"
#include "analyzer/models/storage/device/device_model.h"

#define DEVICE_STREAMS 1024 /* number of remembered ends of earlier requests; a power of two */
#define DEVICE_WAITERS 4096 /* remembered requests, those that wait among them; a power of two */

struct device_request {
	double at_s;
	uint64_t offset; /* in bytes */
	uint32_t bytes;
	enum device_type type;
	bool durable;
	bool preflush; /* a write that the block layer does in steps, a flush before its data */
	bool written;  /* set by the device: the data are written, and a flush remains to be done */
	bool drained;  /* set by the device: the flush has begun, and the cache drains for it */
};

/* This struct is the state of a token bucket. */
struct device_bucket {
	/* tokens is the number of tokens at the time at_s; a negative number is a debt */
	double tokens, at_s;
	double used;
};

struct device_sim {
	const struct device_model *model; /* borrowed */
	struct rng service[DEVICE_NR_TYPES], pause, overtake, pass;
	struct device_bucket ops, bytes;
	double *free_s; /* owned heap of the times at which each server becomes free */
	/*
	 * Owned ring of the times at which service began or will begin, of requests that may still
	 * wait. They ascend, because the servers take requests in order.
	 */
	double *begins_s;
	size_t first_begin, nr_begins;
	/* Owned ring of the ends of the last reads and writes, in the order of their arrival. */
	double *done_s;
	size_t nr_done; /* of all reads and writes */
	/* owned hash table: offset where a request ended, plus 1; 0 means empty */
	uint64_t *ends;
	double drained_s;  /* time at which the cache will be empty */
	double admitted_s; /* time at which the previous write entered the cache */
	/*
	 * These describe the last flush that has begun. While the cache drains for it, its end is
	 * the time at which the cache is empty.
	 */
	double flush_begin_s, flush_end_s, flush_service_s;
	bool draining;
	/*
	 * Until forced_s data are under way that a flush precedes or follows; deferred_s is when
	 * the first of the flushes that wait for them arrived, or infinite.
	 */
	double forced_s, deferred_s;
	uint64_t dirty_bytes; /* written since that flush began */
	/* device_sim_limit() finds the bottleneck from these sums. */
	double busy_s, flush_busy_s, cache_wait_s, end_s;
	uint64_t nr;
};

/*
 * Returns 0 or -ENOMEM. The model must be checked, and must outlive d. Release d whatever this
 * function returns.
 */
int device_sim_init(struct device_sim *d, const struct device_model *m, uint64_t seed);
void device_sim_release(struct device_sim *d);
/*
 * Returns true if the request completes at *end_s, which is on the scale of at_s. Returns false if
 * the caller must submit it again, with at_s = *end_s and otherwise as it is. at_s must not be less
 * than that of the previous request.
 */
bool device_sim_submit(struct device_sim *d, struct device_request *r, double *end_s);

enum device_part {
	DEVICE_PART_NONE, /* no part is busy: the clients wait for themselves */
	DEVICE_PART_OPERATIONS,
	DEVICE_PART_BYTES,
	DEVICE_PART_SERVERS,
	DEVICE_PART_CACHE,
	DEVICE_PART_FLUSHES,
	DEVICE_NR_PARTS,
};
/* These are the names of the parts: "operations per second" and so on. */
extern const char *const device_part_names[DEVICE_NR_PARTS];
/* Sets the share of time in which each part is busy, from time 0 to the last completion. */
void device_sim_busy(const struct device_sim *d, double ratio[DEVICE_NR_PARTS]);
/* Returns the busiest part, or DEVICE_PART_NONE if no part is busy for most of the time. */
enum device_part device_sim_limit(const struct device_sim *d);

#endif
