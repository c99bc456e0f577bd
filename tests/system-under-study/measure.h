/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure: response times by class in batches of requests; where the warm-up ends, and whether the
 * rest is enough: every mean known to a precision, and as many dirty pages gone to disk as came, up
 * to a fiftieth (a cache that fills or empties is no steady state, however narrow the interval).
 */
#ifndef SUS_MEASURE_H
#define SUS_MEASURE_H

#include "formats/histogram.h"
#include "tests/system-under-study/sus_load.h"
#include "tests/system-under-study/write_cache.h"

#define MEASURE_BATCH	1024u /* requests */
#define MEASURE_BATCHES 512u  /* more: pairs are merged */

struct sus_result;

struct measure_class {
	uint64_t nr;
	double sum, squares; /* seconds */
	struct histogram histogram;
};

struct measure_batch {
	double begin_s, end_s;
	uint64_t held, added; /* pages of the non-volatile cache at its end; become dirty so far */
	struct measure_class classes[LOAD_CLASSES];
};

struct measure {
	unsigned nr_classes, nr_batches;
	uint32_t length;	       /* requests of a batch, now */
	const struct write_cache *nvs; /* borrowed */
	uint64_t nr;		       /* requests */
	struct measure_batch *batches; /* owned */
	unsigned looked;	       /* batches at the last look */
	bool enough;
};

void measure_init(struct measure *m, unsigned nr_classes, const struct write_cache *nvs);
void measure_release(struct measure *m);
/* A request of a class ends at `now`. 0 or -ENOMEM. */
int measure_add(struct measure *m, unsigned class, double response_s, double now);
/* Each class's mean is known to the relative precision (95 %). Looks every 16 batches. */
bool measure_is_enough(struct measure *m, double precision);
/* Fills in classes, time_s and requests, without the warm-up. 0 or -ENOMEM. */
int measure_result(const struct measure *m, struct sus_result *out);

#endif
