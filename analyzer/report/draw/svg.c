/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/draw/svg.h"

void svg_number(struct buf *out, double v)
{
	double tenths = round(v * 10);

	if (!isfinite(tenths) || tenths == 0)
		buf_put_u8(out, '0');
	else if (fmod(tenths, 10) == 0)
		buf_printf(out, "%.0f", tenths / 10);
	else
		buf_printf(out, "%.1f", tenths / 10);
}

static void svg_attribute(struct buf *out, const char *name, double v)
{
	buf_printf(out, " %s=\"", name);
	svg_number(out, v);
	buf_put_u8(out, '"');
}

void svg_begin(struct buf *out, const struct svg_head *head)
{
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"%s\" class=\"%s\" "
		   "viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\"%s>\n"
		   "<title id=\"%s-t\">",
		   head->id, head->class, head->width, head->height, head->id, head->id,
		   head->attributes ? head->attributes : "", head->id);
	page_escape(out, head->title);
	buf_printf(out, "</title>\n<desc id=\"%s-d\">", head->id);
	page_escape(out, head->description);
	buf_printf(out, "</desc>\n");
}

void svg_end(struct buf *out)
{
	buf_printf(out, "</svg>\n");
}

void svg_group(struct buf *out, const char *class)
{
	buf_printf(out, "<g class=\"%s\">\n", class);
}

void svg_group_end(struct buf *out)
{
	buf_printf(out, "</g>\n");
}

void svg_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2)
{
	buf_printf(out, "<line class=\"%s\"", class);
	svg_attribute(out, "x1", x1);
	svg_attribute(out, "y1", y1);
	svg_attribute(out, "x2", x2);
	svg_attribute(out, "y2", y2);
	buf_printf(out, "/>\n");
}

void svg_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	      const char *tip)
{
	if (!(width > 0) || !(height > 0))
		return;
	buf_printf(out, "<rect class=\"%s\"", class);
	svg_attribute(out, "x", x);
	svg_attribute(out, "y", y);
	svg_attribute(out, "width", fmax(width, 0.1));
	svg_attribute(out, "height", fmax(height, 0.1));
	if (!tip) {
		buf_printf(out, "/>\n");
		return;
	}
	buf_printf(out, "><title>");
	page_escape(out, tip);
	buf_printf(out, "</title></rect>\n");
}

void svg_circle(struct buf *out, const char *class, double x, double y, double radius)
{
	buf_printf(out, "<circle class=\"%s\"", class);
	svg_attribute(out, "cx", x);
	svg_attribute(out, "cy", y);
	svg_attribute(out, "r", radius);
	buf_printf(out, "/>\n");
}

void svg_text(struct buf *out, const char *class, double x, double y, const char *text)
{
	buf_printf(out, "<text class=\"%s\"", class);
	svg_attribute(out, "x", x);
	svg_attribute(out, "y", y);
	buf_put_u8(out, '>');
	page_escape(out, text);
	buf_printf(out, "</text>\n");
}

void svg_path(struct buf *out, const char *class)
{
	buf_printf(out, "<path class=\"%s\" d=\"", class);
}

static void svg_point(struct buf *out, char command, double x, double y)
{
	buf_put_u8(out, (uint8_t)command);
	svg_number(out, x);
	buf_put_u8(out, ' ');
	svg_number(out, y);
}

void svg_move_to(struct buf *out, double x, double y)
{
	svg_point(out, 'M', x, y);
}

void svg_line_to(struct buf *out, double x, double y)
{
	svg_point(out, 'L', x, y);
}

void svg_path_end(struct buf *out)
{
	buf_printf(out, "\"/>\n");
}
