// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/study_page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/page.h"
#include "analyzer/report/svg.h"

void study_page_begin(struct buf *out, const char *title, const char *lead)
{
	buf_printf(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"generator\" content=\"blkcast " BLKCAST_VERSION "\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	svg_escape(out, title);
	buf_printf(out,
		   " – blkcast study</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n%s"
		   "</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n<h1>",
		   page_css);
	svg_escape(out, title);
	buf_printf(out, "</h1>\n<p class=\"lead\">");
	svg_escape(out, lead);
	buf_printf(out, "</p>\n</header>\n<main>\n");
}

void study_page_section(struct buf *out, const char *title, const char *about)
{
	buf_printf(out, "<section class=\"card\">\n<h2>");
	svg_escape(out, title);
	buf_printf(out, "</h2>\n<p class=\"soft\">");
	svg_escape(out, about);
	buf_printf(out, "</p>\n");
}

void study_page_section_end(struct buf *out)
{
	buf_printf(out, "</section>\n");
}

void study_page_end(struct buf *out)
{
	buf_printf(out, "</main>\n</div>\n</body>\n</html>\n");
}

int study_page_save(const struct buf *page, const char *path, struct err *err)
{
	FILE *f = page->error ? NULL : fopen(path, "we");
	int bad;

	if (page->error)
		return page->error;
	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	bad = fwrite(page->data, 1, page->len, f) != page->len;
	bad = fclose(f) || bad;
	return bad ? err_set(err, EIO, "%s: cannot be written in full", path) : 0;
}
