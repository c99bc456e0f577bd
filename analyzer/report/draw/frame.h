/* SPDX-License-Identifier: Apache-2.0 */
/* frame: draws the parts that all pictures share: the period, the axes, the legend. */
#ifndef ANALYZER_REPORT_DRAW_FRAME_H
#define ANALYZER_REPORT_DRAW_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/report/draw/scale.h"
#include "analyzer/report/draw/svg.h"
#include "analyzer/report/draw/timegrid.h"

struct time_objectives;

/* This struct is the period that every picture over time shows, on CLOCK_REALTIME. */
struct view {
	uint64_t begin_ns, end_ns; /* whole columns; begin < end */
	uint64_t step_ns;	   /* width of the drawn columns */
	bool utc;
	const char *id;		     /* id of the picture within its page; unique */
	const struct time_gap *gaps; /* borrowed; the times in which nobody watched, in order */
	size_t nr_gaps;
	const struct time_objectives *objectives; /* borrowed; NULL: none are drawn */
	const char *rate; /* NULL, or "requests" or "bytes", which the y axis shows per second */
};

/* At most this many columns of time are drawn and written as CSV ... */
#define FRAME_COLUMNS 640
/* ... and they are summed from at most this many columns during the collection. */
#define FRAME_FINE_COLUMNS 3000

/* This struct says where the plot lies in a picture of the usual size. */
struct frame {
	double width, height;		 /* of the picture */
	double left, top, right, bottom; /* edges of the plot within it */
};
extern const struct frame frame_wide; /* a picture over time, as wide as the page */
extern const struct frame frame_half; /* one of two pictures side by side */

/* Return the time axis of a view over a frame, and a linear axis from 0 to at least `to`. */
struct scale frame_time(const struct frame *f, const struct view *v);
struct scale frame_linear(const struct frame *f, double to, enum unit unit);

/*
 * Draws grid lines, tick labels and the names of the axes. The name of the y axis stands above the
 * axis. For a time axis x_name is NULL, and the function makes the name. x may be NULL if there are
 * no ticks below.
 */
void frame_axes(struct buf *out, const struct frame *f, const struct scale *x,
		const struct scale *y, const char *x_name, const char *y_name);

/* This struct is one entry of a legend: a mark of that class, and its name. */
struct legend_entry {
	enum { LEGEND_BOX, LEGEND_LINE, LEGEND_TALL, LEGEND_DOT } shape;
	const char *class, *name;
};
/* Draws the legend in one row above the plot, ending at its right edge. */
void frame_legend(struct buf *out, const struct frame *f, const struct legend_entry *entries,
		  size_t nr);

/*
 * Writes the svg tag of a picture over time, with the data that the hover display needs about its x
 * axis.
 */
void frame_begin(struct buf *out, const struct frame *f, const struct view *v, const char *class,
		 const char *title, const char *description, const struct scale *x);

/*
 * Converts a grid to the columns of the view. wide is initialized here and released by the caller.
 * Returns 0, -ENODATA for an empty grid, or -ENOMEM.
 */
int frame_columns(const struct timegrid *grid, const struct view *v, struct timegrid *wide);

/* Chooses the period and columns for a grid that counted all of nr_requests. */
void frame_view(const struct timegrid *grid, uint64_t nr_requests, struct view *v);
/* Chooses columns of this width, and the period that they take together. */
void frame_view_step(const struct timegrid *grid, uint64_t step_ns, struct view *v);

/*
 * Writes seconds since the epoch with three decimals, or more where columns are narrow, as in every
 * CSV.
 */
void frame_csv_time(struct buf *out, uint64_t real_ns);

#endif
