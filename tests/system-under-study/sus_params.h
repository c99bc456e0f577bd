/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus_params: the array, its disks and its hosts that the system under study simulates.
 *
 * Two systems that have nothing in common but the way they work: of sus_first.h, which the models
 * were drawn up beside, and of sus_second.h (compiled with SUS_SECOND), which nobody had seen when
 * they were done. Each number has its source beside it; where nothing is published the line says
 * "assumed". All were fixed before any model was held against the simulator and are not changed to
 * fit one.
 *
 * Sources of both:
 *  [N]   Noorshams, Modeling and prediction of I/O performance in virtualized environments, 2015,
 *        7.3.1: cache sizes, array, benchmark.
 *  [DS]  IBM DS8000 Concepts and Architecture (SG24-6452), 12.5: read hits "in the 6 digits" on two
 *        complexes of two processors; 2.2.1, 2.3: writes go to the volatile memory of one complex
 *        and the persistent memory of the other; switched 2 x 2 loops behind a device adapter.
 *  [AMP] Gill, Bathen: AMP, adaptive multi-stream prefetching in a shared cache, FAST 2007.
 *  [WOW] Gill, Modha: WOW, wise ordering for writes, FAST 2005: groups of writes, clock in address
 *        order, destage rate linear between two thresholds of the non-volatile memory.
 *  [DL]  Linux Documentation/block/deadline-iosched.rst.
 */
#ifndef SUS_PARAMS_H
#define SUS_PARAMS_H

#include <stdint.h>

#define SUS_PAGE     4096u	      /* cache segment, [N] and [DS]: 4 KB */
#define SUS_TRACK    65536u	      /* fixed-block logical track: 128 blocks of 512 bytes */
#define SUS_STRIP    262144u	      /* of one disk in a stripe */
#define SUS_DATA     (SUS_DISKS - 1u) /* strips of data in a stripe; one of parity, rotating */
#define SUS_STRIPE   ((uint64_t)SUS_DATA * SUS_STRIP)
#define SUS_FILE     16777216u /* [N]: files of 16 MB */
#define SUS_REQUESTS 256u      /* [N]: a client stays with one file for as many requests */

struct disk_params {
	double revolution_s;
	double seek_read_track_s, seek_read_mean_s, seek_write_track_s, seek_write_mean_s;
	double rate_outer, rate_inner; /* bytes per second, sustained */
	double capacity_bytes;
	double heads;
	double command_s;  /* to understand a command */
	unsigned window;   /* commands it orders by positioning time */
	unsigned patience; /* times a command may be passed over */
};

struct sus_params {
	struct disk_params disk;
	/* Host: one block device with the deadline scheduler in each virtual machine. */
	unsigned queue_depth; /* of a device */
	unsigned fifo_batch, writes_starved;
	double read_expire_s, write_expire_s;
	double path_s; /* of one request through guest, hypervisor, switch and back, unqueued */
	/* Channel, shared by the virtual machines: one processor, one link each way. */
	double channel_s;
	double link_bytes_per_s;
	/* Array: processors of the complex that owns the volumes. */
	unsigned processors;
	double read_s, write_s, read_page_s, write_page_s;
	double spread; /* coefficient of variation of processor times (gamma) */
	double volatile_bytes, nonvolatile_bytes;
	double destage_low, destage_high;	/* shares of the non-volatile memory */
	unsigned destage_most;			/* stripes being destaged at a time */
	unsigned prefetch_after;		/* requests in a row */
	unsigned prefetch_first, prefetch_most; /* pages */
	unsigned loops;
	double loop_bytes_per_s;
};

#ifdef SUS_SECOND
#include "tests/system-under-study/sus_second.h"
#else
#include "tests/system-under-study/sus_first.h"
#endif

#endif
