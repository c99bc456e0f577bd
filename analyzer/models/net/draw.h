/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw: writes a net as a graph in the language of graphviz, with places as circles and transitions
 * as bars.
 */
#ifndef ANALYZER_DRAW_H
#define ANALYZER_DRAW_H

#include <stdio.h>

#include "analyzer/models/net/net.h"

/* A write error remains in the stream, where the caller checks for it. */
void net_draw(const struct net *n, FILE *out);

#endif
