/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_depth: finds how many requests a VM lets into the storage system at a time (its
 * depth), and which of its waiting requests go first (phi). These are steps 3 and 4 of
 * calibrate_parts.h.
 *
 * Depth and phi are found together. For one VM alone almost any depth fits, since phi compensates
 * for it. Several VMs divide the storage system according to the depth, so their mixes identify
 * it. For every depth that is tried, algorithm 3 finds phi of the mixes of one VM. A model of phi
 * is then learned from the mixes in which phi makes a difference (calibrate_phi.h), and the depth
 * is judged by the relative error of that model on a sample of the mixes of several VMs. If there
 * are no such mixes, the depth is judged by the mixes of one VM, each with the phi that was found
 * for it.
 *
 * The search tries the largest number of requests of a mix, half of it and so on, until the error
 * has risen twice. It then tries steps of half the size around the best depth. All solutions draw
 * the same random numbers. Depths are compared at a rough precision, and phi of the best depth is
 * found again at the precision that the caller asked for.
 */
#ifndef ANALYZER_CALIBRATE_DEPTH_H
#define ANALYZER_CALIBRATE_DEPTH_H

#include "analyzer/models/storage/calibration/calibrate_parts.h"

/*
 * Fills in depth, phi and their errors. parts->shared and parts->alone must be set. Returns 0 or
 * the -errno of solving.
 */
int calibrate_depth(struct storage_parts *parts, const struct parts_task *task, struct err *err);

#endif
