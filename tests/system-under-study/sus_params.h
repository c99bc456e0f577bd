/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus_params: the array, its disks and its hosts that the system under study simulates.
 *
 * The system of Noorshams (2015, 7.3.1): a System z host, a DS8700 with 50 GB of volatile and 2 GB
 * of non-volatile cache, RAID-5 over seven disks. Numbers come from what was published of such
 * parts; each has its source beside it. Where nothing is published the line says "assumed". All
 * were fixed before any model was held against the simulator and are not changed to fit one.
 *
 * Sources:
 *  [N]   Noorshams, Modeling and prediction of I/O performance in virtualized environments, 2015,
 *        7.3.1: cache sizes, array, benchmark.
 *  [15K] Seagate Cheetah 15K.5 data sheet and product manual, 300 GB Fibre Channel: 15 000 rpm,
 *        seeks of 3.5 / 4.0 ms (read, write) on average and 0.2 / 0.4 ms to the next track, 73 to
 *        125 MB/s sustained, 8 heads.
 *  [Z10] IBM System z10 EC, reference guide, "FCP - increased performance for small block sizes":
 *        57 000 I/O per second of 4 KB with one FICON Express4 channel, reads, writes or a mix; link
 *        of 4 Gbit/s, which carries 400 MB/s each way (FC-PI-2, 4GFC).
 *  [DS]  IBM DS8000 Concepts and Architecture (SG24-6452), 12.5: read hits "in the 6 digits" on two
 *        complexes of two processors; 2.2.1, 2.3: writes go to the volatile memory of one complex
 *        and the persistent memory of the other; switched 2 x 2 loops behind a device adapter.
 *  [AMP] Gill, Bathen: AMP, adaptive multi-stream prefetching in a shared cache, FAST 2007.
 *  [WOW] Gill, Modha: WOW, wise ordering for writes, FAST 2005: groups of writes, clock in address
 *        order, destage rate linear between two thresholds of the non-volatile memory.
 *  [DL]  Linux Documentation/block/deadline-iosched.rst; zfcp.queue_depth in Linux on System z,
 *        Device Drivers, Features, and Commands.
 */
#ifndef SUS_PARAMS_H
#define SUS_PARAMS_H

#include <stdint.h>

#define SUS_PAGE     4096u	      /* cache segment, [N] and [DS]: 4 KB */
#define SUS_TRACK    65536u	      /* fixed-block logical track: 128 blocks of 512 bytes */
#define SUS_STRIP    262144u	      /* of one disk in a stripe */
#define SUS_DISKS    7u		      /* [N]: six of data and one of parity, rotating */
#define SUS_DATA     (SUS_DISKS - 1u) /* strips of data in a stripe */
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

#define SUS_PARAMS                                                                                 \
	{                                                                                          \
		.disk = { .revolution_s = 60.0 / 15000, /* [15K] */                                \
			  .seek_read_track_s = 0.2e-3,	/* [15K], as the next three */             \
			  .seek_read_mean_s = 3.5e-3,                                              \
			  .seek_write_track_s = 0.4e-3,                                            \
			  .seek_write_mean_s = 4.0e-3,                                             \
			  .rate_outer = 125e6,	   /* [15K] */                                     \
			  .rate_inner = 73e6,	   /* [15K] */                                     \
			  .capacity_bytes = 300e9, /* [15K] */                                     \
			  .heads = 8,		   /* [15K] */                                     \
			  .command_s = 0.1e-3,	   /* assumed */                                   \
			  .window = 16,	    /* assumed: tags that an adapter uses per disk */      \
			  .patience = 64 }, /* assumed */                                          \
			.queue_depth = 32,  /* [DL]: zfcp */                                       \
			.fifo_batch = 16,   /* [DL], as the next three */                          \
			.writes_starved = 2, .read_expire_s = 0.5, .write_expire_s = 5,            \
		.path_s = 100e-6,		   /* assumed */                                   \
			.channel_s = 1 / 57000.0,  /* [Z10] */                                     \
			.link_bytes_per_s = 400e6, /* [Z10] */                                     \
			.processors = 2,	   /* [DS] */                                      \
			.read_s = 20e-6,  /* [DS]: twice the rate of two processors at 10^5 / 2 */ \
			.write_s = 50e-6, /* assumed: two copies, two complexes */                 \
			.read_page_s = 0.5e-6, .write_page_s = 1e-6, /* assumed */                 \
			.spread = 0.3,				     /* assumed */                 \
			.volatile_bytes = 50.0 * (1 << 30),	     /* [N] */                     \
			.nonvolatile_bytes = 2.0 * (1 << 30),	     /* [N] */                     \
			.destage_low = 0.8, .destage_high = 0.9,     /* [WOW] */                   \
			.destage_most = 16,			     /* assumed */                 \
			.prefetch_after = 3,  /* assumed: two in a row come about by chance */     \
			.prefetch_first = 32, /* assumed: two tracks */                            \
			.prefetch_most = 384, /* assumed: one stripe */                            \
			.loops = 2,	      /* [DS] */                                           \
			.loop_bytes_per_s = 200e6, /* [DS]: 2 Gbit/s */                            \
	}

#endif
