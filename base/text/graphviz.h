/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphviz: writes the parts of a picture in graphviz' language that every drawing shares. The
 * caller finds a failure to write in ferror(out).
 */
#ifndef BASE_TEXT_GRAPHVIZ_H
#define BASE_TEXT_GRAPHVIZ_H

#include <stdio.h>

/*
 * Opens a directed graph, which "}" ends. settings holds attributes of the graph, as "rankdir=LR;".
 */
void graphviz_begin(FILE *out, const char *name, const char *settings);
/*
 * Writes a text inside quotes: characters that would end the quotes are escaped, and a line break
 * becomes a blank.
 */
void graphviz_text(FILE *out, const char *text);
/* Ends the label that a node or an edge was begun with, as in: n1 [shape=box, label="... */
void graphviz_end_label(FILE *out);

#endif
