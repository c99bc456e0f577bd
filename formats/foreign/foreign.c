/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/foreign/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/foreign/foreign_device.h"
#include "formats/foreign/foreign_formats.h"

/*
 * Times within one trace that are further apart than this come from another clock or are damaged.
 */
#define DAY_NS		   86400000000000ull
#define JUMP_DAYS	   366u
#define LATEST_NS	   (1ull << 62)
#define TRIAL_LINES	   64 /* number of lines by which a text format is recognized */

#define FORMAT_ENTRY(name) &foreign_##name,
const struct foreign_format *const foreign_formats[] = { FOREIGN_FORMATS(FORMAT_ENTRY) };
const size_t nr_foreign_formats = sizeof(foreign_formats) / sizeof(*foreign_formats);

const struct foreign_format *foreign_format_named(const char *name)
{
	for (size_t i = 0; i < nr_foreign_formats; i++)
		if (strcmp(foreign_formats[i]->name, name) == 0)
			return foreign_formats[i];
	return NULL;
}

static int foreign_init(struct foreign *f, const struct foreign_format *format,
			const struct foreign_options *options, struct err *err)
{
	int ret;

	*f = (struct foreign){
		.format = format,
		.options = options,
		.record_bytes = format->record_bytes,
		.wall = format->traits & FOREIGN_WALL,
	};
	ret = foreign_devices_init(f);
	if (ret == 0 && format->open)
		ret = format->open(f, err);
	return ret;
}

static void foreign_release(struct foreign *f)
{
	if (f->format && f->format->close)
		f->format->close(f);
	foreign_devices_release(f);
	for (size_t i = 0; i < f->nr_inputs; i++)
		foreign_input_free(f->inputs[i]);
	free(f->inputs);
}

static int read_head(struct foreign_input *in, struct foreign_head *head, struct err *err)
{
	size_t got;
	int ret;

	*head = (struct foreign_head){ .path = foreign_input_path(in) };
	ret = foreign_input_peek(in, FOREIGN_HEAD_BYTES, &head->data, &got, err);
	if (ret < 0)
		return ret;
	head->whole = got < FOREIGN_HEAD_BYTES;
	head->len = head->whole ? got : FOREIGN_HEAD_BYTES;
	if (head->len == 0)
		return err_set(err, EBADMSG, "%s: expected a trace, the file is empty", head->path);
	return 0;
}

static int foreign_begin(struct foreign *f, struct err *err)
{
	struct foreign_head head;
	int ret;

	/* Some of several files of one trace may be empty, because a CPU had no event. */
	if (f->nr_inputs > 1 && !f->format->begin)
		return 0;
	ret = read_head(f->in, &head, err);
	if (ret == 0 && f->format->begin)
		ret = f->format->begin(f, &head, err);
	return ret;
}

int foreign_open(struct foreign **out, const struct foreign_format *format,
		 const struct foreign_options *options, struct foreign_input *const *inputs,
		 size_t nr, struct err *err)
{
	struct foreign *f = calloc(1, sizeof(*f));
	struct foreign_input **own = calloc(nr, sizeof(struct foreign_input *));
	int ret = -ENOMEM;

	if (f && own) {
		ret = foreign_init(f, format, options, err);
		memcpy(own, inputs, nr * sizeof(struct foreign_input *));
		f->inputs = own;
		f->nr_inputs = nr;
		f->in = own[0];
		if (ret == 0)
			ret = foreign_begin(f, err);
	}
	if (ret < 0) {
		if (f && own)
			foreign_release(f);
		else
			for (size_t i = 0; i < nr; i++)
				foreign_input_free(inputs[i]);
		if (!f || !own)
			free(own);
		free(f);
		return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
	}
	*out = f;
	return 0;
}

void foreign_close(struct foreign *f)
{
	if (!f)
		return;
	foreign_release(f);
	free(f);
}

void foreign_blank(struct request *r)
{
	*r = (struct request){
		.flags = REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION | REQUEST_NO_ISSUER |
			 REQUEST_NO_CGROUP,
		.source = SOURCE_IMPORT,
		.layer = LAYER_DEVICE,
	};
}

enum foreign_step foreign_because(struct foreign *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->because, sizeof(f->because), fmt, ap);
	va_end(ap);
	return FOREIGN_SKIP;
}

void foreign_skip(struct foreign *f, const char *fmt, ...)
{
	struct foreign_skips *s = &f->skips;
	va_list ap;

	f->nr_records++;
	if (s->nr++ >= FOREIGN_REASONS)
		return;
	va_start(ap, fmt);
	vsnprintf(s->first[s->nr - 1], FOREIGN_REASON_BYTES, fmt, ap);
	va_end(ap);
	for (char *c = s->first[s->nr - 1]; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

const char *foreign_check(struct foreign *f, const struct request *r)
{
	uint64_t t = r->arrival_ns;

	if (t >= LATEST_NS || (f->latest_ns && (t + JUMP_DAYS * DAY_NS < f->latest_ns ||
						t > f->latest_ns + JUMP_DAYS * DAY_NS)))
		return "time: expected one within a year of those before it";
	if (r->completion_ns < t || r->completion_ns - t > DAY_NS)
		return "response time: expected at most a day";
	if (t > f->latest_ns)
		f->latest_ns = t;
	return NULL;
}

/* Counts a step of the format. Returns whether r is to be handed out. */
static bool foreign_accept(struct foreign *f, enum foreign_step step, const struct request *r,
			   const char *unit, uint64_t where)
{
	const char *wrong = step == FOREIGN_SKIP ? f->because : NULL;

	if (step == FOREIGN_NOTHING)
		return false;
	if (step == FOREIGN_REQUEST) {
		const char *field = request_check(r);

		wrong = foreign_check(f, r);
		if (!wrong && field) {
			foreign_because(f, "%s: expected a value that a kernel can give", field);
			wrong = f->because;
		}
	}
	if (wrong) {
		foreign_skip(f, "%s:%s%" PRIu64 ": %s", foreign_input_path(f->in), unit, where,
			     wrong);
		return false;
	}
	f->nr_records++;
	return true;
}

static int64_t next_lines(struct foreign *f, struct request *out, size_t max, struct err *err)
{
	size_t nr = 0, len;
	const char *line;

	while (nr < max) {
		int ret = foreign_input_line(f->in, &line, &len, err);
		enum foreign_step step;

		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
		foreign_blank(&out[nr]);
		step = f->format->line(f, text_make(line, len), &out[nr]);
		if (f->failed)
			return err_set(err, -f->failed, "%s:%" PRIu64 ": %s",
				       foreign_input_path(f->in), foreign_input_line_number(f->in),
				       strerror(-f->failed));
		nr += foreign_accept(f, step, &out[nr], "", foreign_input_line_number(f->in));
	}
	return (int64_t)nr;
}

static int64_t next_records(struct foreign *f, struct request *out, size_t max, struct err *err)
{
	size_t nr = 0, got;
	const uint8_t *data;

	while (nr < max) {
		uint64_t at = foreign_input_offset(f->in);
		int ret = foreign_input_peek(f->in, f->record_bytes, &data, &got, err);
		enum foreign_step step;

		if (ret < 0)
			return ret;
		if (got == 0)
			break;
		if (got < f->record_bytes) {
			foreign_input_take(f->in, got);
			foreign_skip(f,
				     "%s:offset %" PRIu64 ": expected a record of %u bytes, "
				     "%zu are left",
				     foreign_input_path(f->in), at, f->record_bytes, got);
			break;
		}
		foreign_blank(&out[nr]);
		step = f->format->record(f, data, &out[nr]);
		foreign_input_take(f->in, f->record_bytes);
		if (f->failed)
			return err_set(err, -f->failed, "%s:offset %" PRIu64 ": %s",
				       foreign_input_path(f->in), at, strerror(-f->failed));
		nr += foreign_accept(f, step, &out[nr], "offset ", at);
	}
	return (int64_t)nr;
}

static bool has_time(const struct request *r)
{
	return !(r->flags & REQUEST_NO_COMPLETION) && r->completion_ns > r->arrival_ns;
}

/*
 * No request takes 0 s, so a column of zeros means that nobody measured it: response times of 0 are
 * unknown until the trace has one above 0. After that, a 0 is a time below the clock's resolution
 * and is accepted. The rule looks at single records, so the number of records read at a time does
 * not change the result.
 */
static void doubt_zero_times(struct foreign *f, struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr && !f->has_times; i++) {
		f->has_times = has_time(&r[i]);
		if (f->has_times || r[i].flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL))
			continue;
		r[i].flags |= REQUEST_NO_COMPLETION;
		f->nr_zero_times++;
	}
}

int64_t foreign_next(struct foreign *f, struct request *out, size_t max, struct err *err)
{
	int64_t nr;

	if (f->format->next)
		return f->format->next(f, out, max, err);
	nr = f->format->line ? next_lines(f, out, max, err) : next_records(f, out, max, err);
	if (nr > 0)
		doubt_zero_times(f, out, (size_t)nr);
	return nr;
}

/* Returns the share (0 to 1) of the first non-empty lines that the format can read. */
static double try_lines(const struct foreign_format *format, const struct foreign_options *options,
			const struct foreign_head *head)
{
	struct text rest = text_make((const char *)head->data, head->len), line;
	unsigned int nr_good = 0, nr_bad = 0;
	struct foreign f = { 0 };

	if (foreign_init(&f, format, options, NULL) == 0) {
		while (nr_good + nr_bad < TRIAL_LINES && text_field(&rest, '\n', &line)) {
			enum foreign_step step;
			struct request r;

			if (line.end == (const char *)head->data + head->len && !head->whole)
				break; /* the last line is incomplete */
			if (line.end > line.at && line.end[-1] == '\r')
				line.end--;
			if (line.at == line.end)
				continue;
			foreign_blank(&r);
			step = format->line(&f, line, &r);
			if (step == FOREIGN_REQUEST && !foreign_check(&f, &r))
				nr_good++;
			else if (step != FOREIGN_NOTHING)
				nr_bad++;
		}
	}
	foreign_release(&f);
	return nr_good ? (double)nr_good / (nr_good + nr_bad) : 0;
}

int foreign_detect(struct foreign_input *in, const struct foreign_options *options,
		   const struct foreign_format **out, struct err *err)
{
	double best = 0.5; /* more than half of the lines must fit */
	struct foreign_head head;
	int ret = read_head(in, &head, err);

	*out = NULL;
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < nr_foreign_formats; i++) {
		const struct foreign_format *format = foreign_formats[i];
		double share = 1;

		if (format->detect && !format->detect(&head))
			continue;
		if (format->line)
			share = try_lines(format, options, &head);
		if (share > best) {
			best = share;
			*out = format;
		}
	}
	return 0;
}
