/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_week: computes and draws the rhythm of day and week, as a rate for each hour of the week.
 */
#ifndef ANALYZER_REPORT_FLEET_FLEET_WEEK_H
#define ANALYZER_REPORT_FLEET_FLEET_WEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory/buf.h"

#define FLEET_DAYS  7 /* Monday first */
#define FLEET_HOURS 24

struct fleet_hour {
	double requests, watched_s;
};

/* A zeroed struct is an empty week. */
struct fleet_week {
	struct fleet_hour of[FLEET_DAYS][FLEET_HOURS];
};

extern const char *const fleet_day_names[FLEET_DAYS];

/* Adds an hour that begins at real_ns; a fraction of it may have been watched. */
void fleet_week_add(struct fleet_week *w, uint64_t real_ns, bool utc, double requests,
		    double watched_s);
/* Returns requests per second; NaN where the hour was never watched. */
double fleet_week_rate(const struct fleet_hour *h);
/* Appends the picture as SVG. */
void fleet_week_draw(const struct fleet_week *w, struct buf *out);

#endif
