/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_draw: draws a model as a graph for graphviz' dot. Containers are boxes with their resources
 * and the instances that run there. The graph also shows wires, links, storages, and scenarios
 * with their calls.
 */
#ifndef ANALYZER_ARCH_DRAW_H
#define ANALYZER_ARCH_DRAW_H

#include <stdio.h>

#include "analyzer/models/arch/arch_model.h"

/* The caller checks the stream for write errors. */
void arch_draw(const struct arch_model *m, FILE *out);

#endif
