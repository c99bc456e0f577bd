/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together: describes all hosts and devices of a selection together, in intervals of real time:
 * P95, P99 and maximum of their sum, the time of the maximum and the devices that contributed most
 * to it, beside the sum of each device's own maximum (workload/align.h).
 *
 * A request of any operation counts in the second in which it arrived. Bytes are those of reads and
 * writes. align bounds the memory. The mean is over the time in which at least one host was
 * watched, P95 and P99 over the intervals from the first request to the last that were watched at
 * least in part. A host without a request counts for nothing here, so that the values are the same
 * whether it is read or not.
 */
#ifndef ANALYZER_TOGETHER_H
#define ANALYZER_TOGETHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan/scan.h"
#include "base/memory/buf.h"
#include "workload/align.h"

#define TOGETHER_SCHEMA "blkcast.together/1"

struct together;

int together_new(struct together **out);
void together_free(struct together *t);
/* Adds a batch of the scan; has the type of replay_config.batch. Returns 0, -ENOMEM or -ENOSPC. */
int together_add(struct together *t, struct scan *scan, const struct scan_request *r, size_t nr);
/*
 * Adds what together_write() of another process appended, which read the same trace or another part
 * of it (scan_filter.part). whole is the number of requests of all parts. Returns 0, -ENOMEM,
 * -ENOSPC or -EBADMSG.
 */
int together_write(const struct together *t, struct buf *out);
int together_join(struct together *t, uint64_t whole, struct cursor *in);
/* Returns whether the sums would be the same in any order of the requests (workload/align.h). */
bool together_has_room(const struct together *t);
/*
 * Notes when the hosts with requests were watched, at the end of the scan. Without it all time
 * counts as watched. Returns 0 or -ENOMEM.
 */
int together_watch(struct together *t, const struct scan *scan);
/* Orders the devices by name. No batch may be added afterwards. */
void together_sort(struct together *t);
/* Returns the number of devices with a request, over all hosts. */
uint32_t together_nr(const struct together *t);
/* Gives the sums of requests and bytes. The streams have the names below. Returns 0 or -ENOMEM. */
int together_sums(const struct together *t, struct align_sum *requests, struct align_sum *bytes);
const char *together_host(const struct together *t, uint32_t stream);
const char *together_device(const struct together *t, uint32_t stream);
/* Prints a table for people. Returns 0 or -ENOMEM. */
int together_print(const struct together *t, bool utc, FILE *out);
/*
 * intervals are those that were watched:
 * {"schema", "interval_s", "intervals", "streams": [{"host", "device_name"}],
 *  "requests_per_s": {"mean", "p95", "p99", "max", "max_begin_s", "own_peaks_sum",
 *                     "makers": [{"stream": index, "per_s", "share"}]}, "bytes_per_s": {...}}
 * 0, -ENOMEM.
 */
int together_json(const struct together *t, struct buf *out);

#endif
