/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_draw: a model as a graph for graphviz' dot: containers as boxes with their resources and the
 * instances that run there, wires, links, storages, and scenarios with what they call.
 */
#ifndef ANALYZER_ARCH_DRAW_H
#define ANALYZER_ARCH_DRAW_H

#include <stdio.h>

#include "analyzer/models/arch/arch_model.h"

/* Write errors show on the stream. */
void arch_draw(const struct arch_model *m, FILE *out);

#endif
