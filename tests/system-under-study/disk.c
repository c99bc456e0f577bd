// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "tests/system-under-study/disk.h"

/* Mean of sqrt(x) over the distance x of two random places on a stroke of 1. */
#define MEAN_ROOT (8.0 / 15)

void disk_init(struct disk *d, const struct disk_params *p)
{
	double per_cylinder = p->heads * p->revolution_s * (p->rate_outer + p->rate_inner) / 2;
	double root;

	*d = (struct disk){ .p = p, .cylinders = floor(p->capacity_bytes / per_cylinder) };
	root = sqrt(d->cylinders);
	d->fall = (p->rate_outer - p->rate_inner) / d->cylinders;
	d->read_b = (p->seek_read_mean_s - p->seek_read_track_s) / (MEAN_ROOT * root - 1);
	d->read_a = p->seek_read_track_s - d->read_b;
	d->write_b = (p->seek_write_mean_s - p->seek_write_track_s) / (MEAN_ROOT * root - 1);
	d->write_a = p->seek_write_track_s - d->write_b;
}

/* B(c) = heads * revolution * (outer c - fall c^2 / 2), solved for c. */
static double cylinder_of(const struct disk *d, double offset)
{
	double turns = offset / (d->p->heads * d->p->revolution_s), outer = d->p->rate_outer;

	return (outer - sqrt(outer * outer - 2 * d->fall * turns)) / d->fall;
}

struct disk_command disk_locate(const struct disk *d, uint64_t offset, uint64_t bytes, bool write)
{
	double c = cylinder_of(d, (double)offset), turns = d->p->heads * c;

	return (struct disk_command){
		.cylinder = c, .angle = turns - floor(turns), .bytes = (double)bytes, .write = write
	};
}

double disk_seek(const struct disk *d, double cylinders, bool write)
{
	if (cylinders < 1)
		return 0;
	return write ? d->write_a + d->write_b * sqrt(cylinders)
		     : d->read_a + d->read_b * sqrt(cylinders);
}

double disk_positioning(const struct disk *d, const struct disk_command *c, double now)
{
	double seek = disk_seek(d, fabs(floor(c->cylinder) - floor(d->cylinder)), c->write);
	double turns = c->angle - (now + seek) / d->p->revolution_s;

	return seek + (turns - floor(turns)) * d->p->revolution_s;
}

double disk_transfer(const struct disk *d, const struct disk_command *c)
{
	return c->bytes / (d->p->rate_outer - d->fall * c->cylinder);
}

void disk_move(struct disk *d, const struct disk_command *c)
{
	double turns = disk_transfer(d, c) / d->p->revolution_s;

	d->cylinder = c->cylinder + turns / d->p->heads;
}
