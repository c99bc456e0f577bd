/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "analyzer/report/draw/scale.h"

#define NS_PER_S 1e9

static double scale_flat(enum scale_kind kind, double v)
{
	if (kind == SCALE_LOG)
		return log2(v);
	if (kind == SCALE_TAIL)
		return -log10(1 - v);
	return v;
}

double scale_px(const struct scale *s, double v)
{
	double from, to;

	if (isnan(v))
		return v;
	v = fmin(fmax(v, s->from), s->to);
	from = scale_flat(s->kind, s->from);
	to = scale_flat(s->kind, s->to);
	return s->px_from + (scale_flat(s->kind, v) - from) / (to - from) * (s->px_to - s->px_from);
}

/*
 * Chooses 1, 2 or 5 times a power of ten (for bytes a power of two) that gives about this many
 * steps.
 */
static double round_step(const struct scale *s, size_t about)
{
	double rough = (s->to - s->from) / (double)about, ten;

	if (s->unit == UNIT_BYTES)
		return fmax(exp2(ceil(log2(rough))), 1);
	ten = pow(10, floor(log10(rough)));
	for (int i = 0; i < 3; i++) {
		static const double factor[] = { 1, 2, 5 };

		if (factor[i] * ten >= rough * 0.999)
			return factor[i] * ten;
	}
	return 10 * ten;
}

void scale_round_up(struct scale *s)
{
	double step = round_step(s, 5);

	s->to = ceil(s->to / step * (1 - 1e-9)) * step;
}

static size_t scale_add(struct tick *ticks, size_t nr, double value, bool minor)
{
	if (nr < SCALE_TICKS_MAX)
		ticks[nr++] = (struct tick){ .value = value, .minor = minor };
	return nr;
}

static size_t linear_ticks(const struct scale *s, size_t about, struct tick *ticks)
{
	double step = round_step(s, about), first = ceil(s->from / step - 1e-9);
	size_t nr = 0;

	for (double k = first; k * step <= s->to + step * 1e-6; k++)
		nr = scale_add(ticks, nr, k * step + 0.0, false); /* avoids -0 */
	return nr;
}

/* Places ticks at decades of seconds and counts; for bytes at every 1, 2, 4, ... octaves. */
static size_t log_ticks(const struct scale *s, size_t about, struct tick *ticks)
{
	bool binary = s->unit == UNIT_BYTES;
	double base = binary ? 2 : 10;
	double first = ceil(log(s->from) / log(base) - 1e-9);
	double last = floor(log(s->to) / log(base) + 1e-9);
	int every = 1, within = !binary && (last - first) * 2 < (double)about;
	size_t nr = 0;

	while ((last - first) / every > (double)about)
		every++;
	if (within) /* Where there are few decades, 2 and 5 get labels too. */
		first--;
	for (double k = first; k <= last; k++) {
		static const double factor[] = { 1, 2, 5 };

		for (int i = 0; i < (within ? 3 : 1); i++) {
			double v = pow(base, k) * factor[i];

			/* Lines without labels help only where there are few. */
			if (every > 2 && fmod(k, every) != 0)
				continue;
			if (v >= s->from * (1 - 1e-9) && v <= s->to * (1 + 1e-9))
				nr = scale_add(ticks, nr, v, fmod(k, every) != 0);
		}
	}
	return nr;
}

static size_t tail_ticks(const struct scale *s, struct tick *ticks)
{
	static const double shares[] = { 0, 0.5, 0.9, 0.99, 0.999, 0.9999 };
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (shares[i] <= s->to) {
			nr = scale_add(ticks, nr, shares[i], false);
			snprintf(ticks[nr - 1].label.text, sizeof(ticks->label.text),
				 "%.4g\u202f%%", shares[i] * 100);
		}
	return nr;
}

static double time_step(const struct scale *s, size_t about)
{
	static const double steps_s[] = { 1,	  2,	  5,	   10,	    15,	   30,
					  60,	  120,	  300,	   600,	    900,   1800,
					  3600,	  7200,	  10800,   21600,   43200, 86400,
					  172800, 604800, 2592000, 31536000 };
	double span = s->to - s->from, rough = span / (double)about;
	struct scale fine = *s;

	for (size_t i = 0; i < sizeof(steps_s) / sizeof(steps_s[0]) && rough > NS_PER_S / 2; i++)
		if (steps_s[i] * NS_PER_S >= rough)
			return steps_s[i] * NS_PER_S;
	fine.unit = UNIT_COUNT;
	return round_step(&fine, about);
}

bool scale_time_is_relative(const struct scale *s, size_t about)
{
	return time_step(s, about) < NS_PER_S;
}

static size_t relative_ticks(const struct scale *s, size_t about, struct tick *ticks)
{
	double step = time_step(s, about);
	size_t nr = 0;

	for (double k = 0; s->from + k * step <= s->to + step * 1e-6; k++) {
		nr = scale_add(ticks, nr, s->from + k * step, false);
		label_duration(&ticks[nr - 1].label, k * step / NS_PER_S);
	}
	return nr;
}

long scale_zone_s(const struct scale *s)
{
	time_t t = (time_t)(s->from / NS_PER_S);
	struct tm tm;

	return !s->utc && localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

/* Places ticks at whole minutes, hours and days of the reader's clock, and not of UTC. */
static size_t clock_ticks(const struct scale *s, size_t about, struct tick *ticks)
{
	double step = time_step(s, about), ahead = (double)scale_zone_s(s) * NS_PER_S;
	size_t nr = 0;

	for (double k = ceil((s->from + ahead) / step); k * step - ahead <= s->to; k++) {
		double v = k * step - ahead;

		nr = scale_add(ticks, nr, v, false);
		label_clock(&ticks[nr - 1].label, (uint64_t)v, step < 60 * NS_PER_S ? 0 : -1,
			    s->utc);
		if (step >= 86400 * NS_PER_S)
			label_date(&ticks[nr - 1].label, (uint64_t)v, s->utc);
	}
	return nr;
}

size_t scale_ticks(const struct scale *s, size_t about, struct tick ticks[SCALE_TICKS_MAX])
{
	size_t nr;

	if (s->kind == SCALE_TIME)
		return scale_time_is_relative(s, about) ? relative_ticks(s, about, ticks)
							: clock_ticks(s, about, ticks);
	if (s->kind == SCALE_TAIL)
		return tail_ticks(s, ticks);
	nr = s->kind == SCALE_LOG ? log_ticks(s, about, ticks) : linear_ticks(s, about, ticks);
	for (size_t i = 0; i < nr; i++)
		label_quantity(&ticks[i].label, s->unit, ticks[i].value);
	return nr;
}
