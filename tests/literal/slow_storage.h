/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_storage: closed storage systems simulated request by request, the plain way: the independent
 * answer that storage models are calibrated on and held against. Clients do not think.
 */
#ifndef TESTS_SLOW_STORAGE_H
#define TESTS_SLOW_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/histogram.h"

struct slow_server {
	double mean_s, sd_s; /* gamma */
};

/* A cache, and an array that a share `miss` goes on to; both FCFS. Response times into h. */
void slow_tandem(struct histogram *h, unsigned clients, struct slow_server cache,
		 struct slow_server array, double miss, size_t nr_requests, uint64_t seed);

/* One server; who comes next is drawn by the weights of the classes that wait. */
struct slow_class {
	unsigned clients;
	double weight;
	struct slow_server service;
	double mean_s; /* out: of the response times */
};
void slow_mix(struct slow_class *classes, size_t nr, size_t nr_requests, uint64_t seed);

/*
 * Classes of two VMs or more, each of which lets `depth` requests on: they pass a latency, a server
 * that all share and that of their type. mean_s of each class is set.
 */
struct slow_part_class {
	unsigned vm, clients;
	int write;
	double weight, latency_s;
	struct slow_server shared, own;
	double mean_s; /* out */
};
void slow_parts(struct slow_part_class *classes, size_t nr, unsigned depth, size_t nr_requests,
		uint64_t seed);

#endif
