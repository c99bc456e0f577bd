/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_rules: the paths of a model tree as rules, as Cubist 2.07 forms them: of each path the conditions go,
 * one after the other, whose loss makes the average over the rules that hold no worse for the rows
 * that come to be covered. Rules may then overlap.
 */
#ifndef ANALYZER_REGRESSION_M5_RULES_H
#define ANALYZER_REGRESSION_M5_RULES_H

#include "analyzer/models/regression/m5_tree.h"
#include "analyzer/models/regression/rules.h"

/* Appends the tree's rules as one set. O(leaves x rows x depth). 0 or -ENOMEM. */
int m5_rules(struct rules *out, const struct m5_tree *t);

#endif
