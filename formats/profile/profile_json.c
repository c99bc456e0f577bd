/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "formats/profile/profile_json.h"

#define AT(member)     .at = offsetof(struct profile, member)
#define RATIO	       .max = 1
#define POSITIVE       .max = INFINITY
#define UNKNOWN(which) .unknown = UNKNOWN_##which
#define ARRIVALS(member, op, which)                                            \
	KIND_ARRIVALS, AT(member[TALLY_##which]), .operation = OPERATION_##op, \
						  .arrivals = TALLY_##which, .optional = true
#define DERIVED(which) KIND_DERIVED, .derived = DERIVED_##which

/* clang-format off: one field, one line */
const struct profile_field profile_fields[] = {
	{ "schema", KIND_SCHEMA, .at = 0 },
	{ "host", KIND_NAME, AT(host) },
	{ "device", KIND_NAME, AT(device) },
	{ "device_name", KIND_NAME, AT(device_name) },
	{ "source", KIND_SOURCE, AT(source) },
	{ "layer", KIND_LAYER, AT(layer) },
	{ "begin_s", KIND_NUMBER, AT(begin_s) },
	{ "end_s", KIND_NUMBER, AT(end_s) },
	{ "duration_s", DERIVED(DURATION) },

	{ "requests.read", KIND_COUNT, AT(requests[OPERATION_READ]), UNKNOWN(READ) },
	{ "requests.write", KIND_COUNT, AT(requests[OPERATION_WRITE]), UNKNOWN(WRITE) },
	{ "requests.discard", KIND_COUNT, AT(requests[OPERATION_DISCARD]), UNKNOWN(DISCARD) },
	{ "requests.flush", KIND_COUNT, AT(requests[OPERATION_FLUSH]), UNKNOWN(FLUSH) },
	{ "requests.other", KIND_COUNT, AT(requests[OPERATION_OTHER]), UNKNOWN(OTHER) },
	{ "lost", KIND_COUNT, AT(lost) },
	{ "errors", KIND_COUNT, AT(errors), UNKNOWN(ERRORS), .optional = true },
	{ "requeues", KIND_COUNT, AT(requeues), UNKNOWN(REQUEUES), .optional = true },
	{ "kernel_thread_requests", KIND_COUNT, AT(kernel_thread_requests), UNKNOWN(KERNEL_THREAD),
	  .optional = true },
	{ "own_requests", KIND_COUNT, AT(own_requests), UNKNOWN(OWN), .optional = true },
	{ "paused_requests", KIND_COUNT, AT(paused_requests), .optional = true },
	{ "durability.forced_writes", KIND_COUNT, AT(durability.forced_writes), UNKNOWN(DURABILITY),
	  .optional = true },
	{ "durability.flushing_writes", KIND_COUNT, AT(durability.flushing_writes),
	  UNKNOWN(DURABILITY), .optional = true },
	{ "durability.awaited_flushes", KIND_COUNT, AT(durability.awaited_flushes),
	  UNKNOWN(DURABILITY), .optional = true },
	{ "pauses", KIND_PAUSES, AT(pauses), .optional = true },
	{ "bytes.read", KIND_COUNT, AT(bytes[OPERATION_READ]), UNKNOWN(READ), .optional = true },
	{ "bytes.write", KIND_COUNT, AT(bytes[OPERATION_WRITE]), UNKNOWN(WRITE), .optional = true },
	{ "bytes.discard", KIND_COUNT, AT(bytes[OPERATION_DISCARD]), UNKNOWN(DISCARD),
	  .optional = true },
	{ "bytes.flush", KIND_COUNT, AT(bytes[OPERATION_FLUSH]), UNKNOWN(FLUSH), .optional = true },
	{ "bytes.other", KIND_COUNT, AT(bytes[OPERATION_OTHER]), UNKNOWN(OTHER), .optional = true },

	{ "intensity.closed.clients_mean", KIND_NUMBER, AT(closed.clients_mean), POSITIVE },
	{ "intensity.closed.in_flight_mean", KIND_NUMBER, AT(closed.in_flight_mean), POSITIVE },
	{ "intensity.closed.think_time_mean_s", KIND_NUMBER, AT(closed.think_time_mean_s) },
	{ "intensity.closed.sample_interval_s", KIND_NUMBER, AT(closed.sample_interval_s), POSITIVE,
	  .optional = true },
	{ "intensity.open.rate_per_s", KIND_NUMBER, AT(open.rate_per_s), POSITIVE },
	{ "intensity.open.interarrival_mean_s", KIND_NUMBER, AT(open.interarrival_mean_s),
	  POSITIVE },
	{ "intensity.open.interarrival_scv", KIND_NUMBER, AT(open.interarrival_scv), POSITIVE },
	{ "intensity.open.lag1_autocorrelation", KIND_NUMBER, AT(open.lag1_autocorrelation),
	  .optional = true },
	{ "intensity.open.clock_resolution_s", KIND_NUMBER, AT(open.clock_resolution_s), POSITIVE,
	  .optional = true },
	{ "intensity.open.refused", DERIVED(REFUSED), .optional = true },
	{ "intensity.open.idc", KIND_IDC, AT(open.idc) },

	{ "request_size.read", KIND_SIZES, AT(read), .operation = OPERATION_READ },
	{ "request_size.write", KIND_SIZES, AT(write), .operation = OPERATION_WRITE },
	{ "request_mix.read", DERIVED(MIX_READ), RATIO },
	{ "request_mix.write", DERIVED(MIX_WRITE), RATIO },

	{ "access_pattern.read.sequential_ratio", KIND_NUMBER, AT(read.sequential_ratio), RATIO },
	{ "access_pattern.read.pattern", DERIVED(PATTERN_READ) },
	{ "access_pattern.read.stream_ratio", KIND_NUMBER, AT(read.stream_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.read.continuing_ratio", KIND_NUMBER, AT(read.continuing_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.write.sequential_ratio", KIND_NUMBER, AT(write.sequential_ratio), RATIO },
	{ "access_pattern.write.pattern", DERIVED(PATTERN_WRITE) },
	{ "access_pattern.write.stream_ratio", KIND_NUMBER, AT(write.stream_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.write.continuing_ratio", KIND_NUMBER, AT(write.continuing_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.all.sequential_ratio", KIND_NUMBER, AT(all_sequential_ratio), RATIO },
	{ "access_pattern.all.pattern", DERIVED(PATTERN_ALL) },
	{ "access_pattern.all.stream_ratio", KIND_NUMBER, AT(all_stream_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.all.continuing_ratio", KIND_NUMBER, AT(all_continuing_ratio), RATIO,
	  .optional = true },
	{ "access_pattern.window_requests", KIND_COUNT32, AT(window_requests) },

	{ "arrivals.read.outstanding", ARRIVALS(read.arrivals, READ, OUTSTANDING) },
	{ "arrivals.read.interarrival_s", ARRIVALS(read.arrivals, READ, INTERARRIVAL) },
	{ "arrivals.read.seek_distance_sectors", ARRIVALS(read.arrivals, READ, SEEK) },
	{ "arrivals.write.outstanding", ARRIVALS(write.arrivals, WRITE, OUTSTANDING) },
	{ "arrivals.write.interarrival_s", ARRIVALS(write.arrivals, WRITE, INTERARRIVAL) },
	{ "arrivals.write.seek_distance_sectors", ARRIVALS(write.arrivals, WRITE, SEEK) },
	{ "arrivals.other.outstanding", ARRIVALS(undivided_arrivals, OTHER, OUTSTANDING) },
	{ "arrivals.other.interarrival_s", ARRIVALS(undivided_arrivals, OTHER, INTERARRIVAL) },
	{ "arrivals.other.seek_distance_sectors", ARRIVALS(undivided_arrivals, OTHER, SEEK) },

	{ "locality.footprint_bytes", KIND_WHOLE, AT(locality.footprint_bytes), POSITIVE },
	{ "locality.file_count_mean", KIND_NUMBER, AT(locality.file_count_mean), POSITIVE },
	{ "locality.file_size_mean_bytes", KIND_NUMBER, AT(locality.file_size_mean_bytes),
	  POSITIVE },
	{ "locality.file_set_size_mean_bytes", KIND_NUMBER, AT(locality.file_set_size_mean_bytes),
	  POSITIVE },
	{ "locality.distribution", KIND_DISTRIBUTION, AT(locality.distribution) },
	{ "locality.block_bytes", KIND_COUNT32, AT(locality.block_bytes), .optional = true },
	{ "locality.miss_ratio_curve", KIND_MISS_RATIO, AT(locality.miss_ratio) },
	{ "locality.miss_ratio_samples", KIND_COUNT32, AT(locality.nr_miss_ratio_samples),
	  .optional = true },
	{ "locality.miss_ratio_sampled_ratio", KIND_NUMBER, AT(locality.miss_ratio_sampled_ratio),
	  RATIO, .optional = true },

	{ "response_time.read.total", KIND_STAGE, AT(read.response.stage[STAGE_TOTAL]),
	  .operation = OPERATION_READ },
	{ "response_time.read.queue", KIND_STAGE, AT(read.response.stage[STAGE_QUEUE]),
	  .operation = OPERATION_READ },
	{ "response_time.read.device", KIND_STAGE, AT(read.response.stage[STAGE_DEVICE]),
	  .operation = OPERATION_READ },
	{ "response_time.read.size_class", KIND_SIZE_CLASSES, AT(read.response.size_class),
	  .operation = OPERATION_READ, .optional = true },
	{ "response_time.write.total", KIND_STAGE, AT(write.response.stage[STAGE_TOTAL]),
	  .operation = OPERATION_WRITE },
	{ "response_time.write.queue", KIND_STAGE, AT(write.response.stage[STAGE_QUEUE]),
	  .operation = OPERATION_WRITE },
	{ "response_time.write.device", KIND_STAGE, AT(write.response.stage[STAGE_DEVICE]),
	  .operation = OPERATION_WRITE },
	{ "response_time.write.size_class", KIND_SIZE_CLASSES, AT(write.response.size_class),
	  .operation = OPERATION_WRITE, .optional = true },
	{ "response_time.flush.total", KIND_STAGE, AT(flush.stage[STAGE_TOTAL]),
	  .operation = OPERATION_FLUSH, .optional = true },
	{ "response_time.flush.queue", KIND_STAGE, AT(flush.stage[STAGE_QUEUE]),
	  .operation = OPERATION_FLUSH, .optional = true },
	{ "response_time.flush.device", KIND_STAGE, AT(flush.stage[STAGE_DEVICE]),
	  .operation = OPERATION_FLUSH, .optional = true },

	{ "quality.coverage_ratio", KIND_NUMBER, AT(quality.coverage_ratio), RATIO },
	{ "quality.lost_ratio", KIND_NUMBER, AT(quality.lost_ratio), RATIO },
	{ "quality.watched_s", DERIVED(WATCHED), POSITIVE, .optional = true },
	{ "quality.untimed_requests", DERIVED(UNTIMED), POSITIVE, .optional = true },
	{ "quality.untimed_ratio", DERIVED(UNTIMED_RATIO), RATIO, .optional = true },
	{ "quality.grade", KIND_GRADE, AT(quality.grade) },
	{ "quality.why", KIND_WHY, AT(quality.why) },
	{ "throughput.read_bytes_per_s", DERIVED(READ_PER_S), POSITIVE },
	{ "throughput.write_bytes_per_s", DERIVED(WRITE_PER_S), POSITIVE },
	{ "source_detail", KIND_DETAIL, AT(source_detail), .optional = true },
};
/* clang-format on */
const size_t nr_profile_fields = sizeof(profile_fields) / sizeof(profile_fields[0]);

const struct profile_quantile profile_quantiles[NR_PROFILE_QUANTILES] = {
	{ "p50_s", 0.5 },  { "p90_s", 0.9 },	{ "p95_s", 0.95 },
	{ "p99_s", 0.99 }, { "p999_s", 0.999 }, { "p9999_s", 0.9999 },
};

const char *distribution_name(unsigned int kind)
{
	static const char *const names[] = { NULL, "uniform", "gaussian", "zipf" };

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

#define IN(member) offsetof(struct access_distribution, member)
const struct distribution_field distribution_fields[NR_DISTRIBUTION_FIELDS] = {
	{ "mean_ratio", IN(mean_ratio) },     { "deviation_ratio", IN(deviation_ratio) },
	{ "exponent", IN(exponent) },	      { "ks_distance", IN(ks_distance) },
	{ "top_10_ratio", IN(top_10_ratio) }, { "top_20_ratio", IN(top_20_ratio) },
	{ "aic_uniform", IN(aic_uniform) },   { "aic_gaussian", IN(aic_gaussian) },
	{ "aic_zipf", IN(aic_zipf) },
};
