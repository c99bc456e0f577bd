/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/data/json.h"
#include "formats/profile/profile.h"

const uint32_t size_class_end_bytes[NR_SIZE_CLASSES - 1] = { 4 << 10,  8 << 10,	 16 << 10,
							     32 << 10, 64 << 10, 128 << 10,
							     256 << 10 };

unsigned int size_class_of(uint32_t bytes)
{
	unsigned int class = 0;

	while (class < NR_SIZE_CLASSES - 1 && bytes > size_class_end_bytes[class])
		class ++;
	return class;
}

const char *stage_name(unsigned int stage)
{
	static const char *const names[NR_STAGES] = { "queue", "device", "total" };

	return stage < NR_STAGES ? names[stage] : NULL;
}

static void direction_init(struct direction_profile *d)
{
	d->size_mean_bytes = NAN;
	d->sequential_ratio = NAN;
	d->stream_ratio = d->continuing_ratio = NAN;
	d->response.total_mean_s = NAN;
}

static void distribution_init(struct access_distribution *d)
{
	d->mean_ratio = d->deviation_ratio = NAN;
	d->exponent = NAN;
	d->ks_distance = NAN;
	d->top_10_ratio = d->top_20_ratio = NAN;
	d->aic_uniform = d->aic_gaussian = d->aic_zipf = NAN;
}

void profile_init(struct profile *p)
{
	*p = (struct profile){ 0 };
	p->begin_s = p->end_s = NAN;
	p->closed.clients_mean = p->closed.in_flight_mean = NAN;
	p->closed.think_time_mean_s = p->closed.sample_interval_s = NAN;
	p->open.rate_per_s = p->open.interarrival_mean_s = NAN;
	p->open.interarrival_scv = p->open.lag1_autocorrelation = NAN;
	p->open.clock_resolution_s = NAN;
	direction_init(&p->read);
	direction_init(&p->write);
	p->flush.total_mean_s = NAN;
	p->all_sequential_ratio = p->all_stream_ratio = p->all_continuing_ratio = NAN;
	p->locality.footprint_bytes = p->locality.miss_ratio_sampled_ratio = NAN;
	p->locality.file_count_mean = NAN;
	p->locality.file_size_mean_bytes = p->locality.file_set_size_mean_bytes = NAN;
	distribution_init(&p->locality.distribution);
	p->quality.coverage_ratio = p->quality.lost_ratio = NAN;
}

static void response_release(struct response_times *r)
{
	for (int i = 0; i < NR_STAGES; i++)
		histogram_release(&r->stage[i]);
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		histogram_release(&r->size_class[i]);
}

static void tallies_release(struct arrival_tally tallies[NR_TALLIES])
{
	for (int i = 0; i < NR_TALLIES; i++)
		arrival_tally_release(&tallies[i]);
}

static void direction_release(struct direction_profile *d)
{
	free(d->sizes);
	tallies_release(d->arrivals);
	response_release(&d->response);
}

void profile_release(struct profile *p)
{
	direction_release(&p->read);
	direction_release(&p->write);
	response_release(&p->flush);
	tallies_release(p->undivided_arrivals);
	free(p->open.idc);
	free(p->locality.miss_ratio);
	free(p->source_detail);
	profile_init(p);
}

static void direction_forget(struct direction_profile *d)
{
	direction_release(d);
	*d = (struct direction_profile){ 0 };
	direction_init(d);
}

/* Without memory the result is unknown, and the profile says that something is missing. */
static void profile_undivide_arrivals(struct profile *p)
{
	bool failed = false;

	for (int i = 0; i < NR_TALLIES; i++) {
		failed |= arrival_tally_merge(&p->undivided_arrivals[i], &p->read.arrivals[i]) != 0;
		failed |=
			arrival_tally_merge(&p->undivided_arrivals[i], &p->write.arrivals[i]) != 0;
	}
	p->quality.incomplete |= failed;
	if (failed)
		tallies_release(p->undivided_arrivals);
}

void profile_undivide(struct profile *p)
{
	profile_undivide_arrivals(p);
	for (int i = 0; i < OPERATION_OTHER; i++) {
		p->requests[OPERATION_OTHER] += p->requests[i];
		p->bytes[OPERATION_OTHER] += p->bytes[i];
		p->requests[i] = p->bytes[i] = 0;
	}
	p->unknown |= UNKNOWN_OPERATION | UNKNOWN_DURABILITY;
	memset(&p->durability, 0, sizeof(p->durability));
	direction_forget(&p->read);
	direction_forget(&p->write);
	response_release(&p->flush);
	p->flush = (struct response_times){ .total_mean_s = NAN };
}

bool profile_is_undivided(const struct profile *p)
{
	return (p->unknown & UNKNOWN_OPERATION) == UNKNOWN_OPERATION;
}

uint64_t profile_data_requests(const struct profile *p)
{
	return p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE] +
	       (profile_is_undivided(p) ? p->requests[OPERATION_OTHER] : 0);
}

uint64_t profile_data_bytes(const struct profile *p)
{
	return p->bytes[OPERATION_READ] + p->bytes[OPERATION_WRITE] +
	       (profile_is_undivided(p) ? p->bytes[OPERATION_OTHER] : 0);
}

static void *copy_array(const void *from, size_t nr, size_t size, bool *failed)
{
	void *to = nr ? calloc(nr, size) : NULL;

	if (to)
		memcpy(to, from, nr * size);
	else if (nr)
		*failed = true;
	return to;
}

static void copy_histogram(struct histogram *h, bool *failed)
{
	struct histogram from = *h;

	*failed |= histogram_copy(h, &from) != 0;
}

/* r is a shallow copy; the memory that it points to is copied here. */
static void copy_response(struct response_times *r, bool *failed)
{
	for (int i = 0; i < NR_STAGES; i++)
		copy_histogram(&r->stage[i], failed);
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		copy_histogram(&r->size_class[i], failed);
}

static void copy_tallies(struct arrival_tally tallies[NR_TALLIES], bool *failed)
{
	for (int i = 0; i < NR_TALLIES; i++) {
		struct arrival_tally from = tallies[i];

		*failed |= arrival_tally_copy(&tallies[i], &from) != 0;
	}
}

/* d is a shallow copy as well. */
static void copy_direction(struct direction_profile *d, bool *failed)
{
	d->sizes = copy_array(d->sizes, d->nr_sizes, sizeof(*d->sizes), failed);
	copy_tallies(d->arrivals, failed);
	copy_response(&d->response, failed);
}

int profile_copy(struct profile *dst, const struct profile *src)
{
	bool failed = false;

	if (dst == src)
		return 0;
	profile_release(dst);
	*dst = *src;
	copy_direction(&dst->read, &failed);
	copy_direction(&dst->write, &failed);
	copy_response(&dst->flush, &failed);
	copy_tallies(dst->undivided_arrivals, &failed);
	dst->open.idc =
		copy_array(src->open.idc, src->open.nr_idc, sizeof(*src->open.idc), &failed);
	dst->locality.miss_ratio = copy_array(src->locality.miss_ratio, src->locality.nr_miss_ratio,
					      sizeof(*src->locality.miss_ratio), &failed);
	dst->source_detail =
		copy_array(src->source_detail,
			   src->source_detail ? strlen(src->source_detail) + 1 : 0, 1, &failed);
	if (!failed)
		return 0;
	profile_release(dst);
	return -ENOMEM;
}

double profile_untimed_requests(const struct profile *p)
{
	uint64_t data = p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE];
	uint64_t timed =
		p->read.response.stage[STAGE_TOTAL].nr + p->write.response.stage[STAGE_TOTAL].nr;

	if (p->source == SOURCE_DISKSTATS || p->unknown & (UNKNOWN_READ | UNKNOWN_WRITE))
		return NAN;
	return timed < data ? (double)(data - timed) : 0;
}

double profile_untimed_ratio(const struct profile *p)
{
	uint64_t data = p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE];

	return data ? profile_untimed_requests(p) / (double)data : NAN;
}

bool profile_is_timeless(const struct profile *p)
{
	uint64_t nr = 0;

	for (int i = 0; i < NR_OPERATIONS; i++)
		nr += p->requests[i];
	return p->source == SOURCE_IMPORT && nr > 1 && isnan(p->open.rate_per_s) &&
	       isnan(p->open.interarrival_mean_s) && !p->read.response.stage[STAGE_TOTAL].nr &&
	       !p->write.response.stage[STAGE_TOTAL].nr && !p->flush.stage[STAGE_TOTAL].nr &&
	       isnan(p->read.response.total_mean_s) && isnan(p->write.response.total_mean_s);
}

double profile_watched_s(const struct profile *p)
{
	return p->quality.coverage_ratio * (p->end_s - p->begin_s);
}

double profile_rate_s(const struct profile *p)
{
	double watched_s = profile_watched_s(p);

	return watched_s > 0 ? watched_s : p->end_s - p->begin_s;
}

double profile_mean_s(const struct response_times *r, enum stage stage)
{
	if (stage == STAGE_TOTAL && !r->stage[STAGE_TOTAL].nr)
		return r->total_mean_s;
	return histogram_mean_s(&r->stage[stage]);
}

int profile_set_detail(struct profile *p, const char *name, const char *json)
{
	json_t *member, *all = NULL;
	char *text = NULL;
	int ret = json_parse(&member, json, strlen(json), JSON_REJECT_DUPLICATES, NULL);

	if (ret)
		return ret;
	if (!json_is_object(member)) {
		ret = -EINVAL;
		goto out;
	}
	all = p->source_detail ? json_loads(p->source_detail, JSON_REJECT_DUPLICATES, NULL)
			       : json_object();
	if (!json_object_set(all, name, member))
		text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text) {
		ret = -ENOMEM;
		goto out;
	}
	free(p->source_detail);
	p->source_detail = text;
out:
	json_decref(all);
	json_decref(member);
	return ret;
}

const char *profile_refused(const struct profile *p, char why[PROFILE_WHY_BYTES])
{
	double tick_s = p->open.clock_resolution_s;
	bool windows = p->open.nr_idc && p->open.idc[0].window_s < tick_s;
	bool gaps = p->open.interarrival_mean_s < tick_s;

	if (!windows && !gaps)
		return NULL;
	snprintf(why, PROFILE_WHY_BYTES,
		 "The clock of the arrivals counts in steps of %.9g s: %s%s%s cannot be told.",
		 tick_s, gaps ? "the variation of interarrival times" : "",
		 gaps && windows ? " and " : "", windows ? "burstiness in shorter windows" : "");
	return why;
}

/* One rule of the grade. It limits the grade for a stated reason. */
struct verdict {
	char grade;
	char why[PROFILE_WHY_BYTES];
};

static void __attribute__((format(printf, 3, 4)))
hold_down(struct verdict *v, char grade, const char *fmt, ...)
{
	va_list ap;

	if (grade <= v->grade)
		return;
	v->grade = grade;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof(v->why), fmt, ap);
	va_end(ap);
}

/*
 * Returns the grade of a value by four limits; a smaller value is worse. The grade is A at limit[0]
 * and above, and so on.
 */
static char grade_below(double value, const double limit[4])
{
	char grade = 'A';

	while (grade < 'E' && !(value >= limit[grade - 'A']))
		grade++;
	return grade;
}

/*
 * Quantiles rest on the requests that have a response time, and each missing one may be a slow one.
 */
static void grade_source(const struct profile *p, struct verdict *v)
{
	static const double timed[4] = { 0.999, 0.99, 0, 0 };
	double untimed_ratio = profile_untimed_ratio(p);

	if (p->source == SOURCE_DISKSTATS)
		hold_down(v, 'D',
			  "The source has counters only: nothing is known of single requests.");
	else if (profile_is_undivided(p))
		hold_down(v, 'C',
			  "The source tells neither the operation nor a response time of reads "
			  "and writes.");
	else if (untimed_ratio > 0)
		hold_down(v, grade_below(1 - untimed_ratio, timed),
			  "The response time of %.3g %% of the reads and writes is not known.",
			  100 * untimed_ratio);
}

/* Describes the basis of a grade of A. */
static void say_basis(const struct profile *p, double data, char why[PROFILE_WHY_BYTES])
{
	double untimed = profile_untimed_requests(p);
	char of_these[64] = "";

	if (untimed > 0)
		snprintf(of_these, sizeof(of_these), " (%.0f of them without response time)",
			 untimed);
	snprintf(why, PROFILE_WHY_BYTES,
		 "%.0f reads and writes%s over %.4g s, %.5g %% of the period watched, "
		 "%.3g %% lost.",
		 data, of_these, p->end_s - p->begin_s, 100 * p->quality.coverage_ratio,
		 100 * p->quality.lost_ratio);
}

void profile_grade(struct profile *p)
{
	/*
	 * Limits in this order: the share of the period watched and of requests seen, the number of
	 * data requests, and seconds.
	 */
	static const double coverage[4] = { 0.999, 0.99, 0.9, 0.5 };
	static const double seen[4] = { 0.9999, 0.99, 0.95, 0.8 };
	static const double requests[4] = { 10000, 1000, 100, 1 };
	static const double seconds[4] = { 10, 1, 0.1, 0 };
	struct verdict v = { .grade = 'A' };
	double data = (double)profile_data_requests(p);
	double duration_s = p->end_s - p->begin_s, all = (double)p->lost;

	for (int i = 0; i < NR_OPERATIONS; i++)
		all += (double)p->requests[i];
	p->quality.lost_ratio = all > 0 ? (double)p->lost / all : 0;

	say_basis(p, data, v.why);
	if (isnan(p->quality.coverage_ratio))
		hold_down(&v, 'C', "It is not known which share of the period was watched.");
	else
		hold_down(&v, grade_below(p->quality.coverage_ratio, coverage),
			  "Only %.4g %% of the period was watched.",
			  100 * p->quality.coverage_ratio);
	hold_down(&v, grade_below(1 - p->quality.lost_ratio, seen),
		  "%.3g %% of the requests were lost.", 100 * p->quality.lost_ratio);
	grade_source(p, &v);
	if (p->quality.incomplete)
		hold_down(&v, 'C', "Memory ran out: some estimates miss some requests.");
	if (data > 0)
		hold_down(&v, grade_below(data, requests), "Only %.0f reads and writes were seen.",
			  data);
	else
		hold_down(&v, 'E', "No read and no write was seen.");
	if (profile_is_timeless(p))
		hold_down(&v, 'D',
			  "The source tells an order of requests and no times: there are no rates "
			  "and no response times.");
	else
		hold_down(&v, grade_below(duration_s, seconds), "The period is only %.3g s long.",
			  duration_s);
	p->quality.grade = v.grade;
	memcpy(p->quality.why, v.why, sizeof(v.why));
}
