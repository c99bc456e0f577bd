/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_net: the nets of the storage models (Noorshams, Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015, chapter 7), as YAML with their parameters, and
 * their solution. docs/examples/storage-*.yaml are the same nets with values to begin from.
 *
 *	one queue    clients -> cache                                        (figure 7.5)
 *	cache, raid  clients -> cache -> with probability `miss` the array   (figure 7.7)
 *	cases        clients -> cached or beyond the cache                   (figure 7.9)
 *	mix          clients by VM and type -> waiting -> storage, a mode with a firing weight for
 *		     each class that waits                                   (figures 7.12 - 7.16)
 *	parts        the same, but every VM has requests waiting of its own and lets `depth` of them
 *		     on: a latency that does not queue, servers that reads and writes share one
 *		     after the other, and one server of each type
 */
#ifndef ANALYZER_STORAGE_NET_H
#define ANALYZER_STORAGE_NET_H

#include "analyzer/models/solve/solve.h"
#include "analyzer/models/storage/storage_table.h"
#include "base/buf.h"

enum storage_template {
	STORAGE_ONE_QUEUE,
	STORAGE_CACHE_RAID,
	STORAGE_CASES,
	STORAGE_MIX,
	STORAGE_PARTS,
};

#define STORAGE_SHARED_MAX 2

/* Of one server, gamma; seconds. */
struct storage_server {
	double mean_s, sd_s;
};

struct storage_vm {
	double clients[2]; /* readers, writers; 0: none */
	double weight[2];  /* above 0 */
};

struct storage_net {
	enum storage_template template;
	double think_s; /* above 0 */
	double clients; /* not of a mix or parts */
	/* The cache and the array; cached and beyond; reads and writes (of parts: each type's own). */
	struct storage_server first, second;
	double miss;   /* 0 to 1, both exclusive; cache, raid alone */
	bool beyond;   /* cases alone */
	size_t nr_vms; /* mix and parts alone */
	struct storage_vm vms[STORAGE_VMS_MAX];
	/* Parts alone, by type where [2]: */
	double depth;	     /* requests of a VM under way, 1 or more */
	double latency_s[2]; /* 0 or more */
	struct storage_server shared[STORAGE_SHARED_MAX][2]; /* mean 0: passes through at once */
	size_t nr_shared;
};

/* Values to begin from, as docs/examples has them. nr_vms: of a mix. */
void storage_net_example(struct storage_net *n, enum storage_template template, size_t nr_vms);
/* The net as YAML. Errors stay in out. */
void storage_net_write(struct buf *out, const struct storage_net *n);

struct storage_times {
	struct time_estimate time[STORAGE_VMS_MAX][2]; /* [0][0] where not a mix; seconds */
	uint64_t events;
	double precision; /* reached */
};

/* One seed, one answer. The errors of solve_net(). */
int storage_net_solve(struct storage_times *out, const struct storage_net *n, double precision,
		      uint64_t seed, struct err *err);

/*
 * Service times of a cache and an array behind it from the mean times spent in both: t clients
 * without think time, of whom a share `miss` goes on. By the product form of two exponential
 * servers; the caller corrects for other spreads. hit_s and beyond_s above 0.
 */
void storage_raid_invert(double t, double miss, double hit_s, double beyond_s, double *cache_s,
			 double *raid_s);
/* The same where the cache's service time and the mean response time of all are known. */
void storage_raid_behind(double t, double miss, double cache_s, double response_s, double *raid_s);

#endif
