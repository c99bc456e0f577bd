/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect: one pass over the requests, which collects everything that the pictures are drawn from.
 *
 * Requests come in order of time, with all times already on CLOCK_REALTIME, so that all hosts share
 * one axis. Memory does not depend on the number of requests: at most 8 MB of grids per device and
 * 5 MB for the whole. The profiles that other pictures are drawn from come from
 * characterize/replay.h.
 */
#ifndef ANALYZER_REPORT_COLLECT_COLLECT_H
#define ANALYZER_REPORT_COLLECT_COLLECT_H

#include "analyzer/report/collect/slo.h"
#include "analyzer/report/picture/access_map.h"
#include "analyzer/report/picture/heatmap.h"
#include "analyzer/report/picture/inflight.h"
#include "analyzer/report/picture/intensity.h"
#include "analyzer/report/picture/load.h"
#include "analyzer/report/picture/sequence.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"
#include "workload/hotspot.h"

#define COLLECT_DEVICES 64 /* more devices are refused, because nobody could read a page of them */

struct collect_device {
	char host[PROFILE_NAME_BYTES], device[PROFILE_NAME_BYTES], name[PROFILE_NAME_BYTES];
	/* "host sda"; the host is named only where there are several */
	char label[2 * PROFILE_NAME_BYTES];
	char file_system[PROFILE_NAME_BYTES]; /* "": unknown */
	uint64_t size_bytes;		      /* 0: unknown */
	uint64_t nr_requests;
	struct load load;
	struct access_map map;
	struct hotspot hotspot;
	struct sequence_device sequence;
	struct slo_device slo;
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
	uint64_t begin_ns, end_ns; /* first arrival and last completion */
	/* what was added from profiles, because retention removed the requests (retired.h) */
	struct {
		uint64_t nr_requests, nr_profiles, begin_ns, end_ns, longest_ns;
	} retired;
	struct XXH3_state_s *hash;
	/* borrowed; NULL: there are none; set before the first device is added */
	const struct time_objectives *objectives;
};

int collect_new(struct collect **out);
void collect_free(struct collect *c);

struct collect_name {
	const char *host, *device, *name; /* such as "db1", "8:0" and "sda" */
};
/*
 * Finds the index of a device, which is added where it is new. A device of the same host, number
 * and name in a later trace is the same device. Returns 0, -E2BIG above COLLECT_DEVICES, or
 * -ENOMEM.
 */
int collect_device(struct collect *c, const struct collect_name *name, size_t *index,
		   struct err *err);

/* Adds requests of one device in order of arrival. Returns 0 or -ENOMEM. */
int collect_add(struct collect *c, size_t device, const struct request *requests, size_t nr);

/*
 * The hash is XXH3, 64 bits in hexadecimal, over all fields of all requests in the order in which
 * they were added.
 */
#define COLLECT_HASH_BYTES 17
void collect_hash(const struct collect *c, char text[COLLECT_HASH_BYTES]);

#endif
