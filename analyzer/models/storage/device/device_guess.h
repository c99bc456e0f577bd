/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_guess: guesses the parameters of a device from the rows of a campaign, without a fit. A
 * calibration (device_calibrate.h) begins its search there.
 */
#ifndef ANALYZER_STORAGE_DEVICE_GUESS_H
#define ANALYZER_STORAGE_DEVICE_GUESS_H

#include "analyzer/models/storage/device/device_table.h"

struct device_guess {
	double per_s, bytes_per_s; /* largest rates that any row reached; 0: none is known */
	/*
	 * A row of a client alone has flushes that follow reads, which shows what a flush takes
	 * that has nothing to write: those of several clients wait for each other.
	 */
	bool clean;
	bool thinks; /* a row has clients that think */
};

/*
 * Sets *g, and in m the domain of the rows and times from the rows that have the fewest requests
 * under way: base and time per byte of each direction, flushes and forced writes. m has one server
 * and no limit then.
 */
void device_guess(struct device_guess *g, const struct device_table *d, struct device_model *m);

#endif
