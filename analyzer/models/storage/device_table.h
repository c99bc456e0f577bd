/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_table: what a campaign has measured, as loads with response times, for a calibration.
 *
 * The columns of the load are found by their names, each of which may have others that older plans use
 * (docs/examples/plans/storage.yaml has all of them):
 *
 *	clients (threads, jobs); depth (iodepth); request_size (size, bs), or read_size and write_size;
 *	read, in percent, or read_ratio; pattern: random or sequential; flush_every, in writes;
 *	durable: 0 or 1; think, a time; burst, in requests.
 *
 * Without a column a load has the default of device_load_init(). Response times are those of the fio driver:
 * read_s, read_p50_s and so on; of a campaign with several targets the prefix chooses one.
 */
#ifndef ANALYZER_STORAGE_DEVICE_TABLE_H
#define ANALYZER_STORAGE_DEVICE_TABLE_H

#include "analyzer/models/storage/device_load.h"
#include "base/table.h"

struct device_row {
	double configuration; /* rows of one configuration are held out together */
	struct device_load load;
	double measured_s[DEVICE_NR_TYPES][DEVICE_NR_POINTS]; /* NaN: not measured */
	double per_s[2]; /* requests of a direction; NaN none */
};

struct device_table {
	struct device_row *rows; /* owned */
	size_t nr;
};

/*
 * Reads a table of measurements (results_table.h). prefix: "vm1." or "". -EINVAL with the line for a cell
 * that cannot be, or where there are no response times; -ENOMEM. Release d whatever this returns.
 */
int device_table_make(struct device_table *d, const struct table *t, const char *prefix,
		      struct err *err);
void device_table_release(struct device_table *d);
/* What the rows cover. */
void device_table_domain(const struct device_table *d, struct device_domain *out);

#endif
