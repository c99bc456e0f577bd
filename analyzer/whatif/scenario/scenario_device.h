/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_device: this module solves a storage of a scenario that is a simulated device.
 *
 * The stored requests of each VM are multiplied by its count and its load (stored_scale.h), and all
 * VMs of the storage are simulated together (study_simulate.h). The miss-ratio curves say how many
 * reads hit the cache. That share of the reads is chosen at random; these reads take the cache's
 * time and never reach the device.
 */
#ifndef ANALYZER_WHATIF_SCENARIO_SCENARIO_DEVICE_H
#define ANALYZER_WHATIF_SCENARIO_SCENARIO_DEVICE_H

#include "analyzer/whatif/scenario/scenario.h"

/* However large a cache is, the storage gets at least this share of the reads. */
#define SCENARIO_LEAST_MISSES 0.001

/*
 * Fills the results of the storage and of its VMs. Returns 0, -EINVAL where a VM has no stored
 * requests or where there are too many VMs, or the errors of the store.
 */
int scenario_device_solve(struct scenario *s, size_t storage, struct err *err);

#endif
