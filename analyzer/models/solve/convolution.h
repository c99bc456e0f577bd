/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convolution: solves closed product-form nets of one chain by their normalization constants
 * (Buzen, Computational algorithms for closed queueing networks with exponential servers, CACM 16,
 * 1973).
 *
 * The recursion of mva.h takes the probability of an empty queue of several servers as what is left
 * to 1, and loses its precision where little is left. Here all terms are added, and none is
 * subtracted. They are kept as logarithms, since the constants of thousands of tokens are beyond
 * the range of numbers.
 *
 * Cost: O(N k) for each station of k servers and N tokens, and as much again for each other station
 * where k is above 1. Memory: 2 numbers per token.
 */
#ifndef ANALYZER_SOLVE_CONVOLUTION_H
#define ANALYZER_SOLVE_CONVOLUTION_H

#include "analyzer/models/solve/mva.h"

/* Returns whether a network has tokens in one chain alone, and queues of several servers. */
bool convolution_applies(const struct product_form *p);
/*
 * throughput (by chain) and population (chain x station) are zeroed, and get those of the chain
 * with tokens. Returns 0 or -ENOMEM.
 */
int convolution_solve(const struct product_form *p, double *throughput, double *population);

#endif
