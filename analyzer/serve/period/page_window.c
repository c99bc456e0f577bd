// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_window.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_json.h"

#define PATH_BYTES   96
#define NUMBER_BYTES 40 /* a longer number is not one that the format writes */
#define NS_PER_S     1e9

/* The state of the reader of one text. */
struct page_skim {
	const char *at, *end;
	struct profile *p;
	const char *device; /* NULL: any */
	bool is_other, has_schema, has_device;
	size_t hint; /* fields come in the order of the table; the next one is probably this */
	char path[PATH_BYTES];
};

static bool page_skim_space(struct page_skim *s)
{
	while (s->at < s->end &&
	       (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
		s->at++;
	return s->at < s->end;
}

static bool page_skim_take(struct page_skim *s, char c)
{
	if (!page_skim_space(s) || *s->at != c)
		return false;
	s->at++;
	return true;
}

/* Passes a string; *begin and *len are what stands between its quotes, with escapes as they are. */
static int page_skim_string(struct page_skim *s, const char **begin, size_t *len)
{
	if (!page_skim_take(s, '"'))
		return -EBADMSG;
	*begin = s->at;
	while (s->at < s->end && *s->at != '"')
		s->at += *s->at == '\\' && s->at + 1 < s->end ? 2 : 1;
	if (s->at >= s->end)
		return -EBADMSG;
	*len = (size_t)(s->at++ - *begin);
	return 0;
}

/* Passes any value: objects and arrays by the depth of their brackets. */
static int page_skim_pass(struct page_skim *s)
{
	/* These characters end a run of numbers and commas within brackets. */
	static const bool stops[256] = {
		['\0'] = true, ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true
	};
	const char *begin;
	size_t depth = 0, len;

	do {
		while (depth && !stops[(unsigned char)*s->at])
			s->at++;
		if (!page_skim_space(s))
			return -EBADMSG;
		switch (*s->at) {
		case '"':
			if (page_skim_string(s, &begin, &len) < 0)
				return -EBADMSG;
			break;
		case '[':
		case '{':
			depth++;
			s->at++;
			break;
		case ']':
		case '}':
			if (!depth)
				return -EBADMSG;
			depth--;
			s->at++;
			break;
		case ',':
		case ':':
			if (!depth)
				return -EBADMSG;
			s->at++;
			break;
		default: /* a number or a word */
			len = strcspn(s->at, ",:]}[{\" \t\r\n");
			if (!len)
				return -EBADMSG;
			s->at += len;
		}
	} while (depth);
	return 0;
}

static bool page_skim_null(struct page_skim *s)
{
	if (!page_skim_space(s) || s->end - s->at < 4 || memcmp(s->at, "null", 4) != 0)
		return false;
	s->at += 4;
	return true;
}

static int page_skim_number(struct page_skim *s, double *out)
{
	char text[NUMBER_BYTES], *end;
	size_t len;

	if (!page_skim_space(s))
		return -EBADMSG;
	len = strspn(s->at, "+-.0123456789eE");
	if (!len || len >= sizeof(text))
		return -EBADMSG;
	memcpy(text, s->at, len);
	text[len] = 0;
	*out = strtod(text, &end);
	s->at += len;
	return *end || !isfinite(*out) ? -EBADMSG : 0;
}

static int page_skim_whole(struct page_skim *s, int64_t *out)
{
	bool negative = page_skim_take(s, '-');
	const char *begin;
	int64_t value = 0;

	if (!negative && !page_skim_space(s))
		return -EBADMSG;
	for (begin = s->at; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s->at - '0', &value))
			return -EBADMSG;
	*out = negative ? -value : value;
	return s->at == begin ? -EBADMSG : 0;
}

static int page_skim_count(struct page_skim *s, uint64_t *out)
{
	int64_t value;

	if (page_skim_whole(s, &value) < 0 || value < 0)
		return -EBADMSG;
	*out = (uint64_t)value;
	return 0;
}

/* Reads a string as text; its escapes are decoded by the library that reads all other JSON. */
static int page_skim_text(struct page_skim *s, char *out, size_t room)
{
	const char *begin;
	json_t *value;
	size_t len;
	int ret = -EBADMSG;

	if (page_skim_string(s, &begin, &len) < 0)
		return -EBADMSG;
	value = json_loadb(begin - 1, len + 2, JSON_DECODE_ANY, NULL);
	if (json_is_string(value) && json_string_length(value) < room) {
		memcpy(out, json_string_value(value), json_string_length(value) + 1);
		ret = 0;
	}
	json_decref(value);
	return ret;
}

static int page_skim_name(struct page_skim *s, const char *(*name)(unsigned int), unsigned int nr,
			  uint8_t *out)
{
	char text[PROFILE_NAME_BYTES];

	if (page_skim_text(s, text, sizeof(text)) < 0)
		return -EBADMSG;
	for (unsigned int i = 0; i < nr; i++)
		if (name(i) && strcmp(text, name(i)) == 0) {
			*out = (uint8_t)i;
			return 0;
		}
	return -EBADMSG;
}

/* Calls take with each [a, b] of a list. */
static int page_skim_pairs(struct page_skim *s, int (*take)(void *ctx, int64_t a, int64_t b),
			   void *ctx)
{
	int64_t a, b;
	int ret;

	if (page_skim_null(s))
		return 0;
	if (!page_skim_take(s, '['))
		return -EBADMSG;
	if (page_skim_take(s, ']'))
		return 0;
	do {
		if (!page_skim_take(s, '[') || page_skim_whole(s, &a) < 0 ||
		    !page_skim_take(s, ',') || page_skim_whole(s, &b) < 0 || b < 0 ||
		    !page_skim_take(s, ']'))
			return -EBADMSG;
		ret = take(ctx, a, b);
		if (ret < 0)
			return ret;
	} while (page_skim_take(s, ','));
	return page_skim_take(s, ']') ? 0 : -EBADMSG;
}

/* Calls take with each key of an object; take passes the value. */
static int page_skim_object(struct page_skim *s,
			    int (*take)(struct page_skim *s, const char *key, size_t len,
					void *ctx),
			    void *ctx)
{
	const char *key;
	size_t len;
	int ret;

	if (page_skim_null(s))
		return 0;
	if (!page_skim_take(s, '{'))
		return -EBADMSG;
	if (page_skim_take(s, '}'))
		return 0;
	do {
		if (page_skim_string(s, &key, &len) < 0 || !page_skim_take(s, ':'))
			return -EBADMSG;
		ret = take(s, key, len, ctx);
		if (ret < 0 || s->is_other)
			return ret;
	} while (page_skim_take(s, ','));
	return page_skim_take(s, '}') ? 0 : -EBADMSG;
}

static bool page_skim_is(const char *key, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(key, name, len) == 0;
}

static int page_size_take(void *ctx, int64_t bytes, int64_t count)
{
	struct direction_profile *d = ctx;
	size_t cap = d->nr_sizes;

	if (bytes < 0 || bytes > UINT32_MAX ||
	    (d->nr_sizes && bytes <= d->sizes[d->nr_sizes - 1].bytes))
		return -EBADMSG;
	/* The room is a power of two, so that it follows from the number of items. */
	if (!(cap & (cap - 1))) {
		struct size_count *more = realloc(d->sizes, (cap ? 2 * cap : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->sizes = more;
	}
	d->sizes[d->nr_sizes++] = (struct size_count){ (uint32_t)bytes, (uint64_t)count };
	return 0;
}

static int page_sizes_take(struct page_skim *s, const char *key, size_t len, void *ctx)
{
	if (page_skim_is(key, len, "histogram"))
		return page_skim_pairs(s, page_size_take, ctx);
	return page_skim_pass(s);
}

/* A tally while it is read. */
struct page_tally {
	struct arrival_tally *t;
	enum arrival_kind kind;
};

static int page_tally_take(void *ctx, int64_t bucket, int64_t count)
{
	const struct page_tally *tally = ctx;
	struct arrival_tally *t = tally->t;
	size_t cap = t->nr;

	if (count == 0 || !arrival_tally_is_bucket(tally->kind, bucket) ||
	    (t->nr && bucket <= t->counts[t->nr - 1].bucket))
		return -EBADMSG;
	if (!(cap & (cap - 1))) {
		struct arrival_tally_count *more =
			realloc(t->counts, (cap ? 2 * cap : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->counts = more;
	}
	t->counts[t->nr++] = (struct arrival_tally_count){ bucket, (uint64_t)count };
	return 0;
}

static int page_tally_read(struct page_skim *s, struct arrival_tally *t, enum arrival_kind kind)
{
	struct page_tally tally = { .t = t, .kind = kind };

	return t->nr ? -EBADMSG : page_skim_pairs(s, page_tally_take, &tally);
}

static int page_bucket_take(void *ctx, int64_t bucket, int64_t count)
{
	int ret;

	if (bucket < HISTOGRAM_BUCKET_MIN || bucket > HISTOGRAM_BUCKET_MAX)
		return -EBADMSG;
	ret = histogram_add_bucket(ctx, (int)bucket, (uint64_t)count);
	return ret == 0 || ret == -ENOMEM ? ret : -EBADMSG;
}

/* A stage while it is read. */
struct page_stage {
	struct histogram *h;
	bool has_max; /* its largest duration was there, which may be 0 */
};

/*
 * Keeps only counts and extremes of a stage, because the page shows percentiles, which follow from
 * them.
 */
static int page_stage_take(struct page_skim *s, const char *key, size_t len, void *ctx)
{
	struct page_stage *stage = ctx;
	double value_s;

	if (page_skim_is(key, len, "histogram"))
		return stage->h->nr ? -EBADMSG : page_skim_pairs(s, page_bucket_take, stage->h);
	if (!page_skim_is(key, len, "min_s") && !page_skim_is(key, len, "max_s"))
		return page_skim_pass(s);
	if (page_skim_null(s))
		return 0;
	if (page_skim_number(s, &value_s) < 0 || !(value_s >= 0 && value_s < 1e9))
		return -EBADMSG;
	stage->has_max |= key[1] == 'a';
	*(key[1] == 'i' ? &stage->h->min_ns : &stage->h->max_ns) =
		(uint64_t)rint(value_s * NS_PER_S);
	return 0;
}

/* Percentiles lie between the extremes; without them the reader would show a wrong time. */
static int page_stage_read(struct page_skim *s, struct histogram *h)
{
	struct page_stage stage = { .h = h };
	int ret = h->nr ? -EBADMSG : page_skim_object(s, page_stage_take, &stage);

	return ret == 0 && h->nr && (!stage.has_max || h->min_ns > h->max_ns) ? -EBADMSG : ret;
}

static int page_count_field(struct page_skim *s, const struct profile_field *f, void *at)
{
	if (page_skim_null(s)) {
		s->p->unknown |= f->unknown;
		return 0;
	}
	return page_skim_count(s, at);
}

static int page_number_field(struct page_skim *s, const struct profile_field *f, double *at)
{
	if (page_skim_null(s))
		return 0;
	if (page_skim_number(s, at) < 0 || (f->max > 0 && !(*at >= 0 && *at <= f->max)))
		return -EBADMSG;
	return 0;
}

/* Reads a field that the page shows, and passes every other one. */
static int page_field_read(struct page_skim *s, const struct profile_field *f)
{
	void *at = (char *)s->p + f->at;
	char schema[PROFILE_NAME_BYTES];

	switch (f->kind) {
	case KIND_SCHEMA:
		s->has_schema = page_skim_text(s, schema, sizeof(schema)) == 0 &&
				strcmp(schema, PROFILE_SCHEMA) == 0;
		return s->has_schema ? 0 : -EBADMSG;
	case KIND_NAME:
		if (page_skim_text(s, at, PROFILE_NAME_BYTES) < 0)
			return -EBADMSG;
		if (at == s->p->device) {
			s->has_device = true;
			s->is_other = s->device && strcmp(s->p->device, s->device) != 0;
		}
		return 0;
	case KIND_SOURCE:
		return page_skim_name(s, source_name, NR_SOURCES, at);
	case KIND_LAYER:
		return page_skim_name(s, layer_name, NR_LAYERS, at);
	case KIND_NUMBER:
		return page_number_field(s, f, at);
	case KIND_COUNT:
		return page_count_field(s, f, at);
	case KIND_SIZES:
		return page_skim_object(s, page_sizes_take, at);
	case KIND_ARRIVALS:
		return page_tally_read(s, at, (enum arrival_kind)f->arrivals);
	case KIND_STAGE:
		if (at == &s->p->read.response.stage[STAGE_TOTAL] ||
		    at == &s->p->write.response.stage[STAGE_TOTAL] ||
		    at == &s->p->flush.stage[STAGE_TOTAL])
			return page_stage_read(s, at);
		return page_skim_pass(s);
	default:
		return page_skim_pass(s);
	}
}

/* Finds the first field whose path is this one, or is below it; NULL if there is none. */
static const struct profile_field *page_field_find(struct page_skim *s, size_t len)
{
	for (size_t i = 0; i < nr_profile_fields; i++) {
		size_t at = (s->hint + i) % nr_profile_fields;
		const char *path = profile_fields[at].path;

		if (strncmp(path, s->path, len) == 0 && (!path[len] || path[len] == '.')) {
			s->hint = at + !path[len];
			return &profile_fields[at];
		}
	}
	return NULL;
}

static int page_member_take(struct page_skim *s, const char *key, size_t len, void *ctx)
{
	size_t before = strlen(s->path), path_len = before + (before > 0) + len;
	const struct profile_field *f = NULL;
	int ret;

	(void)ctx;
	if (path_len < sizeof(s->path)) {
		if (before)
			s->path[before] = '.';
		memcpy(s->path + path_len - len, key, len);
		s->path[path_len] = 0;
		f = page_field_find(s, path_len);
	}
	if (!f)
		ret = page_skim_pass(s);
	else if (f->path[path_len])
		ret = page_skim_object(s, page_member_take, NULL);
	else
		ret = page_field_read(s, f);
	s->path[before] = 0;
	return ret;
}

/* A request has at most one place in each tally, as profile_arrivals_read() has it. */
static bool page_tallies_fit(const struct profile *p)
{
	for (size_t i = 0; i < nr_profile_fields; i++) {
		const struct profile_field *f = &profile_fields[i];
		const struct arrival_tally *t =
			(const struct arrival_tally *)((const char *)p + f->at);
		uint64_t left;

		if (f->kind != KIND_ARRIVALS)
			continue;
		left = p->requests[f->operation];
		for (size_t k = 0; k < t->nr; k++) {
			if (t->counts[k].count > left)
				return false;
			left -= t->counts[k].count;
		}
	}
	return true;
}

int page_window_read(const char *text, const char *device, struct profile *p, bool *is_other)
{
	struct page_skim s = { .at = text, .end = text + strlen(text), .p = p, .device = device };
	int ret;

	*is_other = false;
	profile_init(p);
	if (!page_skim_space(&s) || *s.at != '{')
		return -EBADMSG;
	ret = page_skim_object(&s, page_member_take, NULL);
	if (ret < 0)
		return ret;
	*is_other = s.is_other;
	if (s.is_other)
		return 0;
	if (!s.has_schema || !s.has_device || !(p->end_s > p->begin_s) || !page_tallies_fit(p))
		return -EBADMSG;
	return 0;
}
