/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_net: builds the nets of the storage models (Noorshams, Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015, chapter 7) as YAML with their parameters, and
 * solves them. docs/examples/storage-*.yaml are the same nets with example values.
 *
 *	one queue    clients -> cache                                        (figure 7.5)
 *	cache, raid  clients -> cache -> with probability `miss` the array   (figure 7.7)
 *	cases        clients -> cached or beyond the cache                   (figure 7.9)
 *	mix          clients by VM and type -> waiting -> storage, a mode with a firing weight for
 *		     each class that waits                                   (figures 7.12 - 7.16)
 *	parts        as mix, but the requests of every VM wait in a queue of their own, and a VM
 *		     has at most `depth` requests in the system: a latency that does not queue,
 *		     then servers that reads and writes share, then one server of each type
 */
#ifndef ANALYZER_STORAGE_NET_H
#define ANALYZER_STORAGE_NET_H

#include "analyzer/models/solve/solve.h"
#include "analyzer/models/storage/fit/storage_table.h"
#include "base/memory/buf.h"

enum storage_template {
	STORAGE_ONE_QUEUE,
	STORAGE_CACHE_RAID,
	STORAGE_CASES,
	STORAGE_MIX,
	STORAGE_PARTS,
};

#define STORAGE_SHARED_MAX 2

/* This struct is a server with gamma-distributed service times, in seconds. */
struct storage_server {
	double mean_s, sd_s;
};

struct storage_vm {
	double clients[2]; /* readers and writers; 0 means none */
	double weight[2];  /* weights are above 0 */
};

struct storage_net {
	enum storage_template template;
	double think_s; /* think time, above 0 */
	double clients; /* number of clients; not used by mix and parts */
	/*
	 * These are the two servers: the cache and the array; cached and beyond the cache; or those
	 * of reads and writes (in parts, each type's own server).
	 */
	struct storage_server first, second;
	/* probability of a miss, strictly between 0 and 1; for cache and raid only */
	double miss;
	bool beyond;   /* for cases only */
	size_t nr_vms; /* for mix and parts only */
	struct storage_vm vms[STORAGE_VMS_MAX];
	/* The following members are for parts only; [2] is indexed by type. */
	double depth;	     /* requests of a VM in the system at a time; at least 1 */
	double latency_s[2]; /* latencies, at least 0 */
	/* a mean of 0 means that a request passes at once */
	struct storage_server shared[STORAGE_SHARED_MAX][2];
	size_t nr_shared;
};

/* Writes the net as YAML. Errors stay in out. */
void storage_net_write(struct buf *out, const struct storage_net *n);

struct storage_times {
	/* response times in seconds; only [0][0] is used where the net is not a mix */
	struct time_estimate time[STORAGE_VMS_MAX][2];
	uint64_t events;
	double precision; /* the precision that was reached */
};

/* Solves the net. One random seed gives one result. Returns 0 or an error of solve_net(). */
int storage_net_solve(struct storage_times *out, const struct storage_net *n, double precision,
		      uint64_t seed, struct err *err);

/*
 * Computes the service times of a cache and of the array behind it from the mean times that
 * requests spend in both. There are t clients without think time, and a share `miss` of the
 * requests goes on to the array. The formula is the product form of two exponential servers; the
 * caller corrects for other distributions. hit_s and beyond_s must be above 0.
 */
void storage_raid_invert(double t, double miss, double hit_s, double beyond_s, double *cache_s,
			 double *raid_s);
/*
 * Inverts the formula as storage_raid_invert() does, if the service time of the cache and the mean
 * response time of all requests are known.
 */
void storage_raid_behind(double t, double miss, double cache_s, double response_s, double *raid_s);

#endif
