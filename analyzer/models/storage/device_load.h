/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_load: a synthetic load on a simulated device, as a configuration of a campaign describes it.
 *
 * A closed load has clients, which are all alike. Each keeps up to `depth` requests under way: with depth
 * 1 it waits for each request (synchronous), with more it submits ahead (asynchronous). After `burst`
 * requests a client waits until all of its own have completed, and thinks. After `flush_every` writes
 * it flushes, and submits nothing until the flush has completed. An open load has Poisson arrivals
 * instead (rate_per_s above 0).
 *
 *	struct device_load load = { .clients = 4, .depth = 1, .read_ratio = 0.7, .bytes = { 4096, 4096 } };
 *	struct device_times times;
 *
 *	device_load_init(&load);	(fills what is left 0 with its default)
 *	ret = device_load_run(&load, &model, 100000, 1, &times);
 *	mean_s = device_times_at(&times, DEVICE_READ, DEVICE_MEAN);
 *	device_times_release(&times);
 *
 * The first fifth of the requests is warm-up and is not counted.
 */
#ifndef ANALYZER_STORAGE_DEVICE_LOAD_H
#define ANALYZER_STORAGE_DEVICE_LOAD_H

#include "analyzer/models/storage/device_sim.h"
#include "formats/histogram.h"

#define DEVICE_CLIENTS_MAX 65536u

struct device_load {
	unsigned int clients, depth;
	double rate_per_s; /* above 0: an open load, of single requests */
	double think_s;
	bool think_random;  /* exponential, instead of always the same */
	unsigned int burst; /* requests between two times of thinking */
	double read_ratio;  /* 0 to 1 */
	double bytes[2];    /* of a read, of a write */
	bool sequential;
	unsigned int flush_every; /* writes of a client; 0: never */
	bool durable;		  /* every write is forced */
	double range_bytes;	  /* offsets of random requests */
};

/* Response times, by type, and what was done in which time. */
struct device_times {
	struct histogram response[DEVICE_NR_TYPES];
	uint64_t nr[DEVICE_NR_TYPES];
	double elapsed_s;
	double busy_ratio[DEVICE_NR_PARTS];
	enum device_part limit;
};

/* Replaces 0 by the default: 1 client, depth 1, bursts of 1, 4 KiB, a range of 1 GiB. */
void device_load_init(struct device_load *l);
/* The most requests that the load can have under way. */
double device_load_concurrency(const struct device_load *l);

/*
 * Simulates nr requests. 0, -ENOMEM, or -EINVAL for more than DEVICE_CLIENTS_MAX clients or requests
 * under way. O(nr x log clients). Release the times whatever this returns.
 */
int device_load_run(const struct device_load *l, const struct device_model *m, uint64_t nr,
		    uint64_t seed, struct device_times *out);

/* Counts a response time; 0 or -ENOMEM. */
int device_times_add(struct device_times *t, enum device_type type, double response_s);
/* Seconds; NaN where there is none of this type. */
double device_times_at(const struct device_times *t, enum device_type type,
		       enum device_point point);
/* Requests of this type per second. */
double device_times_rate(const struct device_times *t, enum device_type type);
void device_times_release(struct device_times *t);

#endif
