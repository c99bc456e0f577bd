/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_model: a storage as a simulated device. The model consists of the parameters of
 * everything that limits the storage, and of the range in which these parameters hold.
 *
 * A request first passes the limit of operations per second and the limit of bytes per second
 * (token buckets, first come first served). Then one of several equal servers serves it; the
 * servers take requests in the order of arrival. The service time is
 *
 *	base + bytes x time per byte + a time for every request that does not follow an earlier one,
 *
 * with separate values for reads and writes, times a random factor of mean 1 (lognormal or
 * exponential). The model adds these effects:
 *
 * - A latency for each direction does not keep a server busy. It stands for drivers, networks and
 * interrupts; its part per byte stands for transfers that overlap with the service of others.
 *
 * - A request that is larger than an operation may be (unit_bytes) is served as several operations,
 * which queue as requests of their own: others come between them, several servers serve them at the
 * same time, and the request completes with the last of them. Base, latency and tokens count for
 * each.
 *
 * - Some requests meet a pause of exponential length, which makes the far tail of the
 * distribution.
 *
 * - Real storages let requests overtake each other, but only those that wait, and only as many as
 * the device sees at a time (wait_window); further ones wait in order in front of it. Therefore a
 * part of each wait is multiplied by a random factor of mean 1, while the order of service does not
 * change: the wait behind other waiting requests, times min(1, window / their number).
 *
 * - A write-back cache takes the writes for which it has room. They need the time of the cache,
 * not that of a server, and the cache drains at a rate of its own.
 *
 * - A flush waits until the cache has drained. Then it joins the queue of the servers. It waits
 * until a server is free, and for the share wait_ratio of the wait behind other waiting requests:
 * with 1 it comes after all of them, with 0 before them. It keeps a server busy for base + time per
 * byte x the bytes written since the flush before. If nothing was written since then, the base is
 * multiplied by clean_ratio and nothing is added. Flushes that arrive while a flush is under way
 * wait for its end and then share the next one, unless the storage serves each of them
 * by itself (flush_alone).
 *
 * - Some storages acknowledge a flush beside the servers, since they have nothing to write out.
 * Such a flush (flush_window above 0) keeps no server busy. It waits only until at most
 * flush_window earlier requests still wait: until then it has not reached the storage, whose queue
 * has so many places. A flush that need not wait for this is held back by each earlier request that
 * is still under way with the probability wait_ratio: layers in between keep the order of some
 * requests, for example of those that share one of several connections.
 *
 * - A forced write bypasses the cache and takes an additional time. On a storage that has a
 * volatile cache and no forced unit access, a flush follows its data (durable_flush). The block
 * layer begins no flush while such data are under way.
 *
 * device_calibrate.h finds which of these effects a storage has. device_sim.h simulates the
 * device.
 */
#ifndef ANALYZER_STORAGE_DEVICE_MODEL_H
#define ANALYZER_STORAGE_DEVICE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/fields.h"

#define DEVICE_KIND	   "device" /* the kind in a blkcast.model/1 */
#define DEVICE_SERVERS_MAX 4096
#define DEVICE_LEVEL	   0.9 /* probability of the prediction intervals */
#define DEVICE_UNIT_LEAST  512 /* bytes: no block device moves less than a sector */

/* This enum lists types of request. The numbers of the first three are those of enum operation. */
enum device_type {
	DEVICE_READ,
	DEVICE_WRITE,
	DEVICE_FLUSH,
	DEVICE_NR_TYPES,
};

/* This enum lists the statistics of response times that a prediction reports. */
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

/*
 * This struct is a token bucket. A request may begin when the bucket holds as many tokens as it
 * needs, or is full.
 */
struct device_limit {
	double rate_per_s;  /* 0 means that there is no such limit */
	double burst;	    /* tokens that an idle device can save up */
	double write_ratio; /* tokens of a write divided by the tokens of a read of the same size */
};

struct device_cache {
	double bytes; /* 0 means that there is no cache */
	double base_s, byte_s;
	double drain_bytes_per_s;
};

#define DEVICE_ORIGIN_BYTES 1024

/*
 * This struct holds the range that the campaign has measured. Predictions outside of it are not
 * supported by data.
 */
struct device_domain {
	bool has[DEVICE_NR_TYPES];
	bool has_random[2], has_sequential[2]; /* one value per direction */
	bool has_durable;
	/* sizes by direction; NaN for a direction that was not measured */
	double low_bytes[2], high_bytes[2];
	double concurrency; /* largest number of requests under way */
};

/* This struct holds the prediction errors of held-out configurations. */
struct device_error {
	size_t nr;
	double mean_ratio; /* mean of |simulated - measured| / measured; NaN where nr is 0 */
	/*
	 * 90 % of absolute values of ln(simulated / measured) are at most this; NaN if there are
	 * too few
	 */
	double log_half;
};

struct device_model {
	unsigned int servers;
	enum device_law law;
	double base_s[2], byte_s[2], seek_s[2];
	/* latency of a request that keeps no server busy: of each, and per byte */
	double latency_s[2], latency_byte_s[2];
	/* bytes that one operation moves at most; a larger request is several; 0: any size */
	double unit_bytes;
	/*
	 * This member is the standard deviation of the logarithm of the factor by which waits
	 * differ; 0 means first come first served.
	 */
	double wait_sigma;
	double wait_window; /* waiting requests that may overtake each other; 0 means all */
	double sigma[2];    /* standard deviation of the logarithm of the random factor */
	/* share of requests that meet a pause; mean length of a pause */
	double pause_ratio, pause_s;
	double flush_s, flush_byte_s, flush_clean_ratio, flush_wait_ratio;
	/* waiting requests that a flush passes, keeping no server busy; 0: it joins their queue */
	double flush_window;
	bool flush_alone; /* flushes neither wait for each other nor share */
	double durable_s;
	bool durable_flush; /* a flush follows the data of each forced write */
	struct device_limit ops, bytes;
	struct device_cache cache;
	struct device_domain domain;
	struct device_error errors[DEVICE_NR_TYPES][DEVICE_NR_POINTS];
	/*
	 * These members describe the calibration. They are 0 and "" if the model was not
	 * calibrated.
	 */
	size_t nr_configurations;
	uint64_t seed;
	char campaign[128];
	char origin[DEVICE_ORIGIN_BYTES]; /* the measured device in words; "" if unknown */
};

/*
 * This table holds the fields of a file of kind "device"; docs/model-device.schema.json is made
 * from it.
 */
extern const struct fields device_model_table;
extern const char *const device_type_names[DEVICE_NR_TYPES + 1];   /* "read", ... */
extern const char *const device_point_names[DEVICE_NR_POINTS + 1]; /* "mean", "p50", ... */
extern const char *const device_law_names[DEVICE_NR_LAWS + 1];

/*
 * Sets up one server, no limits, no cache and times of 0. The domain is empty: nothing counts as
 * measured.
 */
void device_model_init(struct device_model *m);
/*
 * Returns the bound of |ln(simulated / measured)| of held-out configurations. If too few
 * configurations had a point, the nearest lower point stands for this one. NaN means that the model
 * has no errors.
 */
double device_model_held_out(const struct device_model *m, enum device_type type,
			     enum device_point point);
/*
 * Returns the bound of the same errors for a new application, from that of configurations. What an
 * application does beside the configurations adds an error of its own, which is independent of the
 * first one. Its size comes from recorded applications (docs/studies/applications).
 */
double device_model_application(double held_out, enum device_type type, enum device_point point);
/*
 * Returns the bound for an application beside others, from that of one alone. How requests of
 * several applications overtake each other adds an error of its own. Its size comes from pairs of
 * applications that really ran beside each other (docs/studies/consolidation).
 */
double device_model_shared(double application, enum device_point point);
/* Returns NULL, or a static text that says which value of the model is wrong. */
const char *device_model_check(const struct device_model *m);
/*
 * Returns true if the file at path is a model of this kind, and false also if the file cannot be
 * read.
 */
bool device_model_is(const char *path);
/*
 * Returns 0, -EINVAL with a message that names the value if the file is not such a model, or the
 * -errno of the file.
 */
int device_model_load(struct device_model *m, const char *path, struct err *err);
int device_model_save(const struct device_model *m, const char *path, struct err *err);

#endif
