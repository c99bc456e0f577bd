/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_load: puts a synthetic load on a simulated device, as a configuration of a campaign
 * describes it.
 *
 * A closed load has clients, which are all alike. Each client keeps up to `depth` requests under
 * way: with depth 1 it waits for each request (synchronous), with a greater depth it submits ahead
 * (asynchronous). After `burst` requests a client waits until all of its own requests have
 * completed, and then thinks. After `flush_every` writes it flushes, and submits nothing until the
 * flush has completed. A request that the guest splits (parts) reaches the device as so many at the
 * same time, and completes with the last of them. An open load has Poisson arrivals instead
 * (rate_per_s above 0).
 *
 *	struct device_load load = { .clients = 4, .depth = 1, .read_ratio = 0.7,
 *				    .bytes = { 4096, 4096 } };
 *	struct device_times times;
 *
 *	device_load_init(&load);	(replaces each 0 by its default)
 *	ret = device_load_run(&load, &model, 100000, 1, &times);
 *	mean_s = device_times_at(&times, DEVICE_READ, DEVICE_MEAN);
 *	device_times_release(&times);
 *
 * The first fifth of the requests is warm-up and is not counted.
 */
#ifndef ANALYZER_STORAGE_DEVICE_LOAD_H
#define ANALYZER_STORAGE_DEVICE_LOAD_H

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/storage/device/device_sim.h"
#include "formats/histogram.h"

#define DEVICE_CLIENTS_MAX 65536u

struct device_load {
	unsigned int clients, depth;
	double rate_per_s; /* above 0: an open load of single requests */
	double think_s;
	bool think_random;     /* the think time is exponential instead of constant */
	unsigned int burst;    /* number of requests between two think times */
	double read_ratio;     /* 0 to 1 */
	double bytes[2];       /* size of a read and of a write */
	unsigned int parts[2]; /* requests that a read or a write is for the device */
	bool sequential;
	/* number of writes of a client between flushes; 0 means no flush */
	unsigned int flush_every;
	double flush_read_ratio; /* share of a client's reads after which it also flushes */
	bool durable;		 /* every write is forced to stable storage */
	double range_bytes;	 /* random requests have offsets below this value */
};

/*
 * This struct holds response times by type, with the number of requests and the time that the
 * simulation covered.
 */
struct device_times {
	struct histogram response[DEVICE_NR_TYPES];
	uint64_t nr[DEVICE_NR_TYPES];
	double elapsed_s;
	double busy_ratio[DEVICE_NR_PARTS];
	enum device_part limit;
};

/*
 * Replaces each 0 by its default: 1 client, depth 1, bursts of 1 request, 4 KiB in 1 part, a range
 * of 1 GiB.
 */
void device_load_init(struct device_load *l);
/* Returns the largest number of requests that the load can have under way. */
double device_load_concurrency(const struct device_load *l);

/*
 * Simulates nr requests. Returns 0, -ENOMEM, or -EINVAL if there are more than DEVICE_CLIENTS_MAX
 * clients or requests under way. The cost is O(nr x log clients). The caller releases the times
 * whatever this function returns.
 */
int device_load_run(const struct device_load *l, const struct device_model *m, uint64_t nr,
		    uint64_t seed, struct device_times *out);

/* Records a response time. Returns 0 or -ENOMEM. */
int device_times_add(struct device_times *t, enum device_type type, double response_s);
/*
 * Returns a statistic of the response times in seconds, or NaN if there is no request of this
 * type.
 */
double device_times_at(const struct device_times *t, enum device_type type,
		       enum device_point point);
/*
 * Returns how far two runs of this many requests differ in a statistic by chance alone: the bound
 * of |ln(one / other)| that nine in ten keep. Requests count as independent of each other, so that
 * the bound is too narrow where they wait for each other (device_chance.h).
 * Returns 0 without a request of this type.
 */
double device_times_chance(const struct device_times *t, enum device_type type,
			   enum device_point point);
/* Returns the number of requests of this type per second. */
double device_times_rate(const struct device_times *t, enum device_type type);
/*
 * Names the bytes of the times that processes exchange (parallel.h). Times that are received are
 * zeroed before.
 */
int device_times_pieces(struct device_times *t, struct parallel_bytes *b);
void device_times_release(struct device_times *t);

#endif
