/* SPDX-License-Identifier: Apache-2.0 */
/* study_page: the frame of a study's HTML page, which needs nothing else. */
#ifndef ANALYZER_STUDY_PAGE_H
#define ANALYZER_STUDY_PAGE_H

#include "base/buf.h"
#include "base/err.h"

/* Head and title; lead is the conclusion, a plain sentence. */
void study_page_begin(struct buf *out, const char *title, const char *lead);
void study_page_section(struct buf *out, const char *title, const char *about);
void study_page_section_end(struct buf *out);
void study_page_end(struct buf *out);
/* 0, or -errno with err saying where. */
int study_page_save(const struct buf *page, const char *path, struct err *err);

#endif
