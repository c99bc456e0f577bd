/* SPDX-License-Identifier: Apache-2.0 */
/* draw: a net as a graph in graphviz' language, places as circles and transitions as bars. */
#ifndef ANALYZER_DRAW_H
#define ANALYZER_DRAW_H

#include <stdio.h>

#include "analyzer/models/net/net.h"

/* Errors of the stream stay with it. */
void net_draw(const struct net *n, FILE *out);

#endif
