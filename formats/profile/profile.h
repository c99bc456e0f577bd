/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: the characterization of one device over one period, blkcast.profile/1.
 *
 * workload/ fills it, the agent publishes it, segments carry it, the analyzer stores, compares and
 * draws it. formats/profile/profile.md is the normative description of the JSON form; the keys are a
 * contract. In the struct an unknown number is NaN and an unknown list is empty; in JSON null.
 */
#ifndef FORMATS_PROFILE_H
#define FORMATS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/histogram.h"
#include "formats/ledger.h"
#include "formats/request.h"

#define PROFILE_SCHEMA	   "blkcast.profile/1"
#define PROFILE_NAME_BYTES 64
#define PROFILE_WHY_BYTES  256
#define PROFILE_MAX_PAUSES 16 /* that a profile names one by one */

/* Stages of a response time: total = queue + device for every request. */
enum stage {
	STAGE_QUEUE,  /* arrival to dispatch */
	STAGE_DEVICE, /* dispatch to completion: what biolatency shows */
	STAGE_TOTAL,  /* arrival to completion: what iostat's await shows */
};
#define NR_STAGES 3
const char *stage_name(unsigned int stage); /* NULL outside the enum */

/* Size classes of the joint size and latency table: upper ends, inclusive; the last is open. */
#define NR_SIZE_CLASSES 8
/* 4, 8, 16, 32, 64, 128, 256 KiB */
extern const uint32_t size_class_end_bytes[NR_SIZE_CLASSES - 1];
unsigned int size_class_of(uint32_t bytes);

struct size_count {
	uint32_t bytes;
	uint64_t count;
};

struct idc_point {
	double window_s;
	double idc; /* NaN with too few windows to tell */
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

/* Accesses over equal regions of the address range touched. */
struct access_distribution {
	enum distribution_kind kind; /* chosen by AIC */
	uint32_t nr_regions;
	uint64_t region_bytes;
	uint64_t first_byte; /* where region 0 begins on the device */
	double mean_ratio;   /* gaussian: centre and deviation as shares of the range */
	double deviation_ratio;
	double exponent;     /* zipf: theta by maximum likelihood over ranked regions */
	double ks_distance;  /* chosen distribution against the data, 0..1 */
	double top_10_ratio; /* share of accesses on the busiest 10 % of the regions */
	double top_20_ratio;
	double aic_uniform, aic_gaussian, aic_zipf;
};

struct response_times {
	/* Mean of the total stage where it is all that is known (counters); NaN where the histograms
	 * tell, and where nothing does. */
	double total_mean_s;
	struct histogram stage[NR_STAGES];
	struct histogram size_class[NR_SIZE_CLASSES]; /* total stage */
};

struct direction_profile { /* reads, or writes */
	double size_mean_bytes;
	struct size_count *sizes; /* owned, by bytes ascending; exact */
	size_t nr_sizes;
	uint64_t other_sizes; /* requests of sizes beyond the bound on distinct sizes */
	double sequential_ratio, stream_ratio, continuing_ratio;
	struct response_times response;
};

/* Counts that a source may not know: then 0 in the struct, null in JSON. */
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
/* The source does not tell reads from writes: all its requests count as other ones. */
#define UNKNOWN_OPERATION (UNKNOWN_READ | UNKNOWN_WRITE | UNKNOWN_DISCARD | UNKNOWN_FLUSH)

/* An interval of the period in which nothing ran: formats/ledger.h. */
struct profile_pause {
	uint8_t cause; /* enum pause_cause */
	double begin_s, length_s;
};

struct profile {
	char host[PROFILE_NAME_BYTES];
	char device[PROFILE_NAME_BYTES];      /* "7:0"; "" after a sum over devices */
	char device_name[PROFILE_NAME_BYTES]; /* "loop0" */
	uint8_t source, layer;
	double begin_s, end_s; /* CLOCK_REALTIME; end > begin */

	uint32_t unknown; /* enum profile_unknown */
	uint64_t requests[NR_OPERATIONS];
	uint64_t bytes[NR_OPERATIONS];
	uint64_t lost; /* requests known to be missing from the period */
	uint64_t errors, requeues;
	uint64_t kernel_thread_requests;
	uint64_t own_requests;	  /* the agent's own, counted above too unless left out */
	uint64_t paused_requests; /* under way in a pause: without response time, not in flight */
	struct profile_pause pauses[PROFILE_MAX_PAUSES]; /* the first ones of the time, and since
							  * the profile before */
	size_t nr_pauses;

	struct {
		double clients_mean, in_flight_mean, think_time_mean_s;
		double sample_interval_s; /* 1/phi */
	} closed;
	struct {
		double rate_per_s, interarrival_mean_s, interarrival_scv, lag1_autocorrelation;
		double clock_resolution_s; /* of the arrivals; NaN unknown */
		struct idc_point *idc;	   /* owned */
		size_t nr_idc;
	} open;

	struct direction_profile read, write;
	struct response_times flush; /* size_class stays empty: a flush has no size */
	struct {
		uint64_t forced_writes;	  /* with FUA */
		uint64_t flushing_writes; /* with a flush before them, PREFLUSH */
		uint64_t awaited_flushes; /* after whose end their thread wrote next */
	} durability;
	double all_sequential_ratio, all_stream_ratio, all_continuing_ratio;
	uint32_t window_requests; /* subset size of Algorithm 1 */

	struct {
		double footprint_bytes; /* NaN unknown */
		double file_count_mean, file_size_mean_bytes, file_set_size_mean_bytes;
		struct access_distribution distribution;
		struct cache_point *miss_ratio; /* owned, by cache_bytes ascending */
		size_t nr_miss_ratio;
		uint32_t block_bytes; /* of footprint and curve: 4096 */
	} locality;

	struct {
		double coverage_ratio; /* share of the period that was being watched */
		double lost_ratio;
		bool incomplete; /* memory ran out: some estimates miss some requests */
		char grade;	 /* 'A'..'E' */
		char why[PROFILE_WHY_BYTES];
	} quality;

	char *source_detail; /* owned JSON object text, or NULL: what only one source knows */
};

/* Everything unknown: NaN, empty, 0. */
void profile_init(struct profile *p);
void profile_release(struct profile *p);
/* Deep copy into an initialized or zeroed dst; 0 or -ENOMEM (dst then released). */
int profile_copy(struct profile *dst, const struct profile *src);

/*
 * For a profile of which some requests did not tell their operation (UNKNOWN_OPERATION then): all count
 * as other ones, and what is of reads or of writes alone becomes unknown.
 */
void profile_undivide(struct profile *p);
/* Whether reads are not told from writes in it. */
bool profile_is_undivided(const struct profile *p);
/* Requests that moved data, and their bytes, whether or not reads are told from writes. */
uint64_t profile_data_requests(const struct profile *p);
uint64_t profile_data_bytes(const struct profile *p);

/*
 * Reads and writes whose response time was not recorded (no completion seen, no arrival seen, or
 * under way in a pause), and their share of all reads and writes. Both are NaN where the source
 * never tells single response times apart: counters, and traces without operations. The ratio is
 * also NaN without any read or write.
 */
double profile_untimed_requests(const struct profile *p);
double profile_untimed_ratio(const struct profile *p);
/*
 * Whether the source tells an order of requests and no times: several requests, of which none has a known
 * arrival or a response time. Begin, end and length of such a profile mean nothing.
 */
bool profile_is_timeless(const struct profile *p);
/* Seconds of the period that were watched; NaN where the coverage is unknown. */
double profile_watched_s(const struct profile *p);
/* Seconds that rates are over: those watched, or the whole period where the coverage is unknown. */
double profile_rate_s(const struct profile *p);

/* Mean response time of a stage, by its histogram or, for the total, by counters; NaN unknown. */
double profile_mean_s(const struct response_times *r, enum stage stage);

/*
 * Puts the JSON object in json as member `name` of source_detail ("dasd", "zfcp", "diskstats"),
 * beside those that are there. 0, -ENOMEM, or -EINVAL: json is no object; p is unchanged then.
 */
int profile_set_detail(struct profile *p, const char *name, const char *json);

/* Adds a pause; where there is no room, the last one grows by it. */
void profile_add_pause(struct profile *p, const struct profile_pause *pause);

/* Sets quality from coverage, losses, request counts and what the source cannot know. */
void profile_grade(struct profile *p);

/*
 * Why burstiness or the variation of interarrival times is unknown though requests were seen: the
 * clock is too coarse. Writes one sentence and returns it, or NULL where nothing was refused.
 */
const char *profile_refused(const struct profile *p, char why[PROFILE_WHY_BYTES]);

enum profile_json_style {
	PROFILE_JSON_LINE,   /* one line, for streams and segments */
	PROFILE_JSON_PRETTY, /* indented, for people and files */
};
/* Appends the JSON object to out. 0, or -ENOMEM. */
int profile_to_json(const struct profile *p, enum profile_json_style style, struct buf *out);
/* Appends a stage's JSON object, as details hold it, in one line. 0, or -ENOMEM. */
int profile_stage_to_json(const struct histogram *h, struct buf *out);
/*
 * Reads one JSON object of PROFILE_SCHEMA into an initialized p. -EINVAL with the path of the
 * field that is missing or wrong ("response_time.read.total.count: expected ..."), -ENOMEM.
 * On failure p is released. Percentiles and means are recomputed from the histograms.
 */
int profile_from_json(const char *text, size_t len, struct profile *p, struct err *err);

#endif
