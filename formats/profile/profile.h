/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: the characterization of one device over one period, schema blkcast.profile/1.
 *
 * workload/ fills it, the agent publishes it, segments carry it, and the analyzer stores, compares
 * and draws it. formats/profile/profile.md is the normative description of the JSON form, whose
 * keys are a contract. In the struct an unknown number is NaN and an unknown list is empty; in JSON
 * both are null.
 */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/histogram.h"
#include "formats/ledger.h"
#include "formats/profile/arrival_tally.h"
#include "formats/request.h"

#define PROFILE_SCHEMA	   "blkcast.profile/1"
#define PROFILE_NAME_BYTES 64
#define PROFILE_WHY_BYTES  256
/* The end of a profile is below this, in seconds since 1970: nanoseconds in 64 bits end there. */
#define PROFILE_END_S_MAX  18446744073.0
#define PROFILE_MAX_PAUSES 16 /* number of pauses that a profile names one by one */

/* The stages of a response time. For every request total = queue + device. */
enum stage {
	STAGE_QUEUE,  /* arrival to dispatch */
	STAGE_DEVICE, /* dispatch to completion, which biolatency shows */
	STAGE_TOTAL,  /* arrival to completion, which iostat shows as await */
};
#define NR_STAGES 3
const char *stage_name(unsigned int stage); /* Returns NULL outside of the enum. */

/*
 * Size classes of the joint table of sizes and latencies, by their inclusive upper ends; the last
 * class is open.
 */
#define NR_SIZE_CLASSES 8
/* The ends are 4, 8, 16, 32, 64, 128 and 256 KiB. */
extern const uint32_t size_class_end_bytes[NR_SIZE_CLASSES - 1];
unsigned int size_class_of(uint32_t bytes);

struct size_count {
	uint32_t bytes;
	uint64_t count;
};

struct idc_point {
	double window_s;
	double idc; /* NaN where there are too few windows */
};

struct cache_point {
	uint64_t cache_bytes;
	double miss_ratio;
};

enum distribution_kind {
	DISTRIBUTION_UNKNOWN,
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_GAUSSIAN,
	DISTRIBUTION_ZIPF,
};

/* The distribution of accesses over equal regions of the touched address range. */
struct access_distribution {
	enum distribution_kind kind; /* chosen by the Akaike information criterion (AIC) */
	uint32_t nr_regions;
	uint64_t region_bytes;
	uint64_t first_byte; /* offset on the device at which region 0 begins */
	double mean_ratio;   /* gaussian: centre and standard deviation as shares of the range */
	double deviation_ratio;
	double exponent; /* zipf: theta by maximum likelihood over the ranked regions */
	/* Kolmogorov-Smirnov distance between the chosen distribution and the data, 0 to 1 */
	double ks_distance;
	double top_10_ratio; /* share of accesses in the busiest 10 % of the regions */
	double top_20_ratio;
	double aic_uniform, aic_gaussian, aic_zipf;
};

struct response_times {
	/*
	 * The mean of the total stage where only the mean is known (from counters). NaN where
	 * histograms exist, and where nothing is known.
	 */
	double total_mean_s;
	struct histogram stage[NR_STAGES];
	struct histogram size_class[NR_SIZE_CLASSES]; /* histograms of the total stage */
};

struct direction_profile { /* for reads, or for writes */
	double size_mean_bytes;
	struct size_count *sizes; /* owned; by bytes ascending; exact */
	size_t nr_sizes;
	uint64_t other_sizes; /* requests whose size is beyond the bound on distinct sizes */
	double sequential_ratio, stream_ratio, continuing_ratio;
	struct arrival_tally arrivals[NR_TALLIES]; /* state found on arrival */
	struct response_times response;
};

/* Counts that a source may not know. An unknown count is 0 in the struct and null in JSON. */
enum profile_unknown {
	UNKNOWN_READ = 1u << OPERATION_READ, /* requests and bytes of the operation */
	UNKNOWN_WRITE = 1u << OPERATION_WRITE,
	UNKNOWN_DISCARD = 1u << OPERATION_DISCARD,
	UNKNOWN_FLUSH = 1u << OPERATION_FLUSH,
	UNKNOWN_OTHER = 1u << OPERATION_OTHER,
	UNKNOWN_ERRORS = 1u << 8,
	UNKNOWN_REQUEUES = 1u << 9,
	UNKNOWN_KERNEL_THREAD = 1u << 10,
	UNKNOWN_OWN = 1u << 11,
	UNKNOWN_DURABILITY = 1u << 12,
};
/* The source does not distinguish reads from writes, so all its requests count as other ones. */
#define UNKNOWN_OPERATION (UNKNOWN_READ | UNKNOWN_WRITE | UNKNOWN_DISCARD | UNKNOWN_FLUSH)

/* An interval of the period in which nothing ran (formats/ledger.h). */
struct profile_pause {
	uint8_t cause; /* enum pause_cause */
	double begin_s, length_s;
};

struct profile {
	char host[PROFILE_NAME_BYTES];
	char device[PROFILE_NAME_BYTES];      /* such as "7:0"; "" for a sum over devices */
	char device_name[PROFILE_NAME_BYTES]; /* such as "loop0" */
	uint8_t source, layer;
	double begin_s, end_s; /* CLOCK_REALTIME; end > begin */

	uint32_t unknown; /* enum profile_unknown */
	uint64_t requests[NR_OPERATIONS];
	uint64_t bytes[NR_OPERATIONS];
	uint64_t lost; /* requests known to be missing from the period */
	uint64_t errors, requeues;
	uint64_t kernel_thread_requests;
	/* requests of the agent itself, which are also counted above unless they are left out */
	uint64_t own_requests;
	/*
	 * requests in flight during a pause: they have no response time and do not count as in
	 * flight
	 */
	uint64_t paused_requests;
	/* the first pauses of the period, and those since the profile before */
	struct profile_pause pauses[PROFILE_MAX_PAUSES];
	size_t nr_pauses;

	struct {
		double clients_mean, in_flight_mean, think_time_mean_s;
		double sample_interval_s; /* 1/phi, where phi is the sampling rate */
	} closed;
	struct {
		double rate_per_s, interarrival_mean_s, interarrival_scv, lag1_autocorrelation;
		double clock_resolution_s; /* resolution of the arrivals' clock; NaN: unknown */
		struct idc_point *idc;	   /* owned */
		size_t nr_idc;
	} open;

	struct direction_profile read, write;
	struct response_times flush; /* its size_class stays empty, because a flush has no size */
	struct {
		uint64_t forced_writes;	  /* writes with FUA */
		uint64_t flushing_writes; /* writes with a flush before them, PREFLUSH */
		uint64_t awaited_flushes; /* flushes after whose end their thread wrote next */
	} durability;
	/* state found on arrival by requests whose direction is unknown */
	struct arrival_tally undivided_arrivals[NR_TALLIES];
	double all_sequential_ratio, all_stream_ratio, all_continuing_ratio;
	uint32_t window_requests; /* subset size of Algorithm 1 (Noorshams 2015) */

	struct {
		double footprint_bytes; /* NaN: unknown */
		double file_count_mean, file_size_mean_bytes, file_set_size_mean_bytes;
		struct access_distribution distribution;
		struct cache_point *miss_ratio; /* owned; by cache_bytes ascending */
		size_t nr_miss_ratio;
		uint32_t nr_miss_ratio_samples;	 /* blocks that the curve is made of; 0: unknown */
		double miss_ratio_sampled_ratio; /* share of these blocks among all; NaN: unknown */
		uint32_t block_bytes;		 /* block size of footprint and curve: 4096 */
	} locality;

	struct {
		double coverage_ratio; /* share of the period that was watched */
		double lost_ratio;
		bool incomplete; /* memory was short, so some estimates miss some requests */
		char grade;	 /* 'A'..'E' */
		char why[PROFILE_WHY_BYTES];
	} quality;

	/* owned text of a JSON object, or NULL: facts that only one source knows */
	char *source_detail;
};

/* Sets everything to unknown: NaN, empty or 0. */
void profile_init(struct profile *p);
void profile_release(struct profile *p);
/*
 * Makes a deep copy in dst, which is initialized or zeroed. Returns 0, or -ENOMEM with dst
 * released.
 */
int profile_copy(struct profile *dst, const struct profile *src);

/*
 * Converts a profile in which some requests have no known operation. UNKNOWN_OPERATION is set, all
 * requests count as other ones, and everything that concerns only reads or only writes becomes
 * unknown.
 */
void profile_undivide(struct profile *p);
/* Returns whether reads and writes are not distinguished in the profile. */
bool profile_is_undivided(const struct profile *p);
/*
 * Return the requests that moved data, and their bytes, whether or not reads and writes are
 * distinguished.
 */
uint64_t profile_data_requests(const struct profile *p);
uint64_t profile_data_bytes(const struct profile *p);

/*
 * Return the number of reads and writes whose response time was not recorded (no completion or no
 * arrival was seen, or they were in flight during a pause), and their share of all reads and
 * writes. Both are NaN where the source never records single response times: counters, and traces
 * without operations. The ratio is also NaN where there is no read or write.
 */
double profile_untimed_requests(const struct profile *p);
double profile_untimed_ratio(const struct profile *p);
/*
 * Returns whether the source gives an order of requests but no times: there are several requests,
 * and none has a known arrival or response time. Begin, end and length of such a profile have no
 * meaning.
 */
bool profile_is_timeless(const struct profile *p);
/* Returns the seconds of the period that were watched, or NaN where the coverage is unknown. */
double profile_watched_s(const struct profile *p);
/*
 * Returns the seconds by which rates are divided: those watched, or the whole period where the
 * coverage is unknown.
 */
double profile_rate_s(const struct profile *p);

/*
 * Returns the mean response time of a stage, from its histogram or, for the total, from counters;
 * NaN: unknown.
 */
double profile_mean_s(const struct response_times *r, enum stage stage);

/*
 * Adds the JSON object in json to source_detail as member `name` ("dasd", "zfcp", "diskstats").
 * Returns 0, -ENOMEM, or -EINVAL where json is not an object; p is then unchanged.
 */
int profile_set_detail(struct profile *p, const char *name, const char *json);

/* Adds a pause. Where there is no room, the last pause is extended by its length. */
void profile_add_pause(struct profile *p, const struct profile_pause *pause);

/* Sets the quality from coverage, losses, request counts and the limits of the source. */
void profile_grade(struct profile *p);

/*
 * Explains why burstiness or the variation of interarrival times is unknown although requests were
 * seen: the clock is too coarse. Writes one sentence to why and returns it, or returns NULL where
 * nothing was refused.
 */
const char *profile_refused(const struct profile *p, char why[PROFILE_WHY_BYTES]);

enum profile_json_style {
	PROFILE_JSON_LINE,   /* one line, for streams and segments */
	PROFILE_JSON_PRETTY, /* indented, for people and files */
};
/* Appends the JSON object to out. Returns 0 or -ENOMEM. */
int profile_to_json(const struct profile *p, enum profile_json_style style, struct buf *out);
/* Appends the JSON object of a stage in one line, as details contain it. Returns 0 or -ENOMEM. */
int profile_stage_to_json(const struct histogram *h, struct buf *out);
/*
 * Reads one JSON object of PROFILE_SCHEMA into an initialized p. Returns 0, -ENOMEM, or -EINVAL
 * with the path of the missing or wrong field ("response_time.read.total.count: expected ..."). On
 * failure p is released. Percentiles and means are recomputed from the histograms.
 */
int profile_from_json(const char *text, size_t len, struct profile *p, struct err *err);
/* Reads the profile from a value of jansson, which stays the caller's. */
struct json_t;
int profile_from_value(const struct json_t *value, struct profile *p, struct err *err);

#endif
