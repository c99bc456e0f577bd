/* SPDX-License-Identifier: Apache-2.0 */
/* retain_text: describes in words what a pass of retention did. */
#ifndef ANALYZER_RETAIN_TEXT_H
#define ANALYZER_RETAIN_TEXT_H

#include "analyzer/keep/retain.h"

#define RETAIN_LINE_BYTES 320
/* Writes one line. */
void retain_counts_text(const struct retain_counts *c, char out[RETAIN_LINE_BYTES]);

#endif
