/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_qpn: a calibrated storage model of queueing Petri nets (qpn/storage_model.h) as the I/O
 * analysis model inside a storage resource (storage.h).
 *
 * The requests in service are the clients of a configuration of one VM: readers by the read share,
 * writers the rest, at least one of the type that is asked; with the mean size of each type. A
 * model of one class (cache, hardware) takes them all to be of the request's own. The net of that
 * configuration is solved to 1 %, as `blkcast qpn predict` does, once: answers are kept, by whole
 * clients up to 16 of each type, then 8 to the octave, and sizes 4 to the octave; what lies between
 * is interpolated, linearly in clients, logarithmically in sizes. Sizes themselves where a size
 * never varies would need no grid, but nobody knows that beforehand: the error of the grid is below
 * 0.5 % for times linear in size.
 *
 * A class the model was calibrated without is answered by the other access pattern's, and counted
 * as outside; so is a request without a file set where the model needs one (its largest is taken).
 */
#ifndef ANALYZER_ARCH_STORAGE_QPN_H
#define ANALYZER_ARCH_STORAGE_QPN_H

#include "analyzer/models/arch/storage.h"

/*
 * Opens a model file of kind "qpn". 0; -EINVAL, -ENOENT with the file and what is wrong; -ENOMEM.
 * Shared by threads: each configuration is solved by one, for whom the others wait; which one does
 * not change the answers.
 */
int storage_qpn_open(struct arch_storage_model **out, const char *path, struct err *err);

#endif
