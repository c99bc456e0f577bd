/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_dist: reads a distribution in the form of a net's file: {exponential: {mean: 5ms}}, {gamma:
 * {mean: 1, sd: 0.3}}, {histogram: {edges: [0, 1, 3], counts: [30, 10]}}, ...
 */
#ifndef ANALYZER_NET_DIST_H
#define ANALYZER_NET_DIST_H

#include "analyzer/models/net/net_read.h"
#include "analyzer/models/num/dist.h"

/* to is a struct dist; its earlier content is released. */
extern const struct field net_distribution;

#endif
