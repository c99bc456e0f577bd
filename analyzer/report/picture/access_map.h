/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_map: where on one device requests began, over time.
 *
 * Up to ACCESS_POINTS requests are kept individually and drawn as marks. With more requests the
 * counts of a grid are shaded: ACCESS_ROWS equal regions of a power of two of bytes, between the
 * lowest and the highest offset seen (regions double as the range grows), by the columns of a
 * timegrid.
 */
#ifndef ANALYZER_REPORT_PICTURE_ACCESS_MAP_H
#define ANALYZER_REPORT_PICTURE_ACCESS_MAP_H

#include "analyzer/report/draw/frame.h"
#include "formats/request.h"

#define ACCESS_POINTS 50000
#define ACCESS_ROWS   96
/*
 * The page must stay small for every trace, so the shaded map has fewer columns than other
 * pictures.
 */
#define ACCESS_COLUMNS 240

struct access_point {
	uint64_t t_ns, offset_bytes;
	bool write;
};

struct access_map {
	/* per column: ACCESS_ROWS counts of reads, then as many of writes */
	struct timegrid grid;
	uint64_t first_row;	/* region of row 0, counted from byte 0 */
	unsigned int row_shift; /* a region has 1 << row_shift bytes */
	bool started;
	struct access_point *points; /* owned; NULL once there were too many */
	size_t nr_points;
	bool crowded;
};

void access_map_init(struct access_map *m);
void access_map_release(struct access_map *m);
/* Adds a read or write. Returns 0 or -ENOMEM. */
int access_map_add(struct access_map *m, uint64_t arrival_ns, uint64_t sector, bool write);

/* Returns 0, -ENODATA or -ENOMEM. */
int access_map_draw(const struct access_map *m, const struct view *v, struct buf *out);
int access_map_csv(const struct access_map *m, const struct view *v, struct buf *out);

#endif
