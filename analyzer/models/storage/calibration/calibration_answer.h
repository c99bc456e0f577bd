/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibration_answer: a calibrated net with all its terms, and how well they fit, as a value that
 * every renderer shows (answer.h). The caller owns each answer.
 */
#ifndef ANALYZER_CALIBRATION_ANSWER_H
#define ANALYZER_CALIBRATION_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/models/storage/calibration/calibrate_cache.h"
#include "analyzer/models/storage/calibration/calibrate_weights.h"
#include "analyzer/models/storage/net/storage_model.h"

struct answer *storage_model_answer(const struct storage_model *m);
/* Returns a cache that is a net of its own; path is the file that has the net. */
struct answer *cache_model_answer(const struct cache_model *m, const char *path);
/* Returns the steps of a search for the weights of reads and writes, and the best ones. */
struct answer *weights_answer(const struct weights_found *f, uint64_t seed);

#endif
