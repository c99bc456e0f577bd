/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus_second: a smaller DS8000 of a POWER host, RAID-5 over five slower disks. Included by
 * sus_params.h, whose sources these add to:
 *
 *  [10K] Seagate Savvio 10K.4 SAS product manual, rev. A, 4.1 and 4.2, 600 GB: 10 000 rpm, 6 heads,
 *        seeks of 3.8 / 4.4 ms (read, write) on average and 0.30 / 0.56 ms to the next track,
 *        0.2 ms of the controller, 72 to 135 MB/s sustained, 600 MB/s on a port.
 *  [VFC] .cmd_per_lun of Linux drivers/scsi/ibmvscsi/ibmvfc.c, the fibre channel of a virtual
 *        machine on POWER.
 *  [QL]  QLogic, August 2006: 150 000 I/O per second and port of a fibre channel adapter of
 *        4 Gbit/s. Link of 8 Gbit/s, which carries 800 MB/s each way (FC-PI-4, 8GFC).
 *
 * Half of the first system's cache, so file sets are half of those of its scenarios.
 */
#ifndef SUS_SECOND_H
#define SUS_SECOND_H

#define SUS_DISKS 5u  /* the least that is usual: four of data */
#define SUS_SCALE 0.5 /* of the file sets of all scenarios */

#define SUS_PARAMS                                                                               \
	{                                                                                        \
		.disk = { .revolution_s = 60.0 / 10000, /* [10K] */                              \
			  .seek_read_track_s = 0.30e-3, /* [10K], as the next three */           \
			  .seek_read_mean_s = 3.8e-3,                                            \
			  .seek_write_track_s = 0.56e-3,                                         \
			  .seek_write_mean_s = 4.4e-3,                                           \
			  .rate_outer = 135e6, /* [10K], as the next four */                     \
			  .rate_inner = 72e6,                                                    \
			  .capacity_bytes = 600e9,                                               \
			  .heads = 6,                                                            \
			  .command_s = 0.2e-3,                                                   \
			  .window = 8,	    /* assumed */                                        \
			  .patience = 64 }, /* assumed */                                        \
			.queue_depth = 16,  /* [VFC] */                                          \
			.fifo_batch = 16,   /* [DL], as the next three */                        \
			.writes_starved = 2, .read_expire_s = 0.5, .write_expire_s = 5,          \
		.path_s = 150e-6,		   /* assumed */                                 \
			.channel_s = 1 / 150000.0, /* [QL] */                                    \
			.link_bytes_per_s = 800e6, /* [QL] */                                    \
			.processors = 4,	   /* [DS]: of a four-way model */               \
			.read_s = 40e-6,	   /* [DS]: 10^5 per second of a complex */      \
			.write_s = 90e-6,	   /* assumed: two copies, two complexes */      \
			.read_page_s = 0.8e-6, .write_page_s = 1.5e-6, /* assumed */             \
			.spread = 0.5,				       /* assumed */             \
			.volatile_bytes = 25.0 * (1 << 30),	       /* half of [N] */         \
			.nonvolatile_bytes = 1.0 * (1 << 30),	       /* half of [N] */         \
			.destage_low = 0.8, .destage_high = 0.9,       /* [WOW] */               \
			.destage_most = 8,			       /* assumed */             \
			.prefetch_after = 2,			       /* assumed */             \
			.prefetch_first = 16,			       /* assumed: one track */  \
			.prefetch_most = 256,			       /* assumed: one stripe */ \
			.loops = 4,		   /* assumed: a wide port of four lanes */      \
			.loop_bytes_per_s = 600e6, /* [10K] */                                   \
	}

#endif
