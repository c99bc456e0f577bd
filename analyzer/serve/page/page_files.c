// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page/page_files.h"

#define TYPE_HTML   "text/html; charset=utf-8"
#define TYPE_STYLE  "text/css; charset=utf-8"
#define TYPE_SCRIPT "text/javascript; charset=utf-8"
#define TYPE_TEXT   "text/plain; charset=utf-8"
#define TYPE_IMAGE  "image/svg+xml"
#define TYPE_JSON   "application/json"

/*
 * The assembler includes the files, so that no copy has to be kept up to date. page_file_NAME and
 * page_file_NAME_end are the symbols of a file's begin and end.
 */
/* clang-format off */
#define FILE_IN(name, path)                                   \
	__asm__(".section .rodata\n"                          \
		".global page_file_" #name "\n"               \
		".global page_file_" #name "_end\n"           \
		"page_file_" #name ":\n"                      \
		".incbin \"" path "\"\n"                      \
		"page_file_" #name "_end:\n"                  \
		".byte 0\n"                                   \
		".previous\n");                               \
	extern const char page_file_##name[], page_file_##name##_end[]

#define PAGE_FILES(X)                                                        \
	X(index, "/", TYPE_HTML, "analyzer/serve/page/index.html")           \
	X(style, "/assets/live.css", TYPE_STYLE, "analyzer/serve/page/uplot/uPlot.min.css\"\n.incbin \"analyzer/serve/page/live.css") \
	X(main, "/assets/main.mjs", TYPE_SCRIPT, PAGE_JOINED "/main.mjs") \
	X(views, "/assets/views.mjs", TYPE_SCRIPT, PAGE_JOINED "/views.mjs") \
	X(icon, "/assets/icon.svg", TYPE_IMAGE, "analyzer/serve/page/icon.svg") \
	X(uplot, "/assets/uPlot.iife.min.js", TYPE_SCRIPT, "analyzer/serve/page/uplot/uPlot.iife.min.js") \
	X(uplot_licence, "/assets/uPlot.LICENSE.txt", TYPE_TEXT, "analyzer/serve/page/uplot/LICENSE")

#define FILE_INCLUDED(name, url, type, path) FILE_IN(name, path);
PAGE_FILES(FILE_INCLUDED)
/* clang-format on */

bool page_asset_at(size_t i, struct page_asset *out)
{
#define FILE_LISTED(name, url, type, path) { url, type, page_file_##name, 0 },
#define FILE_END(name, url, type, path)	   page_file_##name##_end,
	static const struct page_asset files[] = { PAGE_FILES(FILE_LISTED) };
	static const char *const ends[] = { PAGE_FILES(FILE_END) };

	_Static_assert(sizeof(files) / sizeof(files[0]) < PAGE_FILES_MAX, "there is room for all");
	if (i >= sizeof(files) / sizeof(files[0]))
		return false;
	*out = files[i];
	out->len = (size_t)(ends[i] - files[i].data);
	return true;
}
