/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale: from a quantity to a place on the picture, and where its ticks go.
 */
#ifndef ANALYZER_REPORT_SCALE_H
#define ANALYZER_REPORT_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/report/gaps.h"
#include "analyzer/report/label.h"

enum scale_kind {
	SCALE_LINEAR,
	SCALE_LOG,  /* from > 0 */
	SCALE_TAIL, /* a share p as -log10(1 - p): 0, 0.9, 0.99, 0.999 at equal distances */
	SCALE_TIME, /* CLOCK_REALTIME ns */
};

struct scale {
	enum scale_kind kind;
	enum unit unit;		     /* of the tick labels; SCALE_TIME has its own */
	double from, to;	     /* values at the two ends, from < to */
	double px_from, px_to;	     /* where they lie; a y axis has px_from > px_to */
	bool utc;		     /* SCALE_TIME */
	const struct time_gap *gaps; /* SCALE_TIME: borrowed, in order; frame_axes() shades them */
	size_t nr_gaps;
};

struct tick {
	double value;
	bool minor; /* a grid line without label */
	struct label label;
};
#define SCALE_TICKS_MAX 48

/* Where v lies; values outside are moved to the nearer end. NaN gives NaN. */
double scale_px(const struct scale *s, double v);
/* Rounds `to` up to the next tick, so that the highest value lies below a labelled line. */
void scale_round_up(struct scale *s);
/* Fills ticks within the scale, rising; returns how many. about: how many labels there is room for. */
size_t scale_ticks(const struct scale *s, size_t about, struct tick ticks[SCALE_TICKS_MAX]);
/* Seconds by which the clock of a SCALE_TIME is ahead of UTC where the axis begins. */
long scale_zone_s(const struct scale *s);
/* What the axis of a SCALE_TIME says: the clock, or, below a second per tick, time since `from`. */
bool scale_time_is_relative(const struct scale *s, size_t about);

#endif
