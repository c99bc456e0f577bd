/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace_files: the files of blktrace, one per device and CPU (NAME.blktrace.CPU), or the merged
 * dump of blkparse -d. Records of either byte order are decoded by blktrace.h. All files given form
 * one trace: they are merged by time, which is CLOCK_MONOTONIC and sorted within each file; at
 * equal times the order of the files decides. The CPU is taken from the record and not from the
 * name of the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/foreign/blktrace.h"
#include "formats/foreign/event_trace.h"
#include "formats/foreign/foreign.h"

#define MAX_CPUS 4096u

/* Sequence numbers of the last event of a CPU. A dump of several devices counts them separately. */
struct sequence {
	uint32_t device, last;
};

struct stream {
	struct blktrace_reader reader;
	struct blktrace_record record; /* the next event */
	bool has_record;
	struct sequence *cpus; /* owned; MAX_CPUS entries */
	struct text name;      /* name of the device, within the input's path */
	uint64_t nr_passed;    /* skipped records that have already been counted */
};

struct files {
	struct event_trace *events;
	struct stream *streams; /* owned; one per input */
	size_t nr_streams;
	bool begun, at_end;
	uint64_t nr_missing;
};

static bool blktrace_detect(const struct foreign_head *head)
{
	return head->len >= BLKTRACE_V7_BYTES && blktrace_is(head->data, head->len);
}

static int files_open(struct foreign *f, struct err *err)
{
	struct files *b = calloc(1, sizeof(*b));

	(void)err;
	f->state = b;
	return b ? event_trace_new(&b->events, f) : -ENOMEM;
}

static void files_close(struct foreign *f)
{
	struct files *b = f->state;

	if (!b)
		return;
	for (size_t i = 0; i < b->nr_streams; i++)
		free(b->streams[i].cpus);
	free(b->streams);
	event_trace_free(b->events);
	free(b);
}

/*
 * Returns "sda" for "some/sda.blktrace.0", or an empty text where the file has another form of
 * name.
 */
static struct text name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *mark = strstr(base, ".blktrace.");

	return text_make(base, mark ? (size_t)(mark - base) : 0);
}

/* Counts the events that are missing before this one according to the numbers of its CPU. */
static void check_sequence(struct files *b, struct stream *s, const struct blktrace_record *r)
{
	struct sequence *q = &s->cpus[r->event.cpu % MAX_CPUS];
	uint32_t missing;

	if (q->device != r->event.device) {
		if (q->last)
			return;
		q->device = r->event.device;
	}
	missing = blktrace_missing(&q->last, r->sequence);
	if (!missing)
		return;
	b->nr_missing += missing;
	event_trace_gap(b->events, r->event.device, r->event.time_ns);
}

/* Processes a note as it is read. Returns whether the record is an event. */
static bool take_note(struct foreign *f, const struct blktrace_record *r)
{
	if (r->type == BLKTRACE_TIMESTAMP && !f->wall) {
		f->wall = true;
		f->wall_offset_ns = (int64_t)(r->real_ns - r->event.time_ns);
	}
	return r->type == BLKTRACE_EVENT;
}

/* An unreadable stretch may hold many records, so as many as fit are counted as skipped. */
static void count_passed(struct foreign *f, struct stream *s)
{
	uint64_t nr = s->reader.skipped_bytes / BLKTRACE_V7_BYTES;

	if (nr <= s->nr_passed)
		return;
	f->skips.nr += nr - s->nr_passed;
	f->nr_records += nr - s->nr_passed;
	s->nr_passed = nr;
}

/* Finds the stream's next event. At the end has_record stays false. */
static int read_event(struct foreign *f, size_t i, struct err *err)
{
	struct foreign_input *in = f->inputs[i];
	struct stream *s = &((struct files *)f->state)->streams[i];
	const uint8_t *data;
	size_t got, used;
	bool found;

	s->has_record = false;
	while (!s->has_record) {
		uint64_t at = foreign_input_offset(in), before = s->reader.skipped;
		int ret = foreign_input_peek(in, BLKTRACE_MAX_BYTES, &data, &got, err);

		if (ret < 0)
			return ret;
		if (got == 0)
			return 0;
		used = blktrace_next(&s->reader, data, got, &s->record, &found);
		if (used == 0) {
			foreign_skip(f, "%s:offset %" PRIu64 ": expected a record, the file is cut",
				     foreign_input_path(in), at);
			foreign_input_take(in, got);
			return 0;
		}
		foreign_input_take(in, used);
		for (; before < s->reader.skipped; before++, s->nr_passed++)
			foreign_skip(f,
				     "%s:offset %" PRIu64 ": expected a blktrace record of this "
				     "file's byte order",
				     foreign_input_path(in), at);
		count_passed(f, s);
		if (!found)
			continue;
		f->nr_records++;
		s->has_record = take_note(f, &s->record);
	}
	return 0;
}

static int begin_streams(struct foreign *f, struct err *err)
{
	struct files *b = f->state;
	int ret = 0;

	b->begun = true;
	b->streams = calloc(f->nr_inputs, sizeof(*b->streams));
	if (!b->streams)
		return -ENOMEM;
	b->nr_streams = f->nr_inputs;
	for (size_t i = 0; i < b->nr_streams && ret == 0; i++) {
		b->streams[i].name = name_of(foreign_input_path(f->inputs[i]));
		b->streams[i].cpus = calloc(MAX_CPUS, sizeof(struct sequence));
		ret = b->streams[i].cpus ? read_event(f, i, err) : -ENOMEM;
	}
	return ret;
}

/*
 * Returns the stream whose event is the earliest; until is the time from which another stream's
 * event is earlier.
 */
static size_t blktrace_files_earliest(const struct files *b, uint64_t *until)
{
	size_t best = b->nr_streams;

	*until = UINT64_MAX;
	for (size_t i = 0; i < b->nr_streams; i++) {
		const struct stream *s = &b->streams[i];
		uint64_t at = s->record.event.time_ns;

		if (!s->has_record)
			continue;
		if (best == b->nr_streams || at < b->streams[best].record.event.time_ns) {
			if (best != b->nr_streams)
				*until = b->streams[best].record.event.time_ns;
			best = i;
		} else if (at < *until) {
			*until = at;
		}
	}
	return best;
}

static int take_event(struct foreign *f, struct stream *s)
{
	const struct blktrace_record *r = &s->record;
	struct files *b = f->state;
	const char *wrong =
		foreign_check(f, &(struct request){ .arrival_ns = r->event.time_ns,
						    .completion_ns = r->event.time_ns });
	int ret = 0;

	if (wrong) {
		f->nr_records--; /* it was counted when it was read */
		foreign_skip(f, "event of %" PRIu64 " ns: %s", r->event.time_ns, wrong);
		return 0;
	}
	check_sequence(b, s, r);
	if (r->event.kind == BLOCK_REMAP)
		ret = event_trace_remap(b->events, r->from_device, &r->event, s->name);
	if (ret == 0)
		ret = event_trace_add(b->events, &r->event, s->name);
	return ret < 0 ? ret : event_trace_error(b->events);
}

/* Takes the events of one stream up to the time from which another stream's event is earlier. */
static int take_run(struct foreign *f, struct err *err)
{
	struct files *b = f->state;
	uint64_t until;
	size_t i = blktrace_files_earliest(b, &until);
	int ret = 0;

	if (i == b->nr_streams) {
		size_t len;

		b->at_end = true;
		event_trace_end(b->events);
		len = strlen(f->note);
		if (b->nr_missing)
			snprintf(f->note + len, sizeof(f->note) - len,
				 "; %" PRIu64 " events are missing by their numbers",
				 b->nr_missing);
		return event_trace_error(b->events);
	}
	for (unsigned int nr = 0; ret == 0 && nr < 4096; nr++) {
		ret = take_event(f, &b->streams[i]);
		if (ret == 0)
			ret = read_event(f, i, err);
		if (!b->streams[i].has_record || b->streams[i].record.event.time_ns >= until)
			break;
	}
	return ret;
}

static int64_t files_next(struct foreign *f, struct request *out, size_t max, struct err *err)
{
	struct files *b = f->state;
	int ret = b->begun ? 0 : begin_streams(f, err);
	size_t nr = 0;

	while (ret == 0 && (nr = event_trace_take(b->events, out, max)) == 0 && !b->at_end)
		ret = take_run(f, err);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "out of memory");
	return ret < 0 ? ret : (int64_t)nr;
}

const struct foreign_format foreign_blktrace_files = {
	.name = "blktrace",
	.title = "blktrace's binary files by CPU, or the dump of blkparse -d",
	.traits = FOREIGN_MERGES,
	.detect = blktrace_detect,
	.open = files_open,
	.close = files_close,
	.next = files_next,
};
