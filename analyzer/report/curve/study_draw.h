/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_draw: draws the pictures of the studies from their results.
 *
 * Each function appends one whole <svg> element to out, which the command then gives to its answer
 * (answer_picture()). Returns 0, -ENOMEM, or the failure that out keeps.
 */
#ifndef ANALYZER_REPORT_CURVE_STUDY_DRAW_H
#define ANALYZER_REPORT_CURVE_STUDY_DRAW_H

#include "analyzer/whatif/cache/cache_answer.h"
#include "analyzer/whatif/mix/mix_answer.h"
#include "analyzer/whatif/mix/space_answer.h"
#include "analyzer/whatif/scenario/scenario_answer.h"
#include "analyzer/whatif/study/study_answer.h"
#include "base/memory/buf.h"

/* Draws bars of response times before and on the target, with their intervals. */
int study_draw_times(const struct study_result *r, struct buf *out);
/*
 * Draws a map of a load's times by the neighbour's size (upwards) and share of reads. side is 0 for
 * reads and 1 for writes.
 */
int study_draw_space(const struct space_result *r, int side, struct buf *out);
/* Draws the hits of all loads by the size of one cache that is used in three ways. */
int study_draw_cache(const struct cache_result *r, struct buf *out);
/* Draws the frontier of two loads: every pair of counts on or below the line fits. */
int study_draw_mix(const struct mix_result *r, struct buf *out);
/* Draws bars of response times, one for each scenario. */
int study_draw_scenarios(const struct scenario_result *r, struct buf *out);

#endif
