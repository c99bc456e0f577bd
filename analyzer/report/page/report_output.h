/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_output: what is written of a report: its page, one picture as SVG, or the data of a
 * picture as CSV; and the facts of it for machines, a blkcast.report/1 (docs/blkcast.1).
 */
#ifndef ANALYZER_REPORT_PAGE_REPORT_OUTPUT_H
#define ANALYZER_REPORT_PAGE_REPORT_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyzer/report/page/figures.h"

struct report_output {
	const char *path;	     /* the file to write; NULL: standard output */
	const struct figure *figure; /* NULL: the page */
	bool csv;		     /* the figure's data instead of the picture */
	size_t bytes;		     /* result: what was written */
};

/*
 * Writes the output. A picture of one device is that of the busiest. Returns 0, or -errno with one
 * line in err; -ENODATA where the figure has nothing to show.
 */
int report_output_save(struct report_output *o, const struct report *r, struct err *err);
/* Returns the facts of what was saved, or NULL where memory is out. */
json_t *report_output_json(const struct report_output *o, const struct report *r);

#endif
