/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect: one pass over the requests, into everything the pictures are drawn from.
 *
 * Requests come in order of time, with all times already on CLOCK_REALTIME, so that hosts share one
 * axis. Memory does not depend on how many there are: at most 8 MB of grids per device and 5 MB for
 * the whole. The profiles that other pictures are drawn from come from characterize/replay.h.
 */
#ifndef ANALYZER_REPORT_COLLECT_H
#define ANALYZER_REPORT_COLLECT_H

#include "analyzer/report/access_map.h"
#include "analyzer/report/heatmap.h"
#include "analyzer/report/inflight.h"
#include "analyzer/report/intensity.h"
#include "analyzer/report/load.h"
#include "analyzer/report/sequence.h"
#include "base/err.h"
#include "formats/profile/profile.h"
#include "workload/hotspot.h"

#define COLLECT_DEVICES 64 /* more are refused: a page of them would help nobody */

struct collect_device {
	char host[PROFILE_NAME_BYTES], device[PROFILE_NAME_BYTES], name[PROFILE_NAME_BYTES];
	char label[2 * PROFILE_NAME_BYTES]; /* "host sda"; the host only where there are several */
	uint64_t nr_requests;
	struct load load;
	struct access_map map;
	struct hotspot hotspot;
	struct sequence_device sequence;
};

struct collect {
	struct heatmap heatmap;
	struct intensity intensity;
	struct load sum;
	struct inflight inflight;
	struct sequence sequence;
	struct collect_device *devices[COLLECT_DEVICES]; /* owned */
	size_t nr_devices;
	uint64_t nr_requests;
	uint64_t begin_ns, end_ns; /* first arrival, last completion */
	struct XXH3_state_s *hash;
};

int collect_new(struct collect **out);
void collect_free(struct collect *c);

struct collect_name {
	const char *host, *device, *name; /* "db1", "8:0", "sda" */
};
/*
 * The index of a device, made where it is new. A device of the same host, number and name in a
 * later trace is the same one. -E2BIG past COLLECT_DEVICES, -ENOMEM.
 */
int collect_device(struct collect *c, const struct collect_name *name, size_t *index,
		   struct err *err);

/* Requests of one device in order of arrival. 0 or -ENOMEM. */
int collect_add(struct collect *c, size_t device, const struct request *requests, size_t nr);

/* The XXH3 hash, 64 bits in hex, of all fields of all requests in the order they were added. */
#define COLLECT_HASH_BYTES 17
void collect_hash(const struct collect *c, char text[COLLECT_HASH_BYTES]);

#endif
