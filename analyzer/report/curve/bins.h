/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins: four distributions of a profile, reads and writes apart: how far from the end of the
 * request before a request begins, how many others are under way when it arrives, how long after
 * the one before it arrives, and how long flushes take.
 *
 * The first three are sums of the tallies of a profile (formats/profile/arrival_tally.h), and are
 * the same whether the requests still exist or retention has removed them. Those of flushes are
 * sums of their response times, by the upper ends of the histogram's buckets. Requests of unknown
 * direction stand where reads do.
 */
#ifndef ANALYZER_REPORT_CURVE_BINS_H
#define ANALYZER_REPORT_CURVE_BINS_H

#include "analyzer/report/draw/mirror.h"
#include "formats/profile/profile.h"

enum bins_kind { BINS_SEEK, BINS_OUTSTANDING, BINS_INTERARRIVAL, BINS_FLUSH };
#define NR_BINS 4

struct bins {
	double counts[NR_BINS][2][MIRROR_BINS]; /* reads, writes; flushes stand where reads do */
};

/* Adds the tallies of reads (side 0) or of writes (side 1). */
void bins_add_tallies(struct bins *s, const struct arrival_tally tallies[NR_TALLIES], int side);
/* Adds the response times of flushes. */
void bins_add_flushes(struct bins *s, const struct histogram *times);
/* Adds the tallies of both, and the response times of flushes. */
void bins_add_profile(struct bins *s, const struct profile *p);

/* Return the name of a distribution in JSON and CSV, and the label of one of its bins. */
const char *bins_name(enum bins_kind kind);
const char *bins_label(enum bins_kind kind, unsigned int bin);

/* Return 0, -ENODATA where nothing was counted, or -ENOMEM. */
int bins_draw(const struct bins *s, enum bins_kind kind, const struct view *v, struct buf *out);
int bins_csv(const struct bins *s, enum bins_kind kind, struct buf *out);

#endif
