/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate_depth: how many requests a VM lets on, and which of those that wait go first: steps 3 and
 * 4 of calibrate_parts.h.
 *
 * Depth and phi are found together. With one VM alone almost any depth will do, since phi makes up for
 * it; but VMs part the system by what each lets on. So for every depth tried, Algorithm 3 finds phi of
 * the mixes of one VM, phi is learned from those where it matters (calibrate_phi.h), and the depth is
 * judged by how far the mixes of several VMs are then missed, a sample of them. Without such mixes it is
 * judged by those of one VM, each with the phi found for it.
 *
 * Tried are the most requests of a mix, its half and so on until it gets worse twice, then steps of half
 * the size about the best. All solutions draw the same random numbers;
 * depths are compared at a rough precision, and phi of the best found again at the one asked for.
 */
#ifndef ANALYZER_CALIBRATE_DEPTH_H
#define ANALYZER_CALIBRATE_DEPTH_H

#include "analyzer/models/storage/calibrate_parts.h"

/* Fills depth, phi and their errors in; shared and alone must be there. -errno of solving. */
int calibrate_depth(struct storage_parts *parts, const struct parts_task *task, struct err *err);

#endif
