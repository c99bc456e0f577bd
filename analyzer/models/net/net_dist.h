/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_dist: a distribution as a net's file writes it: {exponential: {mean: 5ms}},
 * {gamma: {mean: 1, sd: 0.3}}, {histogram: [[0], [1, 30], [3, 10]]}, ...
 */
#ifndef ANALYZER_NET_DIST_H
#define ANALYZER_NET_DIST_H

#include "analyzer/models/num/dist.h"
#include "analyzer/models/net/net_read.h"

/* 0, or -EINVAL, -ENOMEM with file and line; what d held before is released. */
int net_read_dist(struct net_reader *r, const struct yaml_node *node, struct dist *d);

#endif
