/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: the seven disks with their queues, and the loops between them and the array. A disk
 * takes from its first `window` commands the one whose seek and rotation are shortest, and one that
 * was passed over `patience` times before any other. What it has read or is to write goes over the
 * first loop that is free; the disk does not wait for it.
 */
#ifndef SUS_BACKEND_H
#define SUS_BACKEND_H

#include "tests/system-under-study/disk.h"

#define BACKEND_NONE  UINT32_MAX
#define BACKEND_LOOPS 8

struct backend_command {
	struct disk_command at;
	double bytes;
	uint32_t owner; /* whatever the caller knows it by */
	uint32_t next;	/* of its disk's queue, or of the free list */
	unsigned passed;
};

struct backend_disk {
	struct disk disk;
	uint32_t first, last; /* waiting */
	uint32_t now;	      /* at work, or BACKEND_NONE */
	uint32_t nr_waiting;
	double busy_s;
};

struct backend {
	const struct sus_params *p;
	struct backend_disk disks[SUS_DISKS];
	double loop_free[BACKEND_LOOPS];  /* when */
	struct backend_command *commands; /* owned */
	uint32_t nr, free;
};

void backend_init(struct backend *b, const struct sus_params *p);
void backend_release(struct backend *b);
/* 0 or -ENOMEM. */
int backend_add(struct backend *b, unsigned disk, uint64_t offset, uint64_t bytes, bool write,
		uint32_t owner);
/* Begins a command on an idle disk; true with the time at which the disk is done with it. */
bool backend_begin(struct backend *b, unsigned disk, double now, double *done);
/* The disk is done at `now`: its command's owner, and when the data is through a loop. */
double backend_end(struct backend *b, unsigned disk, double now, uint32_t *owner);

#endif
