// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/capacity/capacity.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/load_facts.h"

#define SIZE_BYTES_MAX	(1u << 30)
#define IOPS_MAX	1e12
#define SHARE_TOLERANCE 1e-9 /* 100 % written as 0.9999999999 is still 100 % */

void capacity_release(struct capacity *c)
{
	free(c->samples);
	free(c->points);
	free(c->sizes);
	memset(c, 0, sizeof(*c));
}

int capacity_add(struct capacity *c, uint64_t bytes, double read_ratio, double iops,
		 double relative_error, struct err *err)
{
	struct capacity_sample *samples;

	if (!bytes || bytes > SIZE_BYTES_MAX)
		return err_set(err, EINVAL, "expected a size from 1 B to 1 GiB, got %" PRIu64,
			       bytes);
	if (!(read_ratio >= 0 && read_ratio <= 1))
		return err_set(err, EINVAL, "expected a share of reads from 0 to 100 %%, got %g %%",
			       100 * read_ratio);
	if (!(iops > 0 && iops <= IOPS_MAX))
		return err_set(err, EINVAL, "expected requests per second above 0, got %g", iops);
	samples = reallocarray(c->samples, c->nr_samples + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	c->samples = samples;
	samples[c->nr_samples++] =
		(struct capacity_sample){ bytes, read_ratio, iops, relative_error };
	return 0;
}

static int by_size_and_mix(const void *a, const void *b)
{
	const struct capacity_sample *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	if (x->read_ratio != y->read_ratio)
		return x->read_ratio < y->read_ratio ? -1 : 1;
	return (x->iops > y->iops) - (x->iops < y->iops);
}

/*
 * The mean of nr samples and the error of that mean, from their spread or, with one sample, as it
 * was given.
 */
static struct capacity_point point_of(const struct capacity_sample *s, size_t nr)
{
	struct capacity_point p = { .bytes = s->bytes,
				    .read_ratio = s->read_ratio,
				    .nr = nr,
				    .relative_variance = NAN,
				    .df = INFINITY };
	double squares = 0;

	for (size_t i = 0; i < nr; i++)
		p.mean += s[i].iops / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (s[i].iops - p.mean) * (s[i].iops - p.mean);
	if (nr > 1) {
		p.df = (double)(nr - 1);
		p.relative_variance = squares / p.df / (double)nr / (p.mean * p.mean);
	} else {
		p.relative_variance = s->relative_error * s->relative_error;
	}
	return p;
}

static int add_size(struct capacity *c, size_t first, size_t end, struct err *err)
{
	struct capacity_size s = { .bytes = c->points[first].bytes };

	s.write = first;
	s.read = end - 1;
	if (c->points[s.write].read_ratio > SHARE_TOLERANCE ||
	    c->points[s.read].read_ratio < 1 - SHARE_TOLERANCE)
		return err_set(
			err, EINVAL, "%" PRIu64 " bytes: not measured with %s alone", s.bytes,
			c->points[s.write].read_ratio > SHARE_TOLERANCE ? "writes" : "reads");
	c->sizes[c->nr_sizes++] = s;
	return 0;
}

int capacity_finish(struct capacity *c, struct err *err)
{
	size_t nr = c->nr_samples, first = 0;
	int ret = 0;

	if (!nr)
		return err_set(err, EINVAL,
			       "expected measurements: with reads alone and with "
			       "writes alone");
	qsort(c->samples, nr, sizeof(*c->samples), by_size_and_mix);
	c->points = calloc(nr, sizeof(*c->points));
	c->sizes = calloc(nr, sizeof(*c->sizes));
	if (!c->points || !c->sizes)
		return -ENOMEM;
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && c->samples[end].bytes == c->samples[i].bytes &&
				  c->samples[end].read_ratio == c->samples[i].read_ratio;
		     end++)
			;
		c->points[c->nr_points++] = point_of(&c->samples[i], end - i);
	}
	for (size_t i = 1; i <= c->nr_points; i++) {
		if (i == c->nr_points || c->points[i].bytes != c->points[first].bytes) {
			ret = add_size(c, first, i, err);
			first = i;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static double log_t(const struct capacity *c, const struct capacity_at *a, bool read)
{
	double sum = 0;

	for (int i = 0; i < 2; i++) {
		const struct capacity_size *s = &c->sizes[a->from[i]];

		sum += a->weight[i] * log(c->points[read ? s->read : s->write].mean);
	}
	return sum;
}

void capacity_at(const struct capacity *c, uint64_t bytes, struct capacity_at *out)
{
	const struct capacity_size *s = c->sizes;
	size_t last = c->nr_sizes - 1, i = 0;
	double more = 0;

	memset(out, 0, sizeof(*out));
	out->bytes = bytes;
	while (i < last && s[i + 1].bytes <= bytes)
		i++;
	out->from[0] = out->from[1] = i;
	out->weight[0] = 1;
	if (bytes < s[0].bytes || bytes > s[last].bytes) {
		out->extrapolated = true;
		if (bytes > s[last].bytes)
			more = log((double)s[last].bytes / (double)bytes);
	} else if (bytes != s[i].bytes) {
		out->interpolated = true;
		out->from[1] = i + 1;
		out->weight[1] = log((double)bytes / (double)s[i].bytes) /
				 log((double)s[i + 1].bytes / (double)s[i].bytes);
		out->weight[0] = 1 - out->weight[1];
	}
	out->read_s = exp(-log_t(c, out, true) - more);
	out->write_s = exp(-log_t(c, out, false) - more);
	if (!out->interpolated && !out->extrapolated) { /* exact, not only up to rounding */
		out->read_s = 1 / c->points[s[i].read].mean;
		out->write_s = 1 / c->points[s[i].write].mean;
	}
	out->capacity = 1 / out->read_s;
	out->f_rw = out->write_s / out->read_s;
}

/* Adds d F / d log T of a size's T to the gradient over all points. */
static void add_gradient(const struct capacity *c, const struct capacity_at *a, bool read,
			 double derivative, double *gradient)
{
	for (int i = 0; i < 2; i++) {
		const struct capacity_size *s = &c->sizes[a->from[i]];

		gradient[read ? s->read : s->write] += derivative * a->weight[i];
	}
}

static struct capacity_value capacity_propagate(const struct capacity *c, double value,
						const double *gradient)
{
	struct capacity_value v = { value, NAN, NAN };
	double variance = 0, satterthwaite = 0, half;

	for (size_t j = 0; j < c->nr_points; j++) {
		double part = gradient[j] * gradient[j] * c->points[j].relative_variance;

		if (gradient[j] == 0)
			continue;
		if (!isfinite(part))
			return v;
		variance += part;
		satterthwaite += part * part / c->points[j].df;
	}
	half = (1 + CAPACITY_LEVEL) / 2;
	half = satterthwaite > 0 ? gsl_cdf_tdist_Pinv(half, variance * variance / satterthwaite)
				 : gsl_cdf_ugaussian_Pinv(half);
	v.low = fmax(0, value - half * sqrt(variance));
	v.high = value + half * sqrt(variance);
	return v;
}

int capacity_mix(const struct capacity *c, struct capacity_part *parts, size_t nr, bool of_requests,
		 struct capacity_value *total)
{
	double *gradient = calloc(c->nr_points, sizeof(*gradient)), sum = 0, all;

	if (!gradient)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct capacity_part *p = &parts[i];
		double cost;

		capacity_at(c, p->bytes, &p->at);
		cost = p->read_ratio * p->at.read_s + (1 - p->read_ratio) * p->at.write_s;
		sum += of_requests ? p->share * cost : p->share / cost;
	}
	all = of_requests ? 1 / sum : sum;
	for (size_t i = 0; i < nr; i++) {
		struct capacity_part *p = &parts[i];
		double r = p->read_ratio * p->at.read_s, w = (1 - p->read_ratio) * p->at.write_s;
		double rate = of_requests ? p->share * all : p->share / (r + w);
		/* d total / d cost, with d cost / d log T = -cost of that kind */
		double slope = of_requests ? -all * all * p->share : -rate / (r + w);

		p->read_iops = rate * p->read_ratio;
		p->write_iops = rate * (1 - p->read_ratio);
		add_gradient(c, &p->at, true, -slope * r, gradient);
		add_gradient(c, &p->at, false, -slope * w, gradient);
	}
	*total = capacity_propagate(c, all, gradient);
	free(gradient);
	return 0;
}

/*
 * Adds the use of reads or writes of one size: per_s of them per second; `seen` of them were
 * observed.
 */
static void use_size(const struct capacity *c, double bytes, double per_s, double seen, bool read,
		     struct capacity_use *use, double *gradient)
{
	uint64_t count = (uint64_t)llround(seen);
	struct capacity_at at;
	double share;

	capacity_at(c, (uint64_t)llround(bytes), &at);
	share = per_s * (read ? at.read_s : at.write_s);
	use->share.value += share;
	use->requests += count;
	use->interpolated += at.interpolated ? count : 0;
	use->extrapolated += at.extrapolated ? count : 0;
	add_gradient(c, &at, read, -share, gradient);
}

static int use_load(const struct capacity *c, const struct load_facts *f, size_t number,
		    struct capacity_use *use, double *gradient, struct err *err)
{
	if (!(f->rate_per_s > 0))
		return err_set(err, EINVAL, "load %zu has no reads or writes", number);
	use->rate_per_s += f->rate_per_s;
	for (int side = 0; side < 2; side++) {
		double part = side ? 1 - f->read_ratio : f->read_ratio;
		const struct load_sizes *sizes = &f->sizes[side];

		if (!load_facts_has(f, side))
			continue;
		if (!sizes->nr)
			return err_set(err, EINVAL, "the sizes of the %ss of load %zu are unknown",
				       side ? "write" : "read", number);
		for (size_t k = 0; k < sizes->nr; k++)
			use_size(c, sizes->at[k].bytes, f->rate_per_s * part * sizes->at[k].share,
				 f->requests * part * sizes->at[k].share, !side, use, gradient);
	}
	return 0;
}

int capacity_use(const struct capacity *c, const struct load_facts *f, size_t nr,
		 struct capacity_use *out, struct err *err)
{
	double *gradient = calloc(c->nr_points, sizeof(*gradient));
	int ret = gradient ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		ret = use_load(c, &f[i], i + 1, out, gradient, err);
		if (ret)
			goto out;
	}
	out->share = capacity_propagate(c, out->share.value, gradient);
out:
	free(gradient);
	return ret;
}

size_t capacity_check(const struct capacity *c, struct capacity_check *out)
{
	size_t nr = 0, size = 0;

	for (size_t i = 0; i < c->nr_points; i++) {
		const struct capacity_point *p = &c->points[i];
		double read, write;

		while (c->sizes[size].bytes != p->bytes)
			size++;
		if (i == c->sizes[size].read || i == c->sizes[size].write)
			continue;
		read = c->points[c->sizes[size].read].mean;
		write = c->points[c->sizes[size].write].mean;
		out[nr].point = p;
		out[nr].capacity = p->mean * (p->read_ratio + (1 - p->read_ratio) * read / write);
		out[nr].deviation_ratio = out[nr].capacity / read - 1;
		out[nr].predicted = 1 / (p->read_ratio / read + (1 - p->read_ratio) / write);
		out[nr].error_ratio = fabs(out[nr].predicted - p->mean) / p->mean;
		nr++;
	}
	return nr;
}
