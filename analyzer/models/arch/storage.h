/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage: the storage resource, which contains an I/O analysis model.
 *
 * It follows steps I to V of Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, section 8.2. A request joins the requests of all containers (I) and the list
 * of the last n requests (II), where n = mean response time * arrival rate (equation 8.1) unless
 * it is given. The list provides the inputs of the model (III): requests in service, type, mean
 * read and write size, read and write pattern (sequential if the mean sequentiality is at least
 * 0.5), and read share. The size of the file set comes with the request. The model gives the
 * response time (IV), by which the request is delayed (V). If the list has no request of a type,
 * the mean size of that type is 0 and its pattern is random.
 */
#ifndef ANALYZER_ARCH_STORAGE_H
#define ANALYZER_ARCH_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

struct arch_storage_input {
	/* requests under way, including this one, times the factor; at least 1 */
	double in_service;
	bool read;
	double read_size, write_size; /* mean sizes in bytes */
	bool read_sequential, write_sequential;
	double read_share; /* from 0 to 1 */
	double file_set;   /* file set of the request in bytes; 0 means unknown */
};

/*
 * Predicts a response time in seconds. A reader creates the model, and simulations share it:
 * respond() must not change it. *outside is set if an input lies outside the training range of the
 * model.
 */
struct arch_storage_model {
	double (*respond)(const struct arch_storage_model *m, const struct arch_storage_input *x,
			  bool *outside);
	void (*free)(struct arch_storage_model *m);
	/*
	 * Returns false if the model cannot predict reads or cannot predict writes. NULL means
	 * that it predicts both.
	 */
	bool (*answers)(const struct arch_storage_model *m, bool read);
};

#define STORAGE_MAX_LIST 4096 /* longest status list */

/* This struct is the state of one storage in one simulation. */
struct storage_state;

struct storage_request {
	double size;
	double sequential;
	double file_set; /* in bytes; 0 means unknown */
	bool read;
};

/*
 * list_length 0 means equation 8.1, from the means of this run. Returns NULL if there is no
 * memory.
 */
struct storage_state *storage_state_new(const struct arch_storage_model *m, double list_length,
					double concurrency);
void storage_state_free(struct storage_state *s);

/*
 * Adds a request. Returns its response time in seconds, at least 0 (steps I to V). The cost is
 * O(1).
 */
double storage_arrive(struct storage_state *s, double now, const struct storage_request *r);
/* Removes a completed request. */
void storage_leave(struct storage_state *s);
/* Counts the requests for which the model was asked outside its range, and all requests. */
void storage_state_outside(const struct storage_state *s, uint64_t *outside, uint64_t *all);

#endif
