// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/study_page.h"

#include "analyzer/answer/page_shell.h"

void study_page_begin(struct buf *out, const char *title, const char *lead)
{
	page_begin(out, title, lead);
}

void study_page_section(struct buf *out, const char *title, const char *about)
{
	page_section_begin(out, title, about);
}

void study_page_section_end(struct buf *out)
{
	page_section_end(out);
}

void study_page_end(struct buf *out)
{
	page_end(out);
}

int study_page_save(const struct buf *page, const char *path, struct err *err)
{
	return page_save(page, path, err);
}
