/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg: writes the few shapes that pictures consist of directly into a buffer.
 *
 * Colours and fonts are never written here: every shape has a class, and page.css defines its look
 * for light, dark and print. Coordinates are user units of a picture that is SVG_WIDTH wide,
 * written with one decimal. Failures are kept in the buffer (base/memory/buf.h) and checked once,
 * at the end.
 */
#ifndef ANALYZER_REPORT_DRAW_SVG_H
#define ANALYZER_REPORT_DRAW_SVG_H

#include <stddef.h>

#include "analyzer/answer/page_shell.h"
#include "base/memory/buf.h"

#define SVG_WIDTH 760

/* Writes a number with at most one decimal: "12", "12.5". */
void svg_number(struct buf *out, double v);

/*
 * Opens a picture. id is unique in the page; screen readers read title and description aloud.
 * attributes (may be NULL) go into the svg tag unchanged: " data-x0=\"60\"".
 */
struct svg_head {
	const char *id, *class, *title, *description, *attributes;
	double width, height;
};
void svg_begin(struct buf *out, const struct svg_head *head);
void svg_end(struct buf *out);

void svg_group(struct buf *out, const char *class);
void svg_group_end(struct buf *out);
void svg_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2);
/*
 * Writes a rectangle, or nothing where it has no area. Where tip is not NULL the pointer shows it.
 */
void svg_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	      const char *tip);
void svg_circle(struct buf *out, const char *class, double x, double y, double radius);
/* class contains the anchor, "start", "mid" or "end", beside others. */
void svg_text(struct buf *out, const char *class, double x, double y, const char *text);

/* Write a path: open it, move and draw, close it. */
void svg_path(struct buf *out, const char *class);
void svg_move_to(struct buf *out, double x, double y);
void svg_line_to(struct buf *out, double x, double y);
void svg_path_end(struct buf *out);

#endif
