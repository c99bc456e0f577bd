// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/fleet/fleet_week.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "analyzer/report/draw/label.h"
#include "analyzer/report/draw/svg.h"

#define WEEK_SHADES 10 /* classes h0 to h9 of page.css */
#define WEEK_LEFT   60
#define WEEK_TOP    26
#define WEEK_CELL   28
#define WEEK_GAP    2

const char *const fleet_day_names[FLEET_DAYS] = { "Monday", "Tuesday",	"Wednesday", "Thursday",
						  "Friday", "Saturday", "Sunday" };

void fleet_week_add(struct fleet_week *w, uint64_t real_ns, bool utc, double requests,
		    double watched_s)
{
	time_t at = (time_t)(real_ns / 1000000000u);
	struct fleet_hour *h;
	struct tm tm = { 0 };

	if (utc)
		gmtime_r(&at, &tm);
	else
		localtime_r(&at, &tm);
	h = &w->of[(tm.tm_wday + 6) % FLEET_DAYS][tm.tm_hour];
	h->requests += requests;
	h->watched_s += watched_s;
}

double fleet_week_rate(const struct fleet_hour *h)
{
	return h->watched_s > 0 ? h->requests / h->watched_s : NAN;
}

static double fleet_week_most(const struct fleet_week *w)
{
	double most = 0;

	for (size_t i = 0; i < FLEET_DAYS * FLEET_HOURS; i++)
		most = fmax(most, fleet_week_rate(&w->of[i / FLEET_HOURS][i % FLEET_HOURS]));
	return most;
}

static void fleet_week_cell(const struct fleet_week *w, int day, int hour, double most,
			    struct buf *out)
{
	double rate = fleet_week_rate(&w->of[day][hour]);
	int shade = most > 0 ? (int)fmin(WEEK_SHADES - 1, floor(rate / most * WEEK_SHADES)) : 0;
	char class[16], tip[128];
	struct label l;

	if (isnan(rate))
		return;
	snprintf(class, sizeof(class), "box h%d", shade);
	snprintf(tip, sizeof(tip), "%s %02d:00: %s requests per second", fleet_day_names[day], hour,
		 label_count(&l, rate));
	svg_rect(out, class, WEEK_LEFT + WEEK_CELL * hour, WEEK_TOP + WEEK_CELL * day,
		 WEEK_CELL - WEEK_GAP, WEEK_CELL - WEEK_GAP, tip);
}

void fleet_week_draw(const struct fleet_week *w, struct buf *out)
{
	double most = fleet_week_most(w);
	char words[256];
	struct label l;
	struct svg_head head = { .id = "week",
				 .class = "figure wide",
				 .title = "Requests per second by hour and day of the week",
				 .description = words,
				 .width = SVG_WIDTH,
				 .height = WEEK_TOP + WEEK_CELL * FLEET_DAYS + 10 };

	snprintf(words, sizeof(words),
		 "A row for each day from Monday to Sunday and a column for each hour; stronger in "
		 "colour where there were more requests, up to %s per second. Hours that nobody "
		 "watched are empty.",
		 label_count(&l, most));
	svg_begin(out, &head);
	for (int hour = 0; hour < FLEET_HOURS; hour += 3) {
		snprintf(words, sizeof(words), "%02d:00", hour);
		svg_text(out, "tick start", WEEK_LEFT + WEEK_CELL * hour, WEEK_TOP - 8, words);
	}
	for (int day = 0; day < FLEET_DAYS; day++) {
		snprintf(words, sizeof(words), "%.3s", fleet_day_names[day]);
		svg_text(out, "tick end", WEEK_LEFT - 10, WEEK_TOP + WEEK_CELL * day + 18, words);
		for (int hour = 0; hour < FLEET_HOURS; hour++)
			fleet_week_cell(w, day, hour, most, out);
	}
	svg_end(out);
}
