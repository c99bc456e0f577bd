/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_model: a storage as a simulated device: the parameters of what limits it, and how far they hold.
 *
 * A request passes, in this order: the limit of operations per second and the limit of bytes per second
 * (token buckets, first come first served); then one of a number of equal servers, which serve in the
 * order of arrival. The service time is
 *
 *	base + bytes x time per byte + a time for every request that does not follow an earlier one,
 *
 * each by direction, times a random factor of mean 1 (lognormal, or exponential). A latency by direction
 * comes on top that keeps no server busy: drivers, networks, interrupts. Some requests meet
 * a pause besides, whose length is exponential: that makes the far tail. Real storages let requests overtake
 * each other: the wait of each request is multiplied by a random factor of mean 1, while the servers work on. Writes that a write-back cache
 * has room for do not pass the servers: they take the time of the cache, and the cache drains at a rate
 * of its own. A flush waits for what the cache holds, and takes a server for a time of its own. A forced
 * write passes the cache by and takes an additional time.
 *
 * Which of these a storage has is found by device_calibrate.h. device_sim.h simulates the device.
 */
#ifndef ANALYZER_STORAGE_DEVICE_MODEL_H
#define ANALYZER_STORAGE_DEVICE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DEVICE_KIND	   "device" /* of blkcast.model/1 */
#define DEVICE_SERVERS_MAX 4096
#define DEVICE_LEVEL	   0.9 /* of the intervals */

/* What is asked of a device; the numbers of the first three are those of enum operation. */
enum device_type {
	DEVICE_READ,
	DEVICE_WRITE,
	DEVICE_FLUSH,
	DEVICE_NR_TYPES,
};

/* Response times are told at these points. */
enum device_point {
	DEVICE_MEAN,
	DEVICE_P50,
	DEVICE_P95,
	DEVICE_P99,
	DEVICE_NR_POINTS,
};

enum device_law {
	DEVICE_LOGNORMAL,
	DEVICE_EXPONENTIAL,
	DEVICE_NR_LAWS,
};

/* A token bucket. A request may begin when the bucket is full enough for it, or full. */
struct device_limit {
	double rate_per_s;  /* 0: there is no such limit */
	double burst;	    /* tokens that an idle device saves up */
	double write_ratio; /* tokens of a write over those of a read like it */
};

struct device_cache {
	double bytes; /* 0: there is no cache */
	double base_s, byte_s;
	double drain_bytes_per_s;
};

/* What the campaign has measured; outside of it the model cannot tell. */
struct device_domain {
	bool has[DEVICE_NR_TYPES];
	bool has_random[2], has_sequential[2]; /* by direction */
	bool has_durable;
	double low_bytes[2], high_bytes[2]; /* sizes by direction; NaN where it has none */
	double concurrency;		    /* most requests under way */
};

/* How far held-out configurations were off. */
struct device_error {
	size_t nr;
	double mean_ratio; /* mean of |simulated - measured| / measured; NaN where nr is 0 */
	double log_half; /* so far 90 % of |ln(simulated / measured)| reach; NaN: too few to tell */
};

struct device_model {
	unsigned int servers;
	enum device_law law;
	double base_s[2], byte_s[2], seek_s[2];
	double latency_s[2]; /* of a request on its way, which keeps no server busy */
	double wait_sigma; /* of the logarithm of the factor by which waits differ; 0: first come first served */
	double sigma[2];	     /* of the logarithm of the random factor */
	double pause_ratio, pause_s; /* share of requests, mean */
	double flush_s, durable_s;
	struct device_limit ops, bytes;
	struct device_cache cache;
	struct device_domain domain;
	struct device_error errors[DEVICE_NR_TYPES][DEVICE_NR_POINTS];
	/* Of the calibration; 0 and "" where the model was not calibrated. */
	size_t nr_configurations;
	uint64_t seed;
	char campaign[128];
};

extern const char *const device_type_names[DEVICE_NR_TYPES + 1];   /* "read", ... */
extern const char *const device_point_names[DEVICE_NR_POINTS + 1]; /* "mean", "p50", ... */
extern const char *const device_law_names[DEVICE_NR_LAWS + 1];

/* One server, no limits, no cache, constant times of 0; nothing is known to be covered. */
void device_model_init(struct device_model *m);
/* NULL, or what is wrong with a value of the model; static text. */
const char *device_model_check(const struct device_model *m);
/* Whether the file at path is a model of this kind; false too where it cannot be read. */
bool device_model_is(const char *path);
/* 0, -EINVAL for a file that is no such model, naming the value; -errno of the file. */
int device_model_load(struct device_model *m, const char *path, struct err *err);
int device_model_save(const struct device_model *m, const char *path, struct err *err);

#endif
