/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk: the time one disk takes, from what its data sheet says.
 *
 * The sustained rate falls linearly from the outermost to the innermost cylinder; head switches and
 * skews are in it, so that a byte's place on the disk and the angle under which it passes the heads
 * both follow from the cylinder as a real number c: B(c) bytes lie before it, and heads * c
 * revolutions of reading. Seek over d cylinders: a + b sqrt(d), with a and b from the time to the
 * next track and from the mean over random pairs (E sqrt(x) of such a distance is 8/15 of the full
 * stroke's). Rotation is exact: the platters turn with the clock of the simulation.
 */
#ifndef SUS_DISK_H
#define SUS_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/system-under-study/sus_params.h"

struct disk {
	const struct disk_params *p;
	double cylinders, fall; /* rate = rate_outer - fall * c */
	double read_a, read_b, write_a, write_b;
	double cylinder; /* of the heads */
};

struct disk_command {
	double cylinder, angle; /* of its first byte, revolutions in 0..1 */
	double bytes;
	bool write;
};

/* p must outlive it. */
void disk_init(struct disk *d, const struct disk_params *p);
/* Where a transfer begins; offset and length within the disk. */
struct disk_command disk_locate(const struct disk *d, uint64_t offset, uint64_t bytes, bool write);
/* Seek and rotation, seconds, for a command that is begun at `now`. */
double disk_positioning(const struct disk *d, const struct disk_command *c, double now);
double disk_transfer(const struct disk *d, const struct disk_command *c);
double disk_seek(const struct disk *d, double cylinders, bool write);
/* The heads are where the command ends. */
void disk_move(struct disk *d, const struct disk_command *c);

#endif
