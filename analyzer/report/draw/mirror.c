// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/draw/mirror.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * This is the width of a character of a tick label in a wide font (DejaVu Sans), with a part of the
 * gap.
 */
#define CHARACTER_PX 9.0

/* This struct holds what follows from the counts. */
struct mirror_range {
	double total, most; /* most: highest share of a bar */
	unsigned int low, high;
};

static struct mirror_range mirror_range(const struct mirror *m)
{
	struct mirror_range r = { .low = MIRROR_BINS };

	for (unsigned int b = 0; b < MIRROR_BINS; b++) {
		r.total += m->counts[0][b] + m->counts[1][b];
		r.most = fmax(r.most, fmax(m->counts[0][b], m->counts[1][b]));
		if (m->range[0][b] + m->range[1][b] > 0) {
			r.low = b < r.low ? b : r.low;
			r.high = b;
		}
	}
	r.most = r.total > 0 ? r.most / r.total : 0;
	/* A single bar would be as wide as the picture. */
	r.low -= r.high - r.low < 4 && r.low ? 1 : 0;
	r.high += r.high - r.low < 4 && r.high < MIRROR_BINS - 1 ? 1 : 0;
	return r;
}

double mirror_most(const struct mirror *m)
{
	return mirror_range(m).most;
}

static const char *mirror_name(const struct mirror *m, int down)
{
	if (down)
		return m->down ? m->down : "writes";
	return m->up ? m->up : "reads";
}

/* Returns the room that the longest label needs. */
static double mirror_label_px(const struct mirror *m, const struct mirror_range *r)
{
	size_t most = 0;

	for (unsigned int b = r->low; b <= r->high; b++)
		most = strlen(m->labels[b]) > most ? strlen(m->labels[b]) : most;
	return CHARACTER_PX * (double)most;
}

static void mirror_bars(struct buf *out, const struct frame *f, const struct mirror *m,
			const struct mirror_range *r, double middle, double px_per_share)
{
	double wide = (f->right - f->left) / (r->high - r->low + 1), pad = fmin(wide * 0.14, 8);
	unsigned int every = mirror_label_px(m, r) > wide ? 2 : 1;

	for (unsigned int b = r->low; b <= r->high; b++) {
		double x = f->left + (b - r->low) * wide;
		struct label share;
		char tip[160];

		for (int down = 0; down < 2 && mirror_name(m, down)[0]; down++) {
			double ratio = r->total > 0 ? m->counts[down][b] / r->total : 0;
			double height = ratio * px_per_share;

			snprintf(tip, sizeof(tip), "%s up to %s: %s of %s", mirror_name(m, down),
				 m->labels[b], label_percent(&share, ratio), m->of);
			svg_rect(out, down ? "bar write" : "bar read", x + pad,
				 down ? middle : middle - height, wide - 2 * pad, height, tip);
		}
		if ((b - r->low) % every == 0)
			svg_text(out, "tick mid", x + wide / 2, f->bottom + 17, m->labels[b]);
	}
}

static void mirror_axis(struct buf *out, const struct frame *f, const struct mirror *m,
			double middle, const struct scale *y)
{
	struct tick ticks[SCALE_TICKS_MAX];
	size_t nr = scale_ticks(y, 3, ticks);

	for (size_t i = 0; i < nr; i++) {
		double up = middle - scale_px(y, ticks[i].value);

		svg_line(out, "grid", f->left, middle - up, f->right, middle - up);
		svg_text(out, "tick end", f->left - 6, middle - up + 4, ticks[i].label.text);
		if (!i || !mirror_name(m, 1)[0])
			continue;
		svg_line(out, "grid", f->left, middle + up, f->right, middle + up);
		svg_text(out, "tick end", f->left - 6, middle + up + 4, ticks[i].label.text);
	}
}

static void mirror_one(struct buf *out, const struct mirror *m, const struct mirror_range *r,
		       const struct view *v)
{
	bool has_down = mirror_name(m, 1)[0];
	const struct frame *f = &frame_half;
	double middle = has_down ? (f->top + f->bottom) / 2 : f->bottom, half = middle - f->top;
	struct scale y = { .kind = SCALE_LINEAR, .unit = UNIT_RATIO, .to = fmax(r->most, 0.01) };
	char up[64], down[64], name[64];
	const struct legend_entry legend[] = { { LEGEND_BOX, "box read", up },
					       { LEGEND_BOX, "box write", down } };

	snprintf(up, sizeof(up), "%s%s", mirror_name(m, 0), has_down ? ", up" : "");
	snprintf(down, sizeof(down), "%s, down", mirror_name(m, 1));
	scale_round_up(&y);
	frame_begin(out, f, v, "figure half", m->title, m->text, NULL);
	svg_group(out, "axes");
	y.px_from = middle;
	y.px_to = middle - half;
	mirror_axis(out, f, m, middle, &y);
	snprintf(name, sizeof(name), "share of %s", m->of);
	svg_text(out, "name start", 4, f->top - 14, name);
	svg_text(out, "name mid", (f->left + f->right) / 2, f->bottom + 36, m->x_name);
	svg_group_end(out);
	mirror_bars(out, f, m, r, middle, half / y.to);
	svg_line(out, "axis", f->left, middle, f->right, middle);
	frame_legend(out, f, legend, has_down ? 2 : 1);
	svg_end(out);
}

int mirror_draw(const struct mirror *m, const struct view *v, struct buf *out)
{
	struct mirror_range r = mirror_range(m);

	if (r.total <= 0)
		return -ENODATA;
	mirror_one(out, m, &r, v);
	return out->error;
}
