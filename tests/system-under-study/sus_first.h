/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus_first: the system of Noorshams (2015, 7.3.1): a System z host, a DS8700 with 50 GB of
 * volatile and 2 GB of non-volatile cache, RAID-5 over seven disks. Included by sus_params.h, whose
 * sources these add to:
 *
 *  [15K] Seagate Cheetah 15K.5 data sheet and product manual, 300 GB Fibre Channel: 15 000 rpm,
 *        seeks of 3.5 / 4.0 ms (read, write) on average and 0.2 / 0.4 ms to the next track, 73 to
 *        125 MB/s sustained, 8 heads.
 *  [Z10] IBM System z10 EC, reference guide, "FCP - increased performance for small block sizes":
 *        57 000 I/O per second of 4 KB with one FICON Express4 channel, reads, writes or a mix;
 *        link of 4 Gbit/s, which carries 400 MB/s each way (FC-PI-2, 4GFC).
 *  [ZF]  zfcp.queue_depth in Linux on System z, Device Drivers, Features, and Commands.
 */
#ifndef SUS_FIRST_H
#define SUS_FIRST_H

#define SUS_DISKS 7u  /* [N] */
#define SUS_SCALE 1.0 /* of the file sets of all scenarios */

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
			.queue_depth = 32,  /* [ZF] */                                             \
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
