/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_rules: turns the paths of a model tree into rules, as Cubist 2.07 does. The conditions of
 * each path are removed one after the other, as long as the removal does not increase the error on
 * the rows that the rule then covers as well. The error is that of the average over the rules that
 * hold. The resulting rules may overlap.
 */
#ifndef ANALYZER_REGRESSION_M5_RULES_H
#define ANALYZER_REGRESSION_M5_RULES_H

#include "analyzer/models/regression/form/rules.h"
#include "analyzer/models/regression/tree/m5_tree.h"

/*
 * Appends the rules of the tree as one set. The cost is O(leaves x rows x depth). Returns 0 or
 * -ENOMEM.
 */
int m5_rules(struct rules *out, const struct m5_tree *t);

#endif
