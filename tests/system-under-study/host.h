/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: one virtual machine's block device with the deadline scheduler of Linux (block/
 * deadline-iosched.c as its documentation describes it): batches of up to fifo_batch requests of
 * one direction in the order of their addresses; reads go before writes, which are passed over at
 * most writes_starved times; who has waited longer than his deadline begins the next batch.
 */
#ifndef SUS_HOST_H
#define SUS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/system-under-study/sus_params.h"

struct host_entry {
	uint64_t address;
	double since;
	uint32_t request;
};

struct host_queue {
	struct host_entry *sorted; /* owned; by address */
	uint32_t nr, cap;
};

struct host {
	const struct sus_params *p;
	struct host_queue queues[2]; /* reads, writes */
	unsigned in_flight, batched, starved;
	bool writing;  /* direction of the batch */
	bool has_next; /* of it ... */
	uint64_t next; /* ... at this address or above */
};

/* Room for nr waiting requests of each direction. 0 or -ENOMEM. */
int host_init(struct host *h, const struct sus_params *p, uint32_t nr);
void host_release(struct host *h);
void host_add(struct host *h, uint32_t request, bool write, uint64_t address, double now);
/*
 * The request to send to the array next, while the queue depth allows one; false: none. O(waiting).
 */
bool host_dispatch(struct host *h, double now, uint32_t *request);
void host_done(struct host *h);

#endif
