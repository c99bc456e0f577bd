/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_objective: objectives of response times, such as "95 % of the reads of host db1 take less
 * than 20 ms", and how they are judged.
 *
 * Such an objective allows 5 % of the reads to be slower. This share is its error budget. The
 * objective holds while the share of the requests that took longer than the limit is at most the
 * budget. Requests are counted in histograms, so the limit is rounded up to the next end of a
 * bucket, by 2.2 % at most.
 *
 * serve judges the last hour by these functions (analyzer/serve/fleet/page_objective.h), and report
 * the period that it shows (analyzer/report/collect/slo.h), so that both give the same verdict.
 */
#ifndef ANALYZER_CHARACTERIZE_TIME_OBJECTIVE_H
#define ANALYZER_CHARACTERIZE_TIME_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/fields.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"

#define TIME_OBJECTIVES	    64 /* objectives of one file */
#define TIME_OBJECTIVE_NAME 64
#define TIME_OBJECTIVE_GLOB 128
#define TIME_OBJECTIVE_FEW  20 /* fewer requests say nothing about a share of some percent */

struct time_objective {
	char name[TIME_OBJECTIVE_NAME];
	char host[TIME_OBJECTIVE_GLOB], device[TIME_OBJECTIVE_GLOB];
	int operation; /* 0 reads, 1 writes */
	double percentile, limit_s;
	int bucket; /* bucket of the limit, by formats/histogram.h */
};

struct time_objectives {
	struct time_objective list[TIME_OBJECTIVES];
	size_t nr;
};

/* The table of the file, from which docs/objectives.schema.json is written. */
extern const struct fields time_objectives_table;
/* The words of an operation, by its number; NULL ends the list. */
extern const char *const time_objective_operations[];

/*
 * Reads a YAML file and appends its objectives. Returns 0, -EINVAL (also where a name is there
 * already), -ENOENT, -ENOMEM, ...
 */
int time_objectives_read(struct time_objectives *o, const char *path, struct err *err);
/*
 * Appends an objective of all hosts and devices. Returns 0, or -EINVAL where the limit is out of
 * range, the name is there already, or there are too many.
 */
int time_objectives_add(struct time_objectives *o, const char *name, bool is_write,
			double percentile, double limit_s, struct err *err);

/* Returns whether an objective judges a device, which has a number (8:0) and a name (sda). */
bool time_objective_names(const struct time_objective *o, const char *host, const char *device,
			  const char *device_name);
/* Returns the response times in p of the requests that the objective judges. */
const struct histogram *time_objective_times(const struct time_objective *o,
					     const struct profile *p);
/* Returns the number of these requests that took longer than the limit. */
uint64_t time_objective_slow(const struct time_objective *o, const struct histogram *h);
/*
 * Returns the share of the error budget that is spent: the objective holds up to 1. NaN where there
 * are too few requests to tell.
 */
double time_objective_spent(const struct time_objective *o, double requests, double slow);

/* Returns the share of requests that may be slow. */
static inline double time_objective_budget(const struct time_objective *o)
{
	return 1 - o->percentile / 100;
}

#endif
