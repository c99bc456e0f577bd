/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic: this module turns a profile into a job of fio, the reference benchmark. A run of the job,
 * if it is characterized, gives the same profile again.
 *
 * Closed loads keep clients and think time (or, with several requests under way per client, a queue
 * depth). Open loads keep their rate, as Poisson or evenly spaced arrivals over so many clients
 * that no arrival waits, or in bursts (mimic_bursts.h), for which a log of every request is written
 * beside the job. If kernel threads write back what clients wrote to memory, reads are closed and
 * all writes come in bursts. Sizes become a histogram per direction in whole percents. The
 * sequential ratio of Algorithm 1 becomes a percentage of random requests, which is found by
 * simulating fio's offsets and applying the estimator itself to them (mimic_position.c). The access
 * distribution becomes uniform, Zipf or, for a Gaussian hot spot, zoned over the address range that
 * was touched. If fio cannot do something, the module refuses the profile with a message that names
 * the property, or leaves the property out if the caller asks for it, and notes that.
 *
 * The profile of a run can be used to correct the next job (mimic_options.runs): think time, queue
 * depth, rate, strength of bursts and the sequential ratios are changed by the difference between
 * the profile and the run. The next job can be corrected again; two or three runs are enough.
 */
#ifndef ANALYZER_MIMIC_H
#define ANALYZER_MIMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/replay/mimic_bursts.h"
#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"

#define MIMIC_SPLIT_MAX	  64 /* sizes in a bssplit of fio */
#define MIMIC_ZONES	  50 /* Each zone has 2 % of the accesses. */
#define MIMIC_CLIENTS_MAX 512
#define MIMIC_FLUSHES	  ".flushes"

enum mimic_intensity {
	MIMIC_AUTO,
	MIMIC_CLOSED,
	MIMIC_OPEN,
};

enum mimic_leave {
	MIMIC_LEAVE_DISCARDS = 1u << 0, /* discards, and operations that are no read or write */
	MIMIC_LEAVE_BURSTS = 1u << 1,	/* open loads: Poisson arrivals instead of bursts */
	/* an address range that does not fit the target is changed so that it fits */
	MIMIC_LEAVE_LOCALITY = 1u << 2,
};

/* Adds "discards", "bursts" or "locality" to the set. Returns false for any other name. */
bool mimic_leave_out(unsigned int *set, const char *name);

struct mimic_options {
	enum mimic_intensity intensity;
	const char *target;    /* block device, file or folder; {NAME} of a plan is allowed too */
	uint64_t target_bytes; /* of a device or file; 0: unknown, or the file will be created */
	bool directory;
	double duration_s; /* 0: as long as the profile */
	uint64_t seed;
	unsigned int leave_out; /* enum mimic_leave */
	/* path of the log that bursts need, as used in the job; NULL: bursts are refused */
	const char *log;
	/*
	 * Borrowed: profiles of runs of this mimic. The job of each run was corrected by the runs
	 * before it.
	 */
	const struct profile *const *runs;
	size_t nr_runs;
};

struct mimic_direction {
	double share; /* of all reads and writes */
	double rate_per_s;
	struct {
		uint32_t bytes;
		unsigned int percent; /* sums to 100 */
		double share;	      /* the share that the percent rounds; sums to 1 */
	} split[MIMIC_SPLIT_MAX];
	size_t nr_split;
	/* total variation distance between the percents and the shares */
	double split_error;
	/* percent of the requests that do not continue the previous one */
	unsigned int percent_random;
	double sequential_ratio; /* the ratio that the simulation gives with percent_random */
};

struct mimic {
	bool open, even; /* even: spaced evenly rather than Poisson */
	/* mimic_log() writes the log that the job reads: of all requests, or ... */
	bool bursty;
	bool write_back; /* ... of writes only, beside clients that read */
	struct mimic_bursts bursts;
	/* largest number of requests of the log under way; further arrivals wait */
	unsigned int log_depth;
	/* borrowed; the path of the log of flushes has MIMIC_FLUSHES appended */
	const char *log;
	unsigned int clients, depth;
	double think_s;
	struct mimic_direction side[2]; /* reads, writes */
	uint64_t first_byte, range_bytes;
	struct access_distribution distribution;
	bool by_zones;	       /* zones are used instead of fio's own Zipf law */
	bool random_map;       /* no offset is used twice before all were used */
	unsigned int fsync;    /* number of writes per flush; 0: no flushes */
	bool forced;	       /* writes are forced (FUA) */
	unsigned int nr_files; /* in a folder */
	uint64_t file_bytes;
	const char *target; /* borrowed */
	bool directory;
	double duration_s;
	uint64_t seed;
	struct buf notes; /* lines that say what differs from the profile, and what was decided */
};

/*
 * Decides everything. m need not be initialized; release it whatever this returns. Returns 0,
 * -ENOMEM, -EINVAL with what cannot be mimicked, or -EDOM if leave_out allows to leave that out.
 * O(requests of a few subsets of Algorithm 1).
 */
int mimic_make(struct mimic *m, const struct profile *p, const struct mimic_options *o,
	       struct err *err);
void mimic_release(struct mimic *m);
/*
 * Does a part of mimic_make(): sets flushes and forced writes, with a note on what differs from the
 * profile.
 */
void mimic_make_durable(struct mimic *m, const struct profile *p);
/* Returns whether fio's rate_iops, which takes whole numbers, can express the rate. */
bool mimic_whole_rate(double rate_per_s);
/* Appends the job to out. Returns 0 or -ENOMEM. */
int mimic_job(const struct mimic *m, struct buf *out);
/*
 * Writes the log that the job of a bursty mimic reads: duration_s of requests at the rate of the
 * mimic; *nr is their number. Writes into flushes (NULL if m->fsync is 0) one flush after every
 * m->fsync writes. The flushes have a separate log, because fio lets the requests of one log wait
 * for a flush. Returns 0, -ENOMEM, or -EIO if a write fails.
 */
int mimic_log(const struct mimic *m, FILE *out, FILE *flushes, uint64_t *nr);
/*
 * Writes the logs of mimic_log() to m->log and, if there are flushes, to that path with
 * MIMIC_FLUSHES appended. After an error neither file remains.
 */
int mimic_save_logs(const struct mimic *m, uint64_t *nr, struct err *err);

/*
 * Returns the ratio of Algorithm 1 that fio's offsets would have with that percentage of random
 * requests: nr requests in subsets of `subset`. NaN if memory is out.
 */
double mimic_simulate_ratio(const struct mimic *m, int side, unsigned int percent_random,
			    uint32_t subset, uint64_t nr);
/* Returns the smallest request size of the job; all offsets are multiples of it. */
uint64_t mimic_grain(const struct mimic *m);
/*
 * Gives the ends of the zones as shares of the range, where each zone has the same probability. For
 * a Gaussian hot spot the zones lie where the hot spot is. For Zipf's law they are the regions by
 * rank, the busiest first, so that the busiest tenth and fifth have the recorded shares.
 */
void mimic_zones(const struct access_distribution *d, double ends[MIMIC_ZONES]);
/* Returns the share of requests that the busiest fifth of the regions gets if fio draws by
 * Zipf's law; NaN if memory is out. */
double mimic_scattered_top_20(const struct mimic *m);

#endif
