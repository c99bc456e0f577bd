/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus_load: the benchmark of the measured system (Noorshams 2015, 7.3.1): closed clients without
 * think time; each goes through 256 requests of one size in a file of 16 MB drawn from the file
 * set, at random aligned places or one after the other from a random aligned start.
 */
#ifndef SUS_LOAD_H
#define SUS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/models/num/rng.h"
#include "tests/system-under-study/sus_params.h"

#define LOAD_CLASSES 8
#define LOAD_VMS     4

struct load_class {
	unsigned vm;
	bool write, sequential;
	uint32_t clients;
	uint32_t size_bytes; /* a multiple of 512, at most SUS_FILE / 2 */
};

struct load {
	uint32_t files[LOAD_VMS]; /* of the virtual machine's file set */
	unsigned nr_vms, nr_classes;
	struct load_class classes[LOAD_CLASSES];
};

struct client {
	struct rng rng;
	uint32_t class;
	uint32_t left;	/* requests in this file */
	uint64_t file;	/* its first sector */
	uint32_t place; /* of the next sequential request, in requests from the file's beginning */
};

uint32_t load_clients(const struct load *l);
uint64_t load_bytes(const struct load *l);
/* The first byte of a virtual machine's file set; they lie one after the other. */
uint64_t load_base(const struct load *l, unsigned vm);
void client_init(struct client *c, uint32_t class, uint64_t seed, uint32_t number);
/* The first sector of the client's next request. */
uint64_t client_next(struct client *c, const struct load *l);

#endif
