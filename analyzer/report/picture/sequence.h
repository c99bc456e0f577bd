/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence: the interleaved-sequential ratio over time, separately for reads and writes.
 *
 * Algorithm 1 (workload/sequential.h) runs over the whole trace of a device and direction. A pair
 * of requests counts in the column in which its second request arrived. At the border of two
 * columns a column can thus get a request of its neighbour, so its ratio is limited to 1.
 */
#ifndef ANALYZER_REPORT_PICTURE_SEQUENCE_H
#define ANALYZER_REPORT_PICTURE_SEQUENCE_H

#include "analyzer/report/draw/frame.h"
#include "formats/request.h"
#include "workload/sequential.h"

/* The rows of the grid are: reads, reads counted, writes, writes counted. */
struct sequence {
	struct timegrid grid;
};
/* This struct holds the state for one device. */
struct sequence_device {
	struct sequential direction[2];
};

void sequence_init(struct sequence *s);
void sequence_release(struct sequence *s);
void sequence_device_init(struct sequence_device *d);
void sequence_device_release(struct sequence_device *d);
/* Adds a read or write of that device, in order of arrival. Returns 0 or -ENOMEM. */
int sequence_add(struct sequence *s, struct sequence_device *d, uint64_t arrival_ns,
		 const struct request *r);

/*
 * Adds reads and writes (in that order) of a period. Only the shares that continue another request
 * are known; NaN means an unknown share. Returns 0 or -ENOMEM.
 */
int sequence_spread(struct sequence *s, uint64_t begin_ns, uint64_t end_ns,
		    const uint64_t requests[2], const double ratio[2]);

/* Returns how many requests of a column, reads and writes together, continue another one. */
double sequence_counted(const uint64_t *cells);

/* Return 0, -ENODATA or -ENOMEM. */
int sequence_draw(const struct sequence *s, const struct view *v, struct buf *out);
int sequence_csv(const struct sequence *s, const struct view *v, struct buf *out);

#endif
