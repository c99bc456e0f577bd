/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intensity: counts and draws how many requests and bytes arrived over time, by size class and
 * direction.
 */
#ifndef ANALYZER_REPORT_PICTURE_INTENSITY_H
#define ANALYZER_REPORT_PICTURE_INTENSITY_H

#include "analyzer/report/draw/frame.h"
#include "analyzer/report/picture/load.h"
#include "formats/profile/profile.h"

enum intensity_measure {
	INTENSITY_REQUESTS,
	INTENSITY_BYTES,
};
#define NR_INTENSITY_MEASURES 2

/* The rows of the grid are ordered by measure, size class and direction (read 0, write 1). */
#define INTENSITY_ROWS (NR_INTENSITY_MEASURES * NR_SIZE_CLASSES * 2)
static inline size_t intensity_row(enum intensity_measure measure, unsigned int class, bool write)
{
	return ((size_t)measure * NR_SIZE_CLASSES + class) * 2 + write;
}

struct intensity {
	struct timegrid grid;
};

void intensity_init(struct intensity *i);
void intensity_release(struct intensity *i);
/* Adds a read or a write. Returns 0 or -ENOMEM. */
int intensity_add(struct intensity *i, uint64_t arrival_ns, uint32_t bytes, bool write);

/* Returns "4 KiB or less", "8 KiB", ..., "more than 256 KiB", in the short form of a legend. */
const char *size_class_label(unsigned int class);

/*
 * Draws the rates stacked by size class; peaks are those of the same requests. Returns 0, -ENODATA
 * or -ENOMEM.
 */
int intensity_draw(const struct intensity *i, enum intensity_measure measure,
		   const struct load_peaks *peaks, const struct view *v, struct buf *out);
int intensity_csv(const struct intensity *i, enum intensity_measure measure, const struct view *v,
		  struct buf *out);

#endif
