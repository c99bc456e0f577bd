/* SPDX-License-Identifier: Apache-2.0 */
/* scale: maps a quantity to a coordinate of the picture, and places its ticks. */
#ifndef ANALYZER_REPORT_DRAW_SCALE_H
#define ANALYZER_REPORT_DRAW_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/report/draw/gaps.h"
#include "analyzer/report/draw/label.h"

enum scale_kind {
	SCALE_LINEAR,
	SCALE_LOG, /* logarithmic; from > 0 */
	/*
	 * a share p is drawn at -log10(1 - p), so that 0, 0.9, 0.99 and 0.999 have equal distances
	 */
	SCALE_TAIL,
	SCALE_TIME, /* CLOCK_REALTIME in ns */
};

struct scale {
	enum scale_kind kind;
	enum unit unit;	       /* unit of the tick labels; SCALE_TIME has its own */
	double from, to;       /* values at the two ends, from < to */
	double px_from, px_to; /* coordinates of the two ends; a y axis has px_from > px_to */
	bool utc;	       /* for SCALE_TIME */
	/* for SCALE_TIME; borrowed, in order; frame_axes() shades them */
	const struct time_gap *gaps;
	size_t nr_gaps;
};

struct tick {
	double value;
	bool minor; /* a grid line without label */
	struct label label;
};
#define SCALE_TICKS_MAX 48

/* Returns the coordinate of v. A value outside is moved to the nearer end. NaN gives NaN. */
double scale_px(const struct scale *s, double v);
/* Rounds `to` up to the next tick, so that the highest value lies below a labelled line. */
void scale_round_up(struct scale *s);
/*
 * Fills ticks within the scale in ascending order, and returns their number. about is how many
 * labels fit.
 */
size_t scale_ticks(const struct scale *s, size_t about, struct tick ticks[SCALE_TICKS_MAX]);
/*
 * Returns the seconds by which the clock of a SCALE_TIME is ahead of UTC at the begin of the axis.
 */
long scale_zone_s(const struct scale *s);
/*
 * Returns whether the axis of a SCALE_TIME shows the time since `from`, which it does below a
 * second per tick, instead of the clock.
 */
bool scale_time_is_relative(const struct scale *s, size_t about);

#endif
