/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileset: time averages of the number of files, their mean size and their total size, from samples
 * taken every 1/phi (eq. 5.14 to 5.21 of docs/methods.md).
 *
 * The mean file size averages the mean sizes of the samples (eq. 5.17). A sample without files has
 * no mean size and is left out of that average, but it counts as 0 in the other two.
 */
#ifndef WORKLOAD_FILESET_H
#define WORKLOAD_FILESET_H

#include <stdint.h>

struct fileset_mean {
	uint64_t nr;
	double value; /* 0 while empty */
};

struct fileset {
	struct fileset_mean count, size_bytes, total_bytes;
};

/* A zeroed struct is empty. */
void fileset_clear(struct fileset *f);
void fileset_add(struct fileset *f, uint64_t nr_files, uint64_t total_bytes);
/* Each function returns NaN without a sample. */
double fileset_count_mean(const struct fileset *f);
double fileset_size_mean_bytes(const struct fileset *f);
double fileset_total_mean_bytes(const struct fileset *f);

#endif
