/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dasd: reads the statistics of the s390 DASD driver about a disk, which the driver keeps while
 * somebody has switched them on (`tunedasd`, or `echo on`): requests over parallel access volumes
 * (PAV), requests in the transport mode of High Performance FICON (HPF), and histograms of sizes
 * and times. PAV explains why more than one request is in flight on one DASD, and HPF why requests
 * are short.
 *
 * Format: drivers/s390/block/dasd.c, dasd_stats_seq_print(), since commit 4fa52aa7a82f (Linux 3.1):
 * one line per value, `name number` or `histogram_name` and 32 numbers; `disabled` while counting
 * is off.
 */
#ifndef AGENT_DASD_H
#define AGENT_DASD_H

#include "base/text/err.h"
#include "formats/profile/profile.h"

#define DASD_BUCKETS 32

/*
 * Converts the text of a statistics file to the JSON object that formats/profile/profile.md
 * describes. The caller frees *out. Returns 0; -ENODATA: the statistics are off; -EINVAL: a line
 * has another format, and err names its number; -ENOMEM.
 */
int dasd_parse(char **out, const char *text, struct err *err);

/*
 * Puts the driver's statistics of this disk into the profile's source_detail, as member `dasd`.
 * root is NULL, or a folder that stands for /. Returns 0; -ENOENT: the disk is not a DASD or
 * nothing can be read; otherwise an error of dasd_parse(). The profile is unchanged on failure.
 */
int dasd_detail(struct profile *p, const char *root, const char *device_name, struct err *err);

#endif
