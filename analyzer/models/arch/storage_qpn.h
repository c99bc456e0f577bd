/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_qpn: uses a calibrated storage model of queueing Petri nets (storage/net/storage_model.h)
 * as the I/O analysis model inside a storage resource (storage.h).
 *
 * The requests in service are the clients of a configuration of one VM. The read share gives the
 * number of readers; the rest are writers; there is at least one client of the requested type.
 * Each type has its mean size. A model of one class (cache, hardware) assumes that all requests
 * are of the request's class.
 *
 * The net of a configuration is solved to 1 %, as `blkcast qpn predict` does, and only once.
 * Solutions are stored on a grid: whole clients up to 16 of each type, then 8 points per octave,
 * and 4 points per octave of the size. Between grid points the model interpolates, linearly in
 * clients and logarithmically in sizes. A size that never varies would need no grid, but this is
 * not known beforehand. The error of the grid is below 0.5 % for times that are linear in the
 * size.
 *
 * If the model was calibrated without the requested class, the class of the other access pattern
 * is used instead, and the request counts as outside the range. A request without a file set,
 * where the model needs one, is treated in the same way with the model's largest file set.
 */
#ifndef ANALYZER_ARCH_STORAGE_QPN_H
#define ANALYZER_ARCH_STORAGE_QPN_H

#include "analyzer/models/arch/storage.h"

/*
 * Opens a model file of kind "qpn". Returns 0, -EINVAL or -ENOENT with the file and what is wrong,
 * or -ENOMEM. Threads may share the model: each configuration is solved by one thread while the
 * others wait, and the results do not depend on which thread it is.
 */
int storage_qpn_open(struct arch_storage_model **out, const char *path, struct err *err);

#endif
