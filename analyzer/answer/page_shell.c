// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/page_shell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/shown.h"
#include "base/text/units.h"

void page_escape(struct buf *out, const char *text)
{
	char *copy = NULL;

	/* A browser would put other letters into the place of what is not UTF-8. */
	if (text && !shown_is_utf8(text)) {
		copy = malloc(SHOWN_ESCAPE_BYTES * strlen(text) + 1);
		if (!copy) {
			out->error = -ENOMEM;
			return;
		}
		text = shown(text, copy, SHOWN_ESCAPE_BYTES * strlen(text) + 1);
	}
	for (; text && *text; text++) {
		switch (*text) {
		case '&':
			buf_put(out, "&amp;", 5);
			break;
		case '<':
			buf_put(out, "&lt;", 4);
			break;
		case '>':
			buf_put(out, "&gt;", 4);
			break;
		case '"':
			buf_put(out, "&quot;", 6);
			break;
		default:
			/*
			 * XML, and therefore SVG, allows no control characters, not even as
			 * entities.
			 */
			buf_put_u8(out, (unsigned char)*text < 0x20 && *text != '\n' ? ' ' : *text);
		}
	}
	free(copy);
}

void page_open(struct buf *out, const char *title, const char *kind)
{
	buf_printf(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"generator\" content=\"blkcast " BLKCAST_VERSION "\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	page_escape(out, title);
	buf_printf(out,
		   " – %s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n%s"
		   "</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n",
		   kind, page_css);
}

void page_begin(struct buf *out, const char *title, const char *lead)
{
	page_open(out, title, "blkcast");
	buf_printf(out, "<h1>");
	page_escape(out, title);
	buf_printf(out, "</h1>\n");
	if (lead) {
		buf_printf(out, "<p class=\"lead\">");
		page_escape(out, lead);
		buf_printf(out, "</p>\n");
	}
	buf_printf(out, "</header>\n<main>\n");
}

void page_section_begin(struct buf *out, const char *title, const char *about)
{
	buf_printf(out, "<section class=\"card\">\n");
	if (title) {
		buf_printf(out, "<h2>");
		page_escape(out, title);
		buf_printf(out, "</h2>\n");
	}
	if (about) {
		buf_printf(out, "<p class=\"soft\">");
		page_escape(out, about);
		buf_printf(out, "</p>\n");
	}
}

void page_section_end(struct buf *out)
{
	buf_printf(out, "</section>\n");
}

/* Other machines name hosts, devices and file systems, so that any byte may be in a name. */
#define PAGE_SHOWN_BYTES 4 /* shown() writes at most this many bytes for one byte */

int page_origins_add(struct page_origins *o, const char *fmt, ...)
{
	char *raw = NULL, *line;
	size_t room;
	va_list args;
	int len;

	if (!o)
		return 0;
	va_start(args, fmt);
	len = vasprintf(&raw, fmt, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	room = PAGE_SHOWN_BYTES * (size_t)len + 1;
	line = malloc(room);
	if (line)
		shown(raw, line, room);
	free(raw);
	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < o->nr; i++)
		if (!strcmp(o->lines[i], line)) {
			free(line);
			return 0;
		}
	if (o->nr == PAGE_ORIGINS) {
		o->nr_more++;
		free(line);
		return 0;
	}
	o->lines[o->nr++] = line;
	return 0;
}

void page_origins_release(struct page_origins *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->lines[i]);
	json_decref(o->devices);
	*o = (struct page_origins){ .nr = 0 };
}

static void page_made_from(struct buf *out, const struct page_origins *o)
{
	for (size_t i = 0; o && i < o->nr; i++) {
		buf_printf(out, "<p class=\"made\">");
		page_escape(out, o->lines[i]);
		buf_printf(out, "</p>\n");
	}
	if (o && o->nr_more)
		buf_printf(out, "<p class=\"made\">%zu more are not listed here.</p>\n",
			   o->nr_more);
}

void page_made(struct buf *out, const struct page_maker *m)
{
	char day[UNITS_BYTES];

	buf_printf(out, "<p class=\"made\">Made by ");
	if (m && m->command) {
		buf_printf(out, "<code>");
		page_escape(out, m->command);
		buf_printf(out, "</code>, ");
	}
	buf_printf(out, "blkcast " BLKCAST_VERSION);
	if (m && m->made_s) {
		units_instant(m->made_s * 1000000000ull, true, 0, day);
		day[strlen("2026-01-31")] = 0;
		buf_printf(out, ", on <time datetime=\"%s\">%s</time>", day, day);
	}
	buf_printf(out, ".</p>\n");
	if (m)
		page_made_from(out, m->origins);
}

void page_end(struct buf *out, const struct page_maker *m)
{
	buf_printf(out, "</main>\n<footer>\n");
	page_made(out, m);
	buf_printf(out, "</footer>\n</div>\n</body>\n</html>\n");
}
