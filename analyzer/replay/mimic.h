/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic: a profile as a job of fio, the reference benchmark: run and characterized it gives the
 * profile back.
 *
 * Closed loads keep clients and think time (or, with several requests under way per client, a queue
 * depth); open ones their rate, as Poisson or evenly spaced arrivals over enough clients that none
 * waits, or in bursts (mimic_bursts.h), which are a log of every request beside the job. Where kernel
 * threads write back what clients wrote to memory, reads are closed and all writes come in bursts. Sizes become a histogram per direction in whole percents, the ratio of Algorithm 1 a
 * percentage of random requests, found by simulating fio's positions through the estimator itself
 * (mimic_position.c), the access distribution a uniform, Zipf or, for a Gaussian hot spot, zoned one
 * over the address range touched. What fio cannot do is refused by name, or left out by the
 * caller's wish and noted.
 *
 * What a run of the job missed can be corrected by that run's own profile (mimic_options.runs): think
 * time, queue depth, rate, strength of bursts and the sequential ratios are moved by what was
 * missing. The next job can be corrected again; two or three runs do.
 */
#ifndef ANALYZER_MIMIC_H
#define ANALYZER_MIMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "analyzer/replay/mimic_bursts.h"
#include "formats/profile/profile.h"

#define MIMIC_SPLIT_MAX	  64 /* sizes in a bssplit of fio */
#define MIMIC_ZONES	  50 /* of 2 % of the accesses each */
#define MIMIC_CLIENTS_MAX 512
#define MIMIC_FLUSHES	  ".flushes"

enum mimic_intensity {
	MIMIC_AUTO,
	MIMIC_CLOSED,
	MIMIC_OPEN,
};

enum mimic_leave_out {
	MIMIC_LEAVE_DISCARDS = 1u << 0, /* discards, and operations that are no read or write */
	MIMIC_LEAVE_BURSTS = 1u << 1,	/* open: Poisson arrivals instead */
	MIMIC_LEAVE_LOCALITY = 1u << 2, /* a range that does not fit the target is made to fit */
};

struct mimic_options {
	enum mimic_intensity intensity;
	const char *target;    /* block device, file or folder; {NAME} of a plan is fine too */
	uint64_t target_bytes; /* of a device or file; 0 unknown or to be made */
	bool directory;
	double duration_s; /* 0: as long as the profile */
	uint64_t seed;
	unsigned int leave_out; /* enum mimic_leave_out */
	const char *log;	/* path of the log that bursts need, for the job; NULL: refused */
	/* Borrowed: profiles of this mimic's runs, each of the job corrected by those before it. */
	const struct profile *const *runs;
	size_t nr_runs;
};

struct mimic_direction {
	double share; /* of reads and writes */
	double rate_per_s;
	struct {
		uint32_t bytes;
		unsigned int percent; /* sums to 100 */
		double share;	      /* that the percents round; sums to 1 */
	} split[MIMIC_SPLIT_MAX];
	size_t nr_split;
	double split_error;	     /* total variation distance of the percents from the shares */
	unsigned int percent_random; /* of requests that do not continue the one before */
	double sequential_ratio;     /* that the simulation gives with it */
};

struct mimic {
	bool open, even; /* even: spaced evenly rather than Poisson */
	bool bursty;	 /* mimic_log() writes what the job reads: all requests, or ... */
	bool write_back; /* ... writes alone, beside clients that read */
	struct mimic_bursts bursts;
	unsigned int log_depth; /* requests of the log under way at most: then arrivals wait */
	const char *log;	/* borrowed; that of flushes has MIMIC_FLUSHES appended */
	unsigned int clients, depth;
	double think_s;
	struct mimic_direction side[2]; /* reads, writes */
	uint64_t first_byte, range_bytes;
	struct access_distribution distribution;
	bool by_zones;	       /* rather than by fio's own law */
	bool random_map;       /* no place twice before all were touched */
	unsigned int fsync;    /* writes to a flush; 0 none */
	bool forced;	       /* writes are forced (FUA) */
	unsigned int nr_files; /* in a folder */
	uint64_t file_bytes;
	const char *target; /* borrowed */
	bool directory;
	double duration_s;
	uint64_t seed;
	struct buf notes; /* lines: what differs from the profile, and what was decided */
};

/*
 * Decides everything. m need not be initialized; release it whatever this returns. 0, -ENOMEM, or
 * -EINVAL with what cannot be mimicked. O(requests of a few subsets of Algorithm 1).
 */
int mimic_make(struct mimic *m, const struct profile *p, const struct mimic_options *o,
	       struct err *err);
void mimic_release(struct mimic *m);
/* A part of it: flushes and forced writes, with a note on what differs from the profile. */
void mimic_make_durable(struct mimic *m, const struct profile *p);
/* Whether fio can be asked for the rate by rate_iops, which takes whole numbers. */
bool mimic_whole_rate(double rate_per_s);
/* The job, appended. 0 or -ENOMEM. */
int mimic_job(const struct mimic *m, struct buf *out);
/*
 * The logs that the job of a bursty mimic reads: duration_s of requests at the rate that was asked, nr
 * of them, and into flushes
 * (NULL where m->fsync is 0) a flush after every so many writes: a log of its own, since fio lets
 * requests wait for a flush. 0, -ENOMEM, or -EIO: a file cannot be written.
 */
int mimic_log(const struct mimic *m, FILE *out, FILE *flushes, uint64_t *nr);
/* The same into m->log and, where flushes are, that with MIMIC_FLUSHES appended; none stays on an error. */
int mimic_save_logs(const struct mimic *m, uint64_t *nr, struct err *err);

/*
 * The ratio of Algorithm 1 that fio's positions would have with that percentage of random requests:
 * nr requests in subsets of `subset`. NaN without memory.
 */
double mimic_simulate_ratio(const struct mimic *m, int side, unsigned int percent_random,
			    uint32_t subset, uint64_t nr);
/* The smallest size that fio is asked for, on whose grid places are. */
uint64_t mimic_grain(const struct mimic *m);
/*
 * Ends of the zones as shares of the range, each of equal probability: of a Gaussian hot spot where
 * it is; of Zipf's law the regions by rank, the busiest first, so that the busiest tenth and fifth
 * have the shares that were seen.
 */
void mimic_zones(const struct access_distribution *d, double ends[MIMIC_ZONES]);
/* The share of requests that the busiest fifth of the regions gets where fio draws by Zipf's law; NaN
 * without memory. */
double mimic_scattered_top_20(const struct mimic *m);

#endif
