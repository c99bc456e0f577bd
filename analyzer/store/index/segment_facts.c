// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/index/segment_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"

#define DAY_NS 86400000000000ull

void segment_facts_init(struct segment_facts *f)
{
	memset(f, 0, sizeof(*f));
	ledger_init(&f->ledger);
}

void segment_facts_release(struct segment_facts *f)
{
	free(f->devices);
	ledger_release(&f->ledger);
	segment_facts_init(f);
}

static int take_devices(struct segment_facts *f, const struct segment_header *h)
{
	if (h->nr_devices == 0)
		return 0;
	f->devices = calloc(h->nr_devices, sizeof(*f->devices));
	if (!f->devices)
		return -ENOMEM;
	f->nr_devices = h->nr_devices;
	for (size_t i = 0; i < h->nr_devices; i++) {
		f->devices[i].device = h->devices[i].device;
		f->devices[i].size_bytes = h->devices[i].size_bytes;
		snprintf(f->devices[i].name, sizeof(f->devices[i].name), "%s", h->devices[i].name);
		segment_word_clean(f->devices[i].name);
	}
	return 0;
}

/*
 * Returns the entry of a device. A device that the table leaves out gets an entry without a name.
 * Returns NULL where memory is short.
 */
static struct device_facts *device_of(struct segment_facts *f, uint32_t device)
{
	struct device_facts *more;

	for (size_t i = 0; i < f->nr_devices; i++)
		if (f->devices[i].device == device)
			return &f->devices[i];
	more = realloc(f->devices, (f->nr_devices + 1) * sizeof(*more));
	if (!more)
		return NULL;
	f->devices = more;
	more[f->nr_devices] = (struct device_facts){ .device = device };
	return &more[f->nr_devices++];
}

static int compare_kinds(const void *a, const void *b)
{
	const struct segment_kind *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device);
}

/*
 * The kinds are sorted by device first, so that each device is looked up once and not once per
 * kind.
 */
static int count_kinds(struct segment_facts *f, struct segment_totals *t)
{
	struct device_facts *d = NULL;

	if (t->nr_kinds)
		qsort(t->kinds, t->nr_kinds, sizeof(*t->kinds), compare_kinds);
	for (size_t i = 0; i < t->nr_kinds; i++) {
		const struct segment_kind *kind = &t->kinds[i];

		if (!kind->requests)
			continue;
		if (!d || d->device != kind->device)
			d = device_of(f, kind->device);
		if (!d)
			return -ENOMEM;
		d->requests[kind->operation] += kind->requests;
		d->bytes[kind->operation] += kind->bytes;
		f->nr_requests += kind->requests;
	}
	return 0;
}

/*
 * A reader looks at the whole time that a segment spans, however few requests it has. Its span is
 * therefore bounded before it is stored.
 */
static int check_span(const struct segment_facts *f, const struct segment_totals *t,
		      struct err *err)
{
	uint64_t begin_ns = f->begin.monotonic_ns, before_ns = 0;
	uint64_t after_ns = f->end.monotonic_ns - begin_ns;
	uint64_t most_ns;

	if (f->nr_requests && t->first_arrival_ns < begin_ns)
		before_ns = begin_ns - t->first_arrival_ns;
	if (f->nr_requests && t->last_completion_ns > f->end.monotonic_ns)
		after_ns = t->last_completion_ns - begin_ns;
	most_ns = before_ns > after_ns ? before_ns : after_ns;
	if (most_ns <= SEGMENT_MAX_SPAN_NS)
		return 0;
	return err_set(err, EBADMSG,
		       "segment: some of its times lie %llu days from its begin, expected %llu at "
		       "most",
		       (unsigned long long)most_ns / DAY_NS, SEGMENT_MAX_SPAN_NS / DAY_NS);
}

static int count_requests(struct segment_facts *f, struct segment_reader *reader, struct err *err)
{
	struct segment_totals t;
	int ret = segment_reader_total(reader, &t);

	if (ret == -EBADMSG)
		return err_set(err, EBADMSG, "segment: %s", segment_reader_refusal(reader));
	if (ret < 0)
		return err_set(err, -ret, "segment: out of memory");
	ret = count_kinds(f, &t);
	if (ret == 0)
		ret = check_span(f, &t, err);
	f->nr_untimed = t.nr_untimed;
	if (f->nr_requests) {
		f->first_real_ns = real_from_anchor(&f->begin, t.first_arrival_ns);
		f->last_real_ns = real_from_anchor(&f->begin, t.last_completion_ns);
	}
	segment_totals_release(&t);
	return ret;
}

int segment_facts_check_profiles(const struct segment_header *h, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < h->nr_profiles && ret == 0; i++) {
		struct profile p;

		profile_init(&p);
		ret = profile_from_json(h->profiles[i], strlen(h->profiles[i]), &p, NULL);
		if (ret == 0 && strcmp(p.host, h->host) != 0)
			ret = err_set(err, EINVAL,
				      "segment header: profiles: number %zu is of host '%s', "
				      "expected '%s'",
				      i, p.host, h->host);
		else if (ret != -ENOMEM)
			ret = 0;
		profile_release(&p);
	}
	return ret;
}

static int take_header(struct segment_facts *f, const struct segment_header *h, struct err *err)
{
	int ret = segment_name_of(&f->name, h, err);

	if (ret == 0)
		ret = segment_facts_check_profiles(h, err);
	if (ret < 0)
		return ret;
	f->nr_captured = h->nr_captured;
	f->source = h->source;
	f->layer = h->layer;
	f->begin = h->begin;
	f->end = h->end;
	ret = take_devices(f, h);
	if (ret == 0 && h->ledger)
		ret = ledger_merge(&f->ledger, h->ledger);
	return ret;
}

int segment_facts_read_with(struct segment_facts *f, struct segment_reader **reader,
			    const void *data, size_t len, struct err *err)
{
	int64_t whole = segment_length(data, len);
	int ret;

	segment_facts_init(f);
	if (whole >= 0 && (uint64_t)whole != len)
		return err_set(err, EBADMSG,
			       "length: expected %lld bytes as its head says, got %zu",
			       (long long)whole, len);
	ret = segment_reader_open(reader, data, len, err);
	if (ret < 0)
		return ret;
	ret = take_header(f, segment_reader_header(*reader), err);
	if (ret == 0)
		ret = count_requests(f, *reader, err);
	segment_reader_clear(*reader);
	if (ret < 0) {
		segment_facts_release(f);
		return ret;
	}
	f->hash = segment_hash_of(data, len);
	f->file_bytes = len;
	return 0;
}

int segment_facts_read(struct segment_facts *f, const void *data, size_t len, struct err *err)
{
	struct segment_reader *reader = NULL;
	int ret = segment_facts_read_with(f, &reader, data, len, err);

	segment_reader_free(reader);
	return ret;
}
