/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphviz: the parts of a picture in graphviz' language that every drawing shares. Errors of the
 * stream stay with it.
 */
#ifndef BASE_TEXT_GRAPHVIZ_H
#define BASE_TEXT_GRAPHVIZ_H

#include <stdio.h>

/* Opens a directed graph; settings is what the whole graph has, as "rankdir=LR;". "}" ends it. */
void graphviz_begin(FILE *out, const char *name, const char *settings);
/* A text inside quotes: what would end them is escaped, and a line break becomes a blank. */
void graphviz_text(FILE *out, const char *text);
/* Ends the label that a node or an edge was begun with, as in: n1 [shape=box, label="... */
void graphviz_end_label(FILE *out);

#endif
