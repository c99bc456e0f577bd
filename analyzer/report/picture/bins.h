/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins: four distributions over the requests of a device, reads and writes apart: how far from
 * the end of the request before a request begins, how many others are under way when it arrives,
 * how long after the one before it arrives, and how long flushes take.
 *
 * Requests come in order of arrival. Each distribution has MIRROR_BINS bins. The requests under way
 * are kept as a heap of their completion times. When a full heap of BINS_UNDER_WAY gets one more,
 * the earliest is dropped. This changes no bin, because the last bin takes every number above 1024.
 * Memory: at most 16 KiB per device.
 */
#ifndef ANALYZER_REPORT_PICTURE_BINS_H
#define ANALYZER_REPORT_PICTURE_BINS_H

#include "analyzer/report/draw/mirror.h"
#include "formats/histogram.h"
#include "formats/request.h"

#define BINS_UNDER_WAY 2048

enum bins_kind { BINS_SEEK, BINS_OUTSTANDING, BINS_INTERARRIVAL, BINS_FLUSH };
#define NR_BINS 4

struct bins {
	double counts[NR_BINS][2][MIRROR_BINS]; /* reads, writes; flushes stand where reads do */
};

/* What is known of the requests before. A zeroed struct is that of a device without requests. */
struct bins_device {
	uint64_t *under_way; /* owned: a heap of completion times, the earliest first */
	size_t nr_under_way, cap_under_way;
	uint64_t end_sector, arrival_ns;
	bool has_before;
};

/* Adds a request of any operation. Returns 0 or -ENOMEM. */
int bins_add(struct bins *s, struct bins_device *d, const struct request *r);
/* Adds the response times of flushes. */
void bins_add_flushes(struct bins *s, const struct histogram *times);
void bins_device_release(struct bins_device *d);

/* Return the name of a distribution in JSON and CSV, and the label of one of its bins. */
const char *bins_name(enum bins_kind kind);
const char *bins_label(enum bins_kind kind, unsigned int bin);

/* Return 0, -ENODATA where nothing was counted, or -ENOMEM. */
int bins_draw(const struct bins *s, enum bins_kind kind, const struct view *v, struct buf *out);
int bins_csv(const struct bins *s, enum bins_kind kind, struct buf *out);

#endif
