/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heatmap: how long requests took, over time: a count for every column of time and row of latency.
 *
 * Rows are a quarter of an octave high, from 10 us to 10.5 s, with one row for what is below and
 * one for what is above. Columns are those of a timegrid. Only reads and writes whose response
 * time is known are counted, at their arrival.
 */
#ifndef ANALYZER_REPORT_HEATMAP_H
#define ANALYZER_REPORT_HEATMAP_H

#include "analyzer/report/frame.h"

#define HEATMAP_PER_OCTAVE 4
#define HEATMAP_OCTAVES	   20
#define HEATMAP_ROWS	   (HEATMAP_PER_OCTAVE * HEATMAP_OCTAVES + 2)
#define HEATMAP_LOWEST_NS  10000ull

struct heatmap {
	struct timegrid grid; /* HEATMAP_ROWS counts per column */
};

void heatmap_init(struct heatmap *h);
void heatmap_release(struct heatmap *h);

/* The row of a latency: 0 below 10 us, HEATMAP_ROWS - 1 above the last octave. */
unsigned int heatmap_row(uint64_t latency_ns);
/* Where a row begins, in ns: inclusive, 0 for row 0. */
uint64_t heatmap_row_begin_ns(unsigned int row);

/* 0 or -ENOMEM. */
int heatmap_add(struct heatmap *h, uint64_t arrival_ns, uint64_t latency_ns);

/* How much of the slow end each choice leaves out, in the order of the buttons. */
#define HEATMAP_CROPS 3
extern const double heatmap_crop_ratio[HEATMAP_CROPS];
/*
 * The topmost row that is shown when at most that share of the requests may lie above it.
 * *nr_above: how many do.
 */
unsigned int heatmap_crop_row(const struct heatmap *h, double crop_ratio, uint64_t *nr_above);

/* 0, -ENODATA where no response time is known, -ENOMEM. */
int heatmap_draw(const struct heatmap *h, const struct view *v, struct buf *out);
int heatmap_csv(const struct heatmap *h, const struct view *v, struct buf *out);

#endif
