/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "workload/fileset.h"

void fileset_clear(struct fileset *f)
{
	memset(f, 0, sizeof(*f));
}

void fileset_add(struct fileset *f, uint64_t nr_files, uint64_t total_bytes)
{
	moments_add(&f->count, (double)nr_files);
	moments_add(&f->total_bytes, (double)total_bytes);
	if (nr_files)
		moments_add(&f->size_bytes, (double)total_bytes / (double)nr_files);
}

double fileset_count_mean(const struct fileset *f)
{
	return moments_mean(&f->count);
}

double fileset_size_mean_bytes(const struct fileset *f)
{
	return moments_mean(&f->size_bytes);
}

double fileset_total_mean_bytes(const struct fileset *f)
{
	return moments_mean(&f->total_bytes);
}
