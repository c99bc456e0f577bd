// SPDX-License-Identifier: Apache-2.0
/*
 * fio: this driver runs the plan's job file, into which it puts the campaign's times, and reads
 * fio's JSON.
 *
 * At every interval (--status-interval) fio prints its counters, summed since it started. The
 * driver takes the difference of two such prints as the result of the interval between them. The
 * metrics of the whole run are those of the last print, as fio computes them. The warm-up is a
 * separate run of fio, because fio 3.33 hangs with ramp_time where several sequential jobs share
 * files.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/measure/driver.h"

#define INTERVAL_LEAST 0.5 /* A print that comes earlier than this share ends no interval. */
#define TAIL_REQUESTS  10  /* A percentile is stored if so many requests lie beyond it. */
/*
 * The buffers lie in huge pages where the machine has some, so that a request of 1 MiB is one piece
 * of memory and reaches the device whole. A request in scattered pages is split by the guest, whose
 * limit would else be measured in place of the storage's. glibc older than 2.35 ignores this.
 */
#define HUGE_PAGES                                                           \
	"GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=" \
	"33554432:glibc.malloc.arena_max=1 "

/* This struct holds the counters of one direction, summed over the jobs. */
struct side {
	double ios, bytes, lat_sum_ns, lat_count;
};

struct snapshot {
	struct side side[2]; /* reads, writes */
	double runtime_ms;
};

static const char *const side_names[2] = { "read", "write" };

/*
 * Writes the job file, whose files lie in the folder in which fio runs. The options of the campaign
 * go behind the [global] sections and in front of the first job.
 */
static int put_job(const struct drive *d, const char *file, double seconds, struct buf *shell,
		   struct err *err)
{
	const char *at = d->load->job, *job = NULL;
	struct buf text;
	int ret;

	for (; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (*at == '[' && strncmp(at, "[global]", 8) != 0) {
			job = at;
			break;
		}
	if (!job)
		return err_set(err, EINVAL, "job: expected a section [NAME] of fio");
	buf_init(&text);
	buf_put(&text, d->load->job, (size_t)(job - d->load->job));
	buf_printf(&text,
		   "[global]\ntime_based=1\nruntime=%.0fms\n"
		   "group_reporting=1\nlat_percentiles=1\n"
		   "percentile_list=50:90:95:99:99.9:99.99\n",
		   seconds * 1e3);
	buf_put(&text, job, strlen(job) + 1);
	ret = text.error ? text.error : driver_put_file(d, file, (char *)text.data, shell, err);
	buf_release(&text);
	return ret;
}

static int fio_prepare(const struct drive *d, struct buf *shell, struct err *err)
{
	const struct plan *p = d->plan;
	int ret = put_job(d, "job.fio", p->interval_s * (double)plan_most_intervals(p), shell, err);

	if (ret)
		return ret;
	if (p->warm_up_s > 0)
		ret = put_job(d, "warm.fio", p->warm_up_s, shell, err);
	if (ret)
		return ret;

	/*
	 * File layout holds the options that decide which files fio makes. Where they are the same
	 * as before, the files are there already and are not made again. Without overwrite the
	 * direction is one of these options; with overwrite fio makes the files that are written as
	 * well, whatever the direction.
	 */
	buf_printf(shell,
		   "grep -E '^[[:space:]]*(\\[|%s.*size|.*file|directory|numjobs|offset|"
		   "create|overwrite|fallocate)' job.fio >layout\n"
		   "cmp -s layout laid || { fio --create_only=1 --output=/dev/null job.fio && "
		   "mv layout laid; } || exit 1\n",
		   strstr(d->load->job, "overwrite=1") ? "" : "rw|readwrite|");
	return shell->error;
}

static int fio_run(const struct drive *d, struct buf *shell, struct err *err)
{
	(void)err;
	if (d->plan->warm_up_s > 0)
		buf_printf(shell, "fio --output=/dev/null --eta=never warm.fio || exit\n");
	buf_printf(shell,
		   "echo \"@from $(date +%%s.%%N)\"\n" HUGE_PAGES
		   "exec fio --output-format=json --eta=never --status-interval=%.0fms job.fio\n",
		   d->plan->interval_s * 1e3);
	return shell->error;
}

static double driver_fio_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : 0;
}

static void take_snapshot(const json_t *jobs, struct snapshot *s)
{
	size_t i;
	json_t *job;

	memset(s, 0, sizeof(*s));
	json_array_foreach(jobs, i, job) for (int k = 0; k < 2; k++)
	{
		const json_t *side = json_object_get(job, side_names[k]);
		const json_t *lat = json_object_get(side, "lat_ns");

		s->side[k].ios += driver_fio_number(side, "total_ios");
		s->side[k].bytes += driver_fio_number(side, "io_bytes");
		s->side[k].lat_count += driver_fio_number(lat, "N");
		s->side[k].lat_sum_ns +=
			driver_fio_number(lat, "N") * driver_fio_number(lat, "mean");
		s->runtime_ms = fmax(s->runtime_ms, driver_fio_number(side, "runtime"));
	}
}

static int driver_fio_put(struct readings *r, unsigned int interval, const char *side,
			  const char *what, double value)
{
	char name[READING_NAME_BYTES];
	int ret;

	snprintf(name, sizeof(name), "%s_%s", side, what);
	ret = readings_put(r, interval, name, value);
	return ret == -ERANGE ? 0 : ret;
}

static int put_interval(struct readings *r, unsigned int interval, const struct snapshot *from,
			const struct snapshot *to)
{
	double seconds = (to->runtime_ms - from->runtime_ms) / 1e3;
	int ret = 0;

	for (int k = 0; k < 2; k++) {
		const struct side *a = &from->side[k], *b = &to->side[k];
		double count = b->lat_count - a->lat_count;

		ret = driver_fio_put(r, interval, side_names[k], "per_s",
				     (b->ios - a->ios) / seconds);
		if (ret)
			return ret;
		ret = driver_fio_put(r, interval, side_names[k], "bytes_per_s",
				     (b->bytes - a->bytes) / seconds);
		if (ret)
			return ret;
		if (count > 0)
			ret = driver_fio_put(r, interval, side_names[k], "s",
					     (b->lat_sum_ns - a->lat_sum_ns) / count / 1e9);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Adds the percentiles and the standard deviation if they come from one group of jobs alone. They
 * belong to reads, writes or flushes, which fio calls "sync". key is fio's name of the direction,
 * side the name that the metrics use.
 */
static int put_percentiles(struct readings *r, const char *key, const char *side,
			   const json_t *jobs)
{
	static const struct {
		const char *key, *name;
		double beyond;
	} points[] = {
		{ "50.000000", "p50_s", 0.5 },	  { "90.000000", "p90_s", 0.1 },
		{ "95.000000", "p95_s", 0.05 },	  { "99.000000", "p99_s", 0.01 },
		{ "99.900000", "p999_s", 0.001 }, { "99.990000", "p9999_s", 0.0001 },
	};
	const json_t *lat = NULL, *percentiles;
	json_t *job;
	size_t i;
	int ret = 0;

	json_array_foreach(jobs, i, job)
	{
		const json_t *one = json_object_get(json_object_get(job, key), "lat_ns");

		if (driver_fio_number(one, "N") <= 0)
			continue;
		if (lat)
			return 0;
		lat = one;
	}
	if (driver_fio_number(lat, "N") > 1)
		ret = driver_fio_put(r, 0, side, "sd_s", driver_fio_number(lat, "stddev") / 1e9);
	if (ret)
		return ret;
	percentiles = json_object_get(lat, "percentile");
	for (i = 0; i < sizeof(points) / sizeof(*points); i++) {
		const json_t *v = json_object_get(percentiles, points[i].key);

		if (json_is_number(v) &&
		    driver_fio_number(lat, "N") * points[i].beyond >= TAIL_REQUESTS)
			ret = driver_fio_put(r, 0, side, points[i].name,
					     json_number_value(v) / 1e9);
		if (ret)
			return ret;
	}
	return 0;
}

static int put_whole(struct readings *r, const json_t *jobs, const struct snapshot *last)
{
	int ret = 0;

	for (int k = 0; k < 2; k++) {
		const struct side *s = &last->side[k];
		double iops = 0, bytes = 0;
		json_t *job;
		size_t i;

		json_array_foreach(jobs, i, job)
		{
			iops += driver_fio_number(json_object_get(job, side_names[k]), "iops");
			bytes += driver_fio_number(json_object_get(job, side_names[k]), "bw_bytes");
		}
		ret = driver_fio_put(r, 0, side_names[k], "requests", s->ios);
		if (ret)
			return ret;
		ret = driver_fio_put(r, 0, side_names[k], "per_s", iops);
		if (ret)
			return ret;
		ret = driver_fio_put(r, 0, side_names[k], "bytes_per_s", bytes);
		if (ret)
			return ret;
		if (s->lat_count > 0)
			ret = driver_fio_put(r, 0, side_names[k], "s",
					     s->lat_sum_ns / s->lat_count / 1e9);
		if (ret)
			return ret;
		ret = put_percentiles(r, side_names[k], side_names[k], jobs);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Adds how many requests the device got, as the kernel counted them. fio looks at the count from
 * time to time, so that it lacks what came at the end. Where the files lie on several devices,
 * each counts the requests of those above it, and nothing is added.
 */
static int put_device(struct readings *r, const json_t *devices)
{
	static const char *const keys[2] = { "read_ios", "write_ios" };
	int ret = 0;

	for (int k = 0; k < 2 && !ret && json_array_size(devices) == 1; k++)
		ret = driver_fio_put(r, 0, side_names[k], "device_requests",
				     driver_fio_number(json_array_get(devices, 0), keys[k]));
	return ret;
}

/* Adds the metrics of flushes. fio times flushes but does not count them among its requests. */
static int put_flushes(struct readings *r, const json_t *jobs, const struct snapshot *last)
{
	double nr = 0, sum_ns = 0;
	json_t *job;
	size_t i;
	int ret;

	json_array_foreach(jobs, i, job)
	{
		const json_t *lat = json_object_get(json_object_get(job, "sync"), "lat_ns");

		nr += driver_fio_number(lat, "N");
		sum_ns += driver_fio_number(lat, "N") * driver_fio_number(lat, "mean");
	}
	if (!(nr > 0))
		return 0;
	ret = driver_fio_put(r, 0, "flush", "requests", nr);
	if (ret)
		return ret;
	if (last->runtime_ms > 0)
		ret = driver_fio_put(r, 0, "flush", "per_s", nr / last->runtime_ms * 1e3);
	if (ret)
		return ret;
	ret = driver_fio_put(r, 0, "flush", "s", sum_ns / nr / 1e9);
	return ret ? ret : put_percentiles(r, "sync", "flush", jobs);
}

static int job_error(const json_t *jobs, struct err *err)
{
	json_t *job;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		int code = (int)driver_fio_number(job, "error");

		if (code)
			return err_set(err, EINVAL, "fio: job %.60s: %s",
				       json_string_value(json_object_get(job, "jobname")),
				       strerror(code));
	}
	return 0;
}

/* Adds the metrics of the whole run. */
static int put_end(struct readings *r, const json_t *root, const json_t *jobs,
		   const struct snapshot *last, struct err *err)
{
	int ret = job_error(jobs, err);

	if (ret)
		return ret;
	if (last->side[0].ios + last->side[1].ios == 0)
		return err_set(err, EINVAL, "fio: no request was completed");
	ret = put_whole(r, jobs, last);
	if (!ret)
		ret = put_device(r, json_object_get(root, "disk_util"));
	return ret ? ret : put_flushes(r, jobs, last);
}

/*
 * Returns the next JSON object of the text on each call, and NULL once no complete object is left.
 */
static json_t *next_object(const char **at, const char *end)
{
	json_error_t why;
	const char *begin = memchr(*at, '{', (size_t)(end - *at));
	json_t *root =
		begin ? json_loadb(begin, (size_t)(end - begin), JSON_DISABLE_EOF_CHECK, &why)
		      : NULL;

	if (root)
		*at = begin + why.position;
	return root;
}

static int fio_take(const struct drive *d, const char *text, size_t len, bool final,
		    struct readings *r, struct err *err)
{
	const char *at = text, *end = text + len;
	double least_ms = d->plan->interval_s * 1e3 * INTERVAL_LEAST;
	struct snapshot from = { 0 }, now = { 0 };
	json_t *root, *last = NULL, *jobs = NULL;
	unsigned int nr = 0;
	int ret = 0;

	while ((root = next_object(&at, end))) {
		json_decref(last);
		last = root;
		jobs = json_object_get(root, "jobs");
		if (!json_is_array(jobs) || !json_array_size(jobs)) {
			ret = err_set(err, EINVAL, "fio: its JSON has no jobs");
			goto out;
		}
		take_snapshot(jobs, &now);
		if (now.runtime_ms - from.runtime_ms < least_ms)
			continue;
		ret = put_interval(r, ++nr, &from, &now);
		if (ret)
			goto out;
		from = now;
	}
	if (!final)
		goto out;
	if (!last)
		ret = err_set(err, EINVAL, "fio: expected JSON, got '%.60s'", len ? text : "");
	else
		ret = put_end(r, last, jobs, &now, err);
out:
	json_decref(last);
	return ret;
}

const struct driver driver_fio = {
	.name = "fio",
	.program = "fio",
	.needs_job = true,
	.intervals = true,
	.prepare = fio_prepare,
	.run = fio_run,
	.take = fio_take,
};
