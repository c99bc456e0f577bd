// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/vscsi_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/foreign/foreign_text.h"

#define HEAD "Histogram: "

/* The histograms that the profile uses, by their titles. */
enum kind {
	LENGTH_READ,
	LENGTH_WRITE,
	LATENCY_ALL,
	LATENCY_READ,
	LATENCY_WRITE,
	INTERARRIVAL,
	NR_KINDS,
};
static const char *const titles[NR_KINDS] = {
	[LENGTH_READ] = "IO lengths of Read commands",
	[LENGTH_WRITE] = "IO lengths of Write commands",
	[LATENCY_ALL] = "latency of IOs in Microseconds (us)",
	[LATENCY_READ] = "latency of Read IOs in Microseconds (us)",
	[LATENCY_WRITE] = "latency of Write IOs in Microseconds (us)",
	[INTERARRIVAL] = "latency of IO interarrival time in Microseconds (us)",
};

struct moments_of {
	double mean;
	double count;
	bool known;
};

struct disk {
	uint64_t group, handle;
	struct moments_of kind[NR_KINDS];
	json_t *detail; /* owned; by title */
};

struct reading {
	struct foreign_input *in;
	struct disk *disks; /* owned */
	size_t nr;
	struct disk *disk; /* disk of the histogram being read */
	json_t *histogram; /* borrowed from its detail */
	int kind;	   /* -1: the histogram goes only into the detail */
};

bool vscsi_stats_is(struct foreign_input *in)
{
	const uint8_t *data;
	size_t got;

	return foreign_input_peek(in, sizeof(HEAD) - 1, &data, &got, NULL) == 0 &&
	       got >= sizeof(HEAD) - 1 && memcmp(data, HEAD, sizeof(HEAD) - 1) == 0;
}

static int vscsi_stats_expected(const struct reading *r, const char *what, struct err *err)
{
	return err_set(err, EBADMSG, "%s:%" PRIu64 ": expected %s", foreign_input_path(r->in),
		       foreign_input_line_number(r->in), what);
}

/*
 * Finds the number after a word at the end of a text: ",virtual machine worldGroupID,4060" or "...
 * : 4060".
 */
static bool number_after(struct text line, const char *word, uint64_t *out)
{
	const char *at = memmem(line.at, text_len(line), word, strlen(word));
	struct text t;

	if (!at)
		return false;
	t = text_make(at + strlen(word), (size_t)(line.end - at) - strlen(word));
	while (t.at < t.end && strchr(" ,:", *t.at))
		t.at++;
	line = t;
	t.end = t.at;
	while (t.end < line.end && *t.end >= '0' && *t.end <= '9')
		t.end++;
	return text_u64(t, out);
}

static struct disk *disk_of(struct reading *r, uint64_t group, uint64_t handle)
{
	struct disk *disks;

	for (size_t i = 0; i < r->nr; i++)
		if (r->disks[i].group == group && r->disks[i].handle == handle)
			return &r->disks[i];
	disks = realloc(r->disks, (r->nr + 1) * sizeof(*disks));
	if (!disks)
		return NULL;
	r->disks = disks;
	disks[r->nr] = (struct disk){ .group = group, .handle = handle, .detail = json_object() };
	return disks[r->nr].detail ? &disks[r->nr++] : NULL;
}

static int begin_histogram(struct reading *r, struct text line, struct err *err)
{
	uint64_t group, handle;
	struct text title;
	char name[128];

	line.at += sizeof(HEAD) - 1;
	text_field(&line, ',', &title);
	if (line.at > line.end || !number_after(line, "worldGroupID", &group) ||
	    !number_after(line, "handleID", &handle))
		return vscsi_stats_expected(r, "the numbers of virtual machine and disk", err);
	r->disk = disk_of(r, group, handle);
	if (!r->disk)
		return err_set(err, ENOMEM, "out of memory");
	for (r->kind = NR_KINDS - 1; r->kind >= 0; r->kind--)
		if (text_is(title, titles[r->kind]))
			break;
	snprintf(name, sizeof(name), "%.*s", (int)text_len(title), title.at);
	r->histogram = json_pack("{s:[]}", "histogram");
	if (!r->histogram || json_object_set_new(r->disk->detail, name, r->histogram) < 0)
		return vscsi_stats_expected(r, "a title in UTF-8", err);
	return 0;
}

/* Takes a line such as "mean,5332". */
static int take_summary(struct reading *r, struct text name, struct text value, struct err *err)
{
	bool negative = text_len(value) && *value.at == '-'; /* distances may be negative */
	struct moments_of *m = r->kind < 0 ? NULL : &r->disk->kind[r->kind];
	struct text digits = text_make(value.at + negative, text_len(value) - negative);
	char key[8];
	uint64_t n;

	if (!text_u64(digits, &n) || n > INT64_MAX || (negative && m))
		return vscsi_stats_expected(r, "a whole number", err);
	snprintf(key, sizeof(key), "%.*s", (int)text_len(name), name.at);
	json_object_set_new(r->histogram, key,
			    json_integer(negative ? -(json_int_t)n : (json_int_t)n));
	if (m && text_is(name, "mean")) {
		m->mean = (double)n;
		m->known = true;
	} else if (m && text_is(name, "count")) {
		m->count = (double)n;
	}
	return 0;
}

/* Takes a line such as "608,4096". The last bucket is open: "0,> 524288". */
static int take_bucket(struct reading *r, struct text count, struct text limit, struct err *err)
{
	bool open = text_len(limit) && *limit.at == '>';
	bool negative = text_len(limit) && *limit.at == '-';
	struct text digits = text_trim(
		text_make(limit.at + (open || negative), text_len(limit) - (open || negative)));
	uint64_t n, end;

	if (!text_u64(count, &n) || n > INT64_MAX || !text_u64(digits, &end) || end > INT64_MAX)
		return vscsi_stats_expected(r, "FREQUENCY,LIMIT", err);
	json_array_append_new(json_object_get(r->histogram, "histogram"),
			      open ? json_pack("[n, I]", (json_int_t)n)
				   : json_pack("[I, I]",
					       negative ? -(json_int_t)end : (json_int_t)end,
					       (json_int_t)n));
	return 0;
}

static int take_line(struct reading *r, struct text line, struct err *err)
{
	struct text first, second;

	line = text_trim(line);
	if (line.at == line.end)
		return 0;
	if (text_len(line) > sizeof(HEAD) - 1 && memcmp(line.at, HEAD, sizeof(HEAD) - 1) == 0)
		return begin_histogram(r, line, err);
	if (!r->disk)
		return vscsi_stats_expected(r, "a line that begins with Histogram:", err);
	if (!text_field(&line, ',', &first) || line.at > line.end)
		return vscsi_stats_expected(r, "two fields parted by a comma", err);
	second = text_trim(line);
	first = text_trim(first);
	if (text_is(first, "Frequency"))
		return 0;
	if (text_is(first, "min") || text_is(first, "max") || text_is(first, "mean") ||
	    text_is(first, "count"))
		return take_summary(r, first, second, err);
	return take_bucket(r, first, second, err);
}

static double mean_of(const struct disk *d, enum kind kind)
{
	return d->kind[kind].known && d->kind[kind].count > 0 ? d->kind[kind].mean : NAN;
}

static void fill_direction(const struct disk *d, enum kind length, enum kind latency,
			   enum operation operation, struct direction_profile *out,
			   struct profile *p)
{
	p->requests[operation] = (uint64_t)d->kind[length].count;
	p->bytes[operation] = (uint64_t)(d->kind[length].count * d->kind[length].mean);
	out->size_mean_bytes = mean_of(d, length);
	/* the buckets do not give exact sizes */
	out->other_sizes = (uint64_t)d->kind[length].count;
	out->response.total_mean_s = mean_of(d, latency) * 1e-6;
}

static int fill_profile(const struct reading *r, const struct disk *d, const char *host,
			uint64_t begin_real_ns, struct profile *p, struct err *err)
{
	double gap_s = mean_of(d, INTERARRIVAL) * 1e-6;
	json_t *detail;

	if (!(gap_s > 0))
		return err_set(err, EBADMSG,
			       "%s: disk %" PRIu64 ": expected the histogram of interarrival "
			       "times, of some requests (vscsiStats -p all -c)",
			       foreign_input_path(r->in), d->handle);
	if (host)
		snprintf(p->host, sizeof(p->host), "%s", host);
	else
		snprintf(p->host, sizeof(p->host), "vm-%" PRIu64, d->group);
	snprintf(p->device, sizeof(p->device), "0:%" PRIu64, d->handle);
	snprintf(p->device_name, sizeof(p->device_name), "handle-%" PRIu64, d->handle);
	p->source = SOURCE_IMPORT;
	p->layer = LAYER_DEVICE;
	p->begin_s = (double)begin_real_ns / 1e9;
	p->end_s = p->begin_s + gap_s * (d->kind[INTERARRIVAL].count + 1);
	if (!(p->end_s < PROFILE_END_S_MAX))
		return err_set(err, EBADMSG,
			       "%s: disk %" PRIu64
			       ": expected an end before %.0f s since 1970, got %.0f "
			       "requests with %g s between them",
			       foreign_input_path(r->in), d->handle, PROFILE_END_S_MAX,
			       d->kind[INTERARRIVAL].count + 1, gap_s);
	p->unknown = UNKNOWN_DISCARD | UNKNOWN_FLUSH | UNKNOWN_OTHER | UNKNOWN_ERRORS |
		     UNKNOWN_REQUEUES | UNKNOWN_KERNEL_THREAD | UNKNOWN_OWN | UNKNOWN_DURABILITY;
	fill_direction(d, LENGTH_READ, LATENCY_READ, OPERATION_READ, &p->read, p);
	fill_direction(d, LENGTH_WRITE, LATENCY_WRITE, OPERATION_WRITE, &p->write, p);
	p->open.interarrival_mean_s = gap_s;
	p->open.rate_per_s = 1 / gap_s;
	p->closed.in_flight_mean = mean_of(d, LATENCY_ALL) * 1e-6 / gap_s;
	p->quality.coverage_ratio = NAN;
	profile_grade(p);
	detail = json_pack("{s:O}", "vscsistats", d->detail);
	p->source_detail = detail ? json_dumps(detail, JSON_COMPACT) : NULL;
	json_decref(detail);
	return p->source_detail ? 0 : err_set(err, ENOMEM, "out of memory");
}

static int make_profiles(const struct reading *r, const char *host, uint64_t begin_real_ns,
			 struct profile **profiles, size_t *nr, struct err *err)
{
	struct profile *all = calloc(r->nr + 1, sizeof(*all));
	int ret = all ? 0 : err_set(err, ENOMEM, "out of memory");
	size_t made = 0;

	if (ret == 0 && r->nr == 0)
		ret = err_set(err, EBADMSG, "%s: expected histograms, there is none",
			      foreign_input_path(r->in));
	while (ret == 0 && made < r->nr) {
		profile_init(&all[made]);
		ret = fill_profile(r, &r->disks[made], host, begin_real_ns, &all[made], err);
		made++;
	}
	if (ret < 0) {
		while (made)
			profile_release(&all[--made]);
		free(all);
		return ret;
	}
	*profiles = all;
	*nr = made;
	return 0;
}

int vscsi_stats_read(struct foreign_input *in, const char *host, uint64_t begin_real_ns,
		     struct profile **profiles, size_t *nr, struct err *err)
{
	struct reading r = { .in = in, .kind = -1 };
	const char *line;
	size_t len;
	int ret;

	while ((ret = foreign_input_line(in, &line, &len, err)) > 0) {
		ret = take_line(&r, text_make(line, len), err);
		if (ret < 0)
			break;
	}
	if (ret == 0)
		ret = make_profiles(&r, host, begin_real_ns, profiles, nr, err);
	for (size_t i = 0; i < r.nr; i++)
		json_decref(r.disks[i].detail);
	free(r.disks);
	return ret;
}
