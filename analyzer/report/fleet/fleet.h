/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet: shows what all hosts and devices of a selection do together: their sum second by second
 * (characterize/together.h), the busiest hosts and devices, and the rhythm of day and week.
 *
 * Requests are counted by calendar hours. The rate of an hour of the week is over the time of these
 * hours in which at least one host was watched, so that an hour without an agent does not look
 * idle. The mean and the P95 of the sum are over the intervals from the first request to the last
 * in which at least one host was watched. Capacity is the size of the devices and how many of their
 * bytes were touched; how full their file systems are is not known.
 *
 * Memory: that of together, a profile for each device, and 8 bytes for each hour.
 */
#ifndef ANALYZER_REPORT_FLEET_FLEET_H
#define ANALYZER_REPORT_FLEET_FLEET_H

#include <stdbool.h>

#include "analyzer/answer/answer.h"
#include "analyzer/store/scan/scan.h"
#include "formats/profile/profile.h"

#define FLEET_SCHEMA "blkcast.fleet/1"
#define FLEET_SHOWN  20 /* hosts, and devices, that people see; JSON and CSV have all */

enum fleet_table { FLEET_DEVICES, FLEET_HOSTS, FLEET_WEEK, NR_FLEET_TABLES };
/* Returns the table of that name, "devices", "hosts" or "week", or NR_FLEET_TABLES. */
enum fleet_table fleet_table_named(const char *name);

struct fleet;

int fleet_new(struct fleet **out);
void fleet_free(struct fleet *f);
/* Adds a batch of the scan; has the type of replay_config.batch. Returns 0, -ENOMEM or -ENOSPC. */
int fleet_add(struct fleet *f, struct scan *scan, const struct scan_request *r, size_t nr);
/* Takes the profile of a device over. Returns 0 or -ENOMEM. */
int fleet_profile(struct fleet *f, struct profile *p);
bool fleet_is_empty(const struct fleet *f);
/*
 * Returns the answer: facts, tables and a picture. The table `first` is the one that CSV has.
 * Returns NULL if memory is short.
 */
struct answer *fleet_answer(struct fleet *f, const struct scan *scan, enum fleet_table first,
			    bool utc);

#endif
