/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/picture/access_map.h"

#define FIRST_SHIFT 12 /* a region has at least 4 KiB */
#define LEVELS	    6  /* shades of density: classes d0 to d5, beside read or write */
#define MAX_BYTES   (UINT64_MAX / SECTOR_BYTES)

static const struct frame map_frame = { .width = SVG_WIDTH,
					.height = 330,
					.left = 76,
					.top = 30,
					.right = 748,
					.bottom = 286 };

/* Reads are drawn above writes where both are shaded. */
static const struct frame upper_frame = { .width = SVG_WIDTH,
					  .height = 440,
					  .left = 76,
					  .top = 30,
					  .right = 748,
					  .bottom = 190 };
static const struct frame lower_frame = { .width = SVG_WIDTH,
					  .height = 440,
					  .left = 76,
					  .top = 238,
					  .right = 748,
					  .bottom = 398 };

void access_map_init(struct access_map *m)
{
	*m = (struct access_map){ .row_shift = FIRST_SHIFT };
	timegrid_init(&m->grid, 2 * ACCESS_ROWS, FRAME_FINE_COLUMNS);
}

void access_map_release(struct access_map *m)
{
	timegrid_release(&m->grid);
	free(m->points);
	*m = (struct access_map){ 0 };
}

/*
 * Moves the rows of one direction in one column to the positions that `first` and `shift` require.
 */
static void access_map_regroup(uint64_t *rows, uint64_t old_first, uint64_t first,
			       unsigned int shift)
{
	uint64_t sums[ACCESS_ROWS] = { 0 };

	for (uint64_t r = 0; r < ACCESS_ROWS; r++)
		if (rows[r])
			sums[((old_first + r) >> shift) - first] += rows[r];
	memcpy(rows, sums, sizeof(sums));
}

/* Finds the lowest and highest non-empty row, as regions counted from byte 0. */
static void access_map_occupied(const struct access_map *m, uint64_t *low, uint64_t *high)
{
	unsigned int from = ACCESS_ROWS, to = 0;

	for (size_t c = 0; c < m->grid.nr; c++)
		for (unsigned int r = 0; r < ACCESS_ROWS; r++) {
			const uint64_t *column = timegrid_column(&m->grid, c);

			if (!column[r] && !column[ACCESS_ROWS + r])
				continue;
			from = r < from ? r : from;
			to = r > to ? r : to;
		}
	*low = m->first_row + from;
	*high = m->first_row + to;
}

/* Widens the regions until `region` and all that were seen fit into the rows. */
static void make_fit(struct access_map *m, uint64_t region)
{
	uint64_t low, high, first;
	unsigned int shift = 0;

	access_map_occupied(m, &low, &high);
	low = region < low ? region : low;
	high = region > high ? region : high;
	while ((high >> shift) - (low >> shift) >= ACCESS_ROWS)
		shift++;
	/*
	 * Free rows are divided equally between the lower and the upper end, as far as the lower
	 * end allows.
	 */
	first = low >> shift;
	first -= first < (ACCESS_ROWS - 1 - ((high >> shift) - first)) / 2
			 ? first
			 : (ACCESS_ROWS - 1 - ((high >> shift) - first)) / 2;
	for (size_t c = 0; c < m->grid.nr; c++) {
		uint64_t *column = m->grid.cells + c * m->grid.rows;

		access_map_regroup(column, m->first_row, first, shift);
		access_map_regroup(column + ACCESS_ROWS, m->first_row, first, shift);
	}
	m->first_row = first;
	m->row_shift += shift;
}

static int keep_point(struct access_map *m, uint64_t t_ns, uint64_t offset_bytes, bool write)
{
	if (m->crowded)
		return 0;
	if (m->nr_points == ACCESS_POINTS) {
		free(m->points);
		m->points = NULL;
		m->nr_points = 0;
		m->crowded = true;
		return 0;
	}
	if (!m->points)
		m->points = reallocarray(NULL, ACCESS_POINTS, sizeof(*m->points));
	if (!m->points)
		return -ENOMEM;
	m->points[m->nr_points++] =
		(struct access_point){ .t_ns = t_ns, .offset_bytes = offset_bytes, .write = write };
	return 0;
}

int access_map_add(struct access_map *m, uint64_t arrival_ns, uint64_t sector, bool write)
{
	uint64_t offset = (sector < MAX_BYTES ? sector : MAX_BYTES) * SECTOR_BYTES;
	uint64_t region = offset >> m->row_shift;
	uint64_t *column = timegrid_at(&m->grid, arrival_ns);
	int ret = column ? keep_point(m, arrival_ns, offset, write) : -ENOMEM;

	if (ret)
		return ret;
	if (!m->started) {
		m->first_row = region < ACCESS_ROWS / 2 ? 0 : region - ACCESS_ROWS / 2;
		m->started = true;
	}
	if (region < m->first_row || region - m->first_row >= ACCESS_ROWS) {
		make_fit(m, region);
		region = offset >> m->row_shift;
	}
	column[(write ? ACCESS_ROWS : 0) + region - m->first_row]++;
	return 0;
}

struct picture {
	const struct access_map *map;
	const struct timegrid *grid;
	struct scale x, y;
	unsigned int low, high; /* lowest and highest non-empty row */
};

/*
 * Draws marks on a grid of half units: reads lie, writes stand. One bit per position notes what is
 * drawn, which bounds the size of the page.
 */
static int access_map_marks(struct buf *out, const struct picture *p, bool write)
{
	size_t width = 2 * SVG_WIDTH, height = 2 * (size_t)map_frame.height;
	uint8_t *seen = calloc(width * height, 1);

	if (!seen)
		return -ENOMEM;
	svg_path(out, write ? "mark write" : "mark read");
	for (size_t i = 0; i < p->map->nr_points; i++) {
		const struct access_point *q = &p->map->points[i];
		double x = scale_px(&p->x, (double)q->t_ns);
		double y = scale_px(&p->y, (double)q->offset_bytes);
		size_t place = (size_t)(2 * y) * width + (size_t)(2 * x);

		if (q->write != write || place >= width * height || seen[place])
			continue;
		seen[place] = 1;
		svg_move_to(out, floor(2 * x) / 2 - (write ? 0 : 1.2),
			    floor(2 * y) / 2 - (write ? 1.2 : 0));
		buf_printf(out, write ? "v2.4" : "h2.4");
	}
	svg_path_end(out);
	free(seen);
	return 0;
}

static int level_of(uint64_t count, uint64_t most)
{
	if (!count)
		return -1;
	if (most <= 1)
		return LEVELS - 1;
	return (int)fmin(LEVELS - 1, floor(LEVELS * log((double)count) / log((double)most)));
}

static void access_map_density(struct buf *out, const struct picture *p, bool write, uint64_t most)
{
	const struct timegrid *g = p->grid;
	size_t base = write ? ACCESS_ROWS : 0;

	for (int level = 0; level < LEVELS; level++) {
		buf_printf(out, "<path class=\"cell %s d%d\" d=\"", write ? "write" : "read",
			   level);
		for (unsigned int row = p->low; row <= p->high; row++)
			for (size_t c = 0, run; c < g->nr; c += run ? run : 1) {
				for (run = 0; c + run < g->nr; run++)
					if (level_of(timegrid_column(g, c + run)[base + row],
						     most) != level)
						break;
				if (run)
					buf_printf(out, "M%zu %u.5h%zu", c, p->high - row, run);
			}
		buf_printf(out, "\"/>\n");
	}
}

/* Each direction gets a plot of its own, because two overlapping colours cannot be read. */
static void access_map_shaded(struct buf *out, const struct picture *p, bool write)
{
	const struct timegrid *g = p->grid;
	double from = scale_px(&p->x, (double)timegrid_begin_ns(g));
	double to = scale_px(&p->x, (double)timegrid_end_ns(g));
	uint64_t most = 0;

	for (size_t i = 0; i < g->nr * g->rows; i++)
		most = g->cells[i] > most ? g->cells[i] : most;
	buf_printf(out,
		   "<svg x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" "
		   "viewBox=\"0 0 %zu %u\" preserveAspectRatio=\"none\">\n",
		   from, p->y.px_to, to - from, p->y.px_from - p->y.px_to, g->nr,
		   p->high - p->low + 1);
	access_map_density(out, p, write, most);
	buf_printf(out, "</svg>\n");
}

static void find_rows(struct picture *p)
{
	uint64_t low, high, bytes = 1ull << p->map->row_shift;

	access_map_occupied(p->map, &low, &high);
	p->low = (unsigned int)(low - p->map->first_row);
	p->high = (unsigned int)(high - p->map->first_row);
	p->y = (struct scale){ .kind = SCALE_LINEAR,
			       .unit = UNIT_BYTES,
			       .from = (double)low * (double)bytes,
			       .to = (double)(high + 1) * (double)bytes,
			       .px_from = map_frame.bottom,
			       .px_to = map_frame.top };
}

static void access_map_describe(const struct picture *p, char *text, size_t len)
{
	struct label low, high, region;

	snprintf(text, len,
		 "Offset on the device against time, from %s to %s: %s in regions of %s; reads and "
		 "writes apart.",
		 label_bytes(&low, p->y.from), label_bytes(&high, p->y.to),
		 p->map->crowded ? "shaded by the number of requests" : "one mark per request",
		 label_bytes(&region, exp2(p->map->row_shift)));
}

static int access_map_columns(const struct access_map *m, const struct view *v, struct timegrid *g)
{
	struct view coarse = *v;

	if (m->grid.nr && timegrid_step_for(&m->grid, ACCESS_COLUMNS) > v->step_ns)
		coarse.step_ns = timegrid_step_for(&m->grid, ACCESS_COLUMNS);
	return frame_columns(&m->grid, &coarse, g);
}

static void draw_crowded(struct buf *out, struct picture *p)
{
	for (int write = 0; write < 2; write++) {
		const struct frame *f = write ? &lower_frame : &upper_frame;

		p->y.px_from = f->bottom;
		p->y.px_to = f->top;
		frame_axes(out, f, &p->x, &p->y, write ? NULL : "",
			   write ? "writes, offset on the device" : "reads, offset on the device");
		access_map_shaded(out, p, write);
	}
}

static int draw_points(struct buf *out, struct picture *p)
{
	const struct legend_entry legend[] = { { LEGEND_LINE, "mark read", "read" },
					       { LEGEND_TALL, "mark write", "write" } };
	int ret;

	frame_axes(out, &map_frame, &p->x, &p->y, NULL, "offset on the device");
	frame_legend(out, &map_frame, legend, 2);
	ret = access_map_marks(out, p, false);
	return ret ? ret : access_map_marks(out, p, true);
}

int access_map_draw(const struct access_map *m, const struct view *v, struct buf *out)
{
	const struct frame *whole = m->crowded ? &lower_frame : &map_frame;
	struct timegrid g;
	struct picture p = { .map = m, .grid = &g, .x = frame_time(whole, v) };
	char text[320];
	int ret = access_map_columns(m, v, &g);

	if (ret)
		return ret;
	find_rows(&p);
	access_map_describe(&p, text, sizeof(text));
	frame_begin(out, whole, v, "figure wide", "Access map", text, &p.x);
	if (m->crowded)
		draw_crowded(out, &p);
	else
		ret = draw_points(out, &p);
	svg_end(out);
	timegrid_release(&g);
	return ret ? ret : out->error;
}

/*
 * Writes one line per column of time: reads, then writes, of every region between the outermost
 * ones.
 */
int access_map_csv(const struct access_map *m, const struct view *v, struct buf *out)
{
	struct timegrid g;
	struct picture p = { .map = m };
	int ret = access_map_columns(m, v, &g);

	if (ret)
		return ret;
	find_rows(&p);
	buf_printf(out, "begin_s");
	for (int write = 0; write < 2; write++)
		for (unsigned int r = p.low; r <= p.high; r++)
			buf_printf(out, ",%s_from_byte_%llu", write ? "writes" : "reads",
				   (unsigned long long)((m->first_row + r) << m->row_shift));
	for (size_t c = 0; c < g.nr; c++) {
		const uint64_t *cells = timegrid_column(&g, c);

		buf_put_u8(out, '\n');
		frame_csv_time(out, timegrid_begin_ns(&g) + c * g.step_ns);
		for (int write = 0; write < 2; write++)
			for (unsigned int r = p.low; r <= p.high; r++)
				buf_printf(out, ",%llu",
					   (unsigned long long)cells[write * ACCESS_ROWS + r]);
	}
	buf_put_u8(out, '\n');
	timegrid_release(&g);
	return out->error;
}
