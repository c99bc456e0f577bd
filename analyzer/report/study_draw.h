/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_draw: the pictures of the studies, made of their results.
 *
 * Each function appends one whole <svg> element to out, which the command then gives to its answer
 * (answer_picture()). 0, -ENOMEM, or the failure that out has kept.
 */
#ifndef ANALYZER_REPORT_STUDY_DRAW_H
#define ANALYZER_REPORT_STUDY_DRAW_H

#include "analyzer/whatif/cache_answer.h"
#include "analyzer/whatif/mix_answer.h"
#include "analyzer/whatif/scenario_answer.h"
#include "analyzer/whatif/space_answer.h"
#include "analyzer/whatif/study_answer.h"
#include "base/buf.h"

/* Bars of response times before and on the target, with the intervals. */
int study_draw_times(const struct study_result *r, struct buf *out);
/* A map of a load's times by the neighbour's size (upwards) and share of reads. side: 0 reads, 1 writes. */
int study_draw_space(const struct space_result *r, int side, struct buf *out);
/* Hits of all loads by the size of one cache, used in three ways. */
int study_draw_cache(const struct cache_result *r, struct buf *out);
/* The frontier of two loads: every pair of counts on or below the line fits. */
int study_draw_mix(const struct mix_result *r, struct buf *out);
/* Bars of response times, one for each scenario. */
int study_draw_scenarios(const struct scenario_result *r, struct buf *out);

#endif
