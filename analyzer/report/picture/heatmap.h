/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap: how long requests took, over time: a count for every column of time and row of latency.
 *
 * A row is a quarter of an octave high. Rows reach from 10 us to 10.5 s, with one more row for
 * lower and one for higher latencies. Columns are those of a timegrid. Only reads and writes with a
 * known response time are counted, at their arrival.
 */
#ifndef ANALYZER_REPORT_PICTURE_HEATMAP_H
#define ANALYZER_REPORT_PICTURE_HEATMAP_H

#include "analyzer/report/draw/frame.h"

#define HEATMAP_PER_OCTAVE 4
#define HEATMAP_OCTAVES	   20
#define HEATMAP_ROWS	   (HEATMAP_PER_OCTAVE * HEATMAP_OCTAVES + 2)
#define HEATMAP_LOWEST_NS  10000ull

struct heatmap {
	struct timegrid grid; /* HEATMAP_ROWS counts per column */
};

void heatmap_init(struct heatmap *h);
void heatmap_release(struct heatmap *h);

/* Returns the row of a latency: 0 below 10 us, HEATMAP_ROWS - 1 above the last octave. */
unsigned int heatmap_row(uint64_t latency_ns);
/* Returns where a row begins, inclusive, in ns; 0 for row 0. */
uint64_t heatmap_row_begin_ns(unsigned int row);

/* Returns 0 or -ENOMEM. */
int heatmap_add(struct heatmap *h, uint64_t arrival_ns, uint64_t latency_ns);

/*
 * These are the shares of the slowest requests that the three choices leave out, in the order of
 * the buttons.
 */
#define HEATMAP_CROPS 3
extern const double heatmap_crop_ratio[HEATMAP_CROPS];
/*
 * Returns the topmost row to show when at most this share of the requests may lie above it.
 * *nr_above is their number.
 */
unsigned int heatmap_crop_row(const struct heatmap *h, double crop_ratio, uint64_t *nr_above);

/* Returns 0, -ENODATA where no response time is known, or -ENOMEM. */
int heatmap_draw(const struct heatmap *h, const struct view *v, struct buf *out);
int heatmap_csv(const struct heatmap *h, const struct view *v, struct buf *out);

#endif
