/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "workload/fileset.h"

static void fileset_mean_add(struct fileset_mean *m, double x)
{
	m->nr++;
	m->value += (x - m->value) / (double)m->nr;
}

static double fileset_mean(const struct fileset_mean *m)
{
	return m->nr ? m->value : NAN;
}

void fileset_clear(struct fileset *f)
{
	memset(f, 0, sizeof(*f));
}

void fileset_add(struct fileset *f, uint64_t nr_files, uint64_t total_bytes)
{
	fileset_mean_add(&f->count, (double)nr_files);
	fileset_mean_add(&f->total_bytes, (double)total_bytes);
	if (nr_files)
		fileset_mean_add(&f->size_bytes, (double)total_bytes / (double)nr_files);
}

double fileset_count_mean(const struct fileset *f)
{
	return fileset_mean(&f->count);
}

double fileset_size_mean_bytes(const struct fileset *f)
{
	return fileset_mean(&f->size_bytes);
}

double fileset_total_mean_bytes(const struct fileset *f)
{
	return fileset_mean(&f->total_bytes);
}
