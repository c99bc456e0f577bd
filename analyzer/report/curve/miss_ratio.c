/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/characterize/cache_knee.h"
#include "analyzer/report/curve/miss_ratio.h"

static const struct frame curve_frame = { .width = 370,
					  .height = 260,
					  .left = 54,
					  .top = 30,
					  .right = 360,
					  .bottom = 216 };

/* A cache of no bytes cannot be drawn on a logarithmic axis. */
static const struct cache_point *first_point(const struct profile *p, size_t *nr)
{
	const struct cache_point *points = p->locality.miss_ratio;

	*nr = p->locality.nr_miss_ratio;
	while (*nr && !points->cache_bytes) {
		points++;
		--*nr;
	}
	return points;
}

static void mark_knee(struct buf *out, const struct cache_point *knee, const struct scale *x,
		      const struct scale *y, const struct frame *f)
{
	double at_x = scale_px(x, (double)knee->cache_bytes), at_y = scale_px(y, knee->miss_ratio);
	struct label size, ratio;
	char text[160];
	bool left = at_x > (f->left + f->right) / 2;

	svg_line(out, "rule", at_x, f->top, at_x, f->bottom);
	svg_circle(out, "peak", at_x, at_y, 4);
	snprintf(text, sizeof(text), "knee: %s, %s miss",
		 label_bytes(&size, (double)knee->cache_bytes),
		 label_percent(&ratio, knee->miss_ratio));
	svg_text(out, left ? "note end halo" : "note start halo", at_x + (left ? -8 : 8), at_y - 8,
		 text);
}

int miss_ratio_draw(const struct profile *p, const struct view *v, struct buf *out)
{
	const struct frame *f = &curve_frame;
	struct scale x = {
		.kind = SCALE_LOG, .unit = UNIT_BYTES, .px_from = f->left, .px_to = f->right
	};
	struct scale y = frame_linear(f, 1, UNIT_RATIO);
	size_t nr, knee;
	const struct cache_point *points = first_point(p, &nr);

	if (nr < 2)
		return -ENODATA;
	x.from = (double)points[0].cache_bytes;
	x.to = (double)points[nr - 1].cache_bytes;
	knee = cache_knee(points, nr);
	frame_begin(out, f, v, "figure half", "Miss ratio by cache size",
		    "Share of block references that a cache of a given size, replacing the least "
		    "recently used, would miss.",
		    NULL);
	frame_axes(out, f, &x, &y, "cache", "misses");
	svg_path(out, "line curve");
	for (size_t i = 0; i < nr; i++)
		(i ? svg_line_to : svg_move_to)(out, scale_px(&x, (double)points[i].cache_bytes),
						scale_px(&y, points[i].miss_ratio));
	svg_path_end(out);
	if (knee < nr)
		mark_knee(out, &points[knee], &x, &y, f);
	svg_end(out);
	return out->error;
}

int miss_ratio_csv(const struct profile *p, struct buf *out)
{
	buf_printf(out, "cache_bytes,miss_ratio\n");
	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++)
		buf_printf(out, "%llu,%.6f\n",
			   (unsigned long long)p->locality.miss_ratio[i].cache_bytes,
			   p->locality.miss_ratio[i].miss_ratio);
	return out->error;
}
