/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together: all hosts and devices of a selection at once, second by second of real time: P95, P99
 * and maximum of their sum, when that was and who made it, beside the sum of each one's own maximum
 * (workload/align.h).
 *
 * Requests count in the second in which they arrived, of every operation; bytes are those of reads
 * and writes. Memory is bounded by align.
 */
#ifndef ANALYZER_TOGETHER_H
#define ANALYZER_TOGETHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan.h"
#include "base/buf.h"

#define TOGETHER_SCHEMA "blkcast.together/1"

struct together;

int together_new(struct together **out);
void together_free(struct together *t);
/* A batch of the scan: the shape of replay_config.batch. 0, -ENOMEM, -ENOSPC. */
int together_add(struct together *t, struct scan *scan, const struct scan_request *r, size_t nr);
/* Hosts and devices met. */
uint32_t together_nr(const struct together *t);
/* A table for people. 0, -ENOMEM. */
int together_print(const struct together *t, bool utc, FILE *out);
/*
 * {"schema", "interval_s", "intervals", "streams": [{"host", "device_name"}],
 *  "requests_per_s": {"mean", "p95", "p99", "max", "max_begin_s", "own_peaks_sum",
 *                     "makers": [{"stream": index, "per_s", "share"}]}, "bytes_per_s": {...}}
 * 0, -ENOMEM.
 */
int together_json(const struct together *t, struct buf *out);

#endif
