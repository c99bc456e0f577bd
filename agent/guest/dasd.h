/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dasd: what the s390 DASD driver counts of a disk, while somebody has switched that on
 * (`tunedasd`, `echo on`): requests over parallel access volumes (PAV) and in High Performance
 * FICON's transport mode (HPF), and histograms of sizes and times. PAV explains why more than one
 * request is under way on one DASD, HPF why they are short.
 *
 * Format: drivers/s390/block/dasd.c, dasd_stats_seq_print(), since 4fa52aa7a82f (3.1): a line for
 * each value, `name number` or `histogram_name` and 32 numbers; `disabled` while it is off.
 */
#ifndef AGENT_DASD_H
#define AGENT_DASD_H

#include "base/err.h"
#include "formats/profile/profile.h"

#define DASD_BUCKETS 32

/*
 * The text of a statistics file as the JSON object that formats/profile/profile.md describes: *out
 * is the caller's to free. -ENODATA: the statistics are off; -EINVAL: a line that is none of this
 * format, with its number in err; -ENOMEM.
 */
int dasd_parse(char **out, const char *text, struct err *err);

/*
 * Puts what the driver counts of this disk into the profile's source_detail, as `dasd`. root: NULL,
 * or a folder that stands for /. 0; -ENOENT: no DASD, or nothing to be read; else as dasd_parse().
 * The profile is unchanged on failure.
 */
int dasd_detail(struct profile *p, const char *root, const char *device_name, struct err *err);

#endif
