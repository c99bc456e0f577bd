/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage: the storage resource, with an I/O analysis model inside.
 *
 * Steps I to V of Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, section 8.2: a request joins those of all containers (I) and the list of
 * the last n requests (II), n = mean response time * arrival rate (eq. 8.1) unless given; the
 * list gives the inputs of the model (III): requests in service, type, mean read and write size,
 * read and write pattern (sequential where the mean sequentiality is 0.5 or more), read share;
 * the size of the file set comes with the request; the model gives the response time (IV) by
 * which the request is delayed (V). Where the list has no request of a type its mean size is 0
 * and its pattern random.
 */
#ifndef ANALYZER_ARCH_STORAGE_H
#define ANALYZER_ARCH_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct arch_storage_input {
	double in_service; /* requests under way, this one too, times the factor; 1 at least */
	bool read;
	double read_size, write_size; /* means, bytes */
	bool read_sequential, write_sequential;
	double read_share; /* 0..1 */
	double file_set;   /* of the request, bytes; 0: unknown */
};

/*
 * What gives a response time in seconds. Made by a reader; shared by simulations: respond() must
 * not change it. *outside is set where an input lies outside what the model was trained on.
 */
struct arch_storage_model {
	double (*respond)(const struct arch_storage_model *m, const struct arch_storage_input *x,
			  bool *outside);
	void (*free)(struct arch_storage_model *m);
	/* False: it knows nothing of reads, of writes. NULL: it answers both. */
	bool (*answers)(const struct arch_storage_model *m, bool read);
};

#define STORAGE_MAX_LIST 4096 /* longest status list */

/* The state of one storage in one simulation. */
struct storage_state;

struct storage_request {
	double size;
	double sequential;
	double file_set; /* bytes; 0: unknown */
	bool read;
};

/* list_length 0: by eq. 8.1, from this run's own means. NULL without memory. */
struct storage_state *storage_state_new(const struct arch_storage_model *m, double list_length,
					double concurrency);
void storage_state_free(struct storage_state *s);

/* A request arrives: its response time in seconds, at or above 0 (steps I to V). O(1). */
double storage_arrive(struct storage_state *s, double now, const struct storage_request *r);
/* One that arrived is done. */
void storage_leave(struct storage_state *s);
/* Requests for which the model was asked outside its range, of how many. */
void storage_state_outside(const struct storage_state *s, uint64_t *outside, uint64_t *all);

#endif
