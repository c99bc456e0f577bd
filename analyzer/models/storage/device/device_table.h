/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_table: the measurements of a campaign as loads with response times, which a calibration
 * needs.
 *
 * The columns of the load are found by their names. The names in parentheses come from older plans
 * (docs/examples/plans/storage.yaml has all current columns):
 *
 *	clients (threads, jobs); depth (iodepth); request_size (size, bs),
 *	or read_size and write_size;
 *	read, in percent, or read_ratio; pattern: random or sequential; flush_every, in writes;
 *	durable: 0 or 1; think, a time; burst, in requests.
 *
 * If a column is missing, the load has the default of device_load_init(). The response times are
 * those of the fio driver: read_s, read_p50_s and so on. In a campaign with several targets the
 * prefix chooses one target.
 *
 * Where the driver has counted the requests, a mean of fewer than 20 counts as not measured, unless
 * the campaign has no other of the same type: the driver stores a median from 20 requests on too.
 *
 * Where the driver has counted what the device got (read_requests, read_device_requests), a row
 * whose requests the guest had split says into how many parts. A limit of the guest on the size of
 * requests is then not taken for one of the storage.
 */
#ifndef ANALYZER_STORAGE_DEVICE_TABLE_H
#define ANALYZER_STORAGE_DEVICE_TABLE_H

#include "analyzer/models/storage/device/device_load.h"
#include "base/data/table.h"

struct device_row {
	double configuration; /* rows of one configuration are held out together */
	struct device_load load;
	double measured_s[DEVICE_NR_TYPES][DEVICE_NR_POINTS]; /* NaN means not measured */
	double per_s[DEVICE_NR_TYPES]; /* requests per second; NaN means not measured */
	double nr[DEVICE_NR_TYPES];    /* requests that were measured; NaN means not known */
};

struct device_table {
	struct device_row *rows; /* owned */
	size_t nr;
};

/*
 * Reads a table of measurements (results_table.h). prefix is "vm1." or "", for example. Returns 0,
 * -EINVAL with the line if a cell has an impossible value or there are no response times, or
 * -ENOMEM. The caller releases d whatever this function returns.
 */
int device_table_make(struct device_table *d, const struct table *t, const char *prefix,
		      struct err *err);
void device_table_release(struct device_table *d);
/* Computes the range that the rows cover; sizes are those that the device got. */
void device_table_domain(const struct device_table *d, struct device_domain *out);
/* Returns the largest size below this one that the device got, or 0 if there is none. */
double device_table_size_below(const struct device_table *d, double bytes);

#endif
