// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/scan/scan_match.h"
#include "analyzer/store/scan/scan_piece.h"
#include "analyzer/store/scan/scan_summary.h"
#include "base/memory/array.h"
#include "base/memory/u64map.h"

struct trace {
	struct scan_trace facts;
	struct ledger ledger;
	struct scan_interval *covered, *kept_back; /* owned; those of facts */
	size_t cap_covered, cap_kept_back;

	size_t next, end; /* its pieces that have not been read */
	struct buf data;  /* bytes of the segment that is being read */
	struct segment_reader *reader;
	struct clock_anchor anchor; /* clocks of that segment */
	struct scan_match match;

	struct request *batch; /* owned; SCAN_BATCH decoded requests */
	size_t nr_batch, at;

	struct stream_of *devices; /* owned; the streams of this trace */
	size_t nr_devices, hint;
	struct u64map by_device; /* maps a device's number to its index in devices */
	uint32_t index;
	uint64_t key; /* real arrival of the present request, or a lower bound of the first */
};

struct stream_of {
	uint32_t device, stream;
	bool taken; /* whether the filter takes it */
};

struct scan {
	struct scan_filter filter;
	struct scan_hooks hooks;
	struct store *store; /* borrowed; NULL: files are scanned */
	struct scan_pieces pieces;
	struct trace **traces; /* owned */
	uint32_t nr_traces;
	struct trace **heap; /* traces that have not ended, as a heap with the least key first */
	uint32_t nr_heap;
	struct named_stream **streams; /* owned */
	uint32_t nr_streams;
	size_t cap_streams;
	uint64_t done;
	struct scan_retained retained;
	struct err error;
};

struct named_stream {
	struct scan_stream facts;
	char name[SEGMENT_NAME_BYTES], file_system[SEGMENT_NAME_BYTES];
};

/* Orders by time; traces of equal time keep their own order, so that all scans are the same. */
static bool scan_before(const struct trace *a, const struct trace *b)
{
	return a->key < b->key || (a->key == b->key && a->index < b->index);
}

static void heap_down(struct scan *s, uint32_t at)
{
	struct trace *t = s->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= s->nr_heap)
			break;
		if (child + 1 < s->nr_heap && scan_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!scan_before(s->heap[child], t))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = t;
}

static void heap_drop_first(struct scan *s)
{
	s->heap[0] = s->heap[--s->nr_heap];
	if (s->nr_heap)
		heap_down(s, 0);
}

/* Returns the trace that comes after the first, or NULL where there is only one. */
static const struct trace *heap_second(const struct scan *s)
{
	if (s->nr_heap < 2)
		return NULL;
	return s->nr_heap == 2 || scan_before(s->heap[1], s->heap[2]) ? s->heap[1] : s->heap[2];
}

static struct named_stream *stream_new(struct scan *s, const struct trace *t, uint32_t device)
{
	struct named_stream *stream = NULL;

	if (!array_grow(&s->streams, &s->cap_streams, s->nr_streams + 1, sizeof(*s->streams)))
		stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->facts = (struct scan_stream){
		.host = t->facts.host,
		.boot_id = t->facts.boot_id,
		.epoch = t->facts.epoch,
		.trace = t->index,
		.device = device,
		.device_name = stream->name,
		.file_system = stream->file_system,
		.real_offset_ns = (int64_t)(t->anchor.realtime_ns - t->anchor.monotonic_ns),
	};
	s->streams[s->nr_streams++] = stream;
	return stream;
}

/*
 * Returns the device of the trace, which is added where it is new; NULL where memory is short. A
 * device that the filter excludes has no stream.
 */
static struct stream_of *device_of(struct scan *s, struct trace *t, uint32_t device,
				   const struct segment_device *known)
{
	struct stream_of *devices;
	uint32_t at;
	bool taken;

	if (t->hint < t->nr_devices && t->devices[t->hint].device == device)
		return &t->devices[t->hint];
	at = u64map_find(&t->by_device, device);
	if (at != U64MAP_NONE) {
		t->hint = at;
		return &t->devices[at];
	}
	taken = scan_match_device(&s->filter, device, known ? known->name : "");
	devices = realloc(t->devices, (t->nr_devices + 1) * sizeof(*devices));
	if (!devices)
		return NULL;
	t->devices = devices;
	if (u64map_put(&t->by_device, device, (uint32_t)t->nr_devices) < 0 ||
	    (taken && !stream_new(s, t, device)))
		return NULL;
	t->hint = t->nr_devices++;
	devices[t->hint] = (struct stream_of){ device, taken ? s->nr_streams - 1 : 0, taken };
	return &devices[t->hint];
}

/* Notes the names, sizes and clocks of the segment's devices. */
static int name_devices(struct scan *s, struct trace *t, const struct segment_header *h)
{
	int64_t offset_ns = (int64_t)(h->begin.realtime_ns - h->begin.monotonic_ns);

	t->anchor = h->begin;
	for (size_t i = 0; i < h->nr_devices; i++) {
		const struct segment_device *known = &h->devices[i];
		struct stream_of *d = device_of(s, t, known->device, known);
		struct named_stream *stream;

		if (!d)
			return -ENOMEM;
		if (!d->taken)
			continue;
		stream = s->streams[d->stream];
		snprintf(stream->name, sizeof(stream->name), "%s", known->name);
		segment_word_clean(stream->name);
		stream->facts.device_bytes = known->size_bytes;
		if (known->file_system[0])
			memcpy(stream->file_system, known->file_system, SEGMENT_NAME_BYTES);
		stream->facts.source = h->source;
		stream->facts.layer = h->layer;
	}
	for (size_t i = 0; i < t->nr_devices; i++)
		if (t->devices[i].taken)
			s->streams[t->devices[i].stream]->facts.real_offset_ns = offset_ns;
	return 0;
}

static int scan_cover(struct scan *s, struct trace *t, const struct scan_piece *p)
{
	struct scan_interval i = { p->begin.realtime_ns, p->end.realtime_ns, p->begin.monotonic_ns,
				   p->end.monotonic_ns };
	struct scan_trace *f = &t->facts;
	bool follows = p->nr_missing == 0;
	int ret;

	if (!scan_match_cut(&s->filter, &i))
		return 0;
	if (!f->nr_covered && !f->nr_kept_back)
		f->begin_ns = i.begin_ns;
	ret = f->is_kept_back ? scan_match_append(&t->kept_back, &f->nr_kept_back,
						  &t->cap_kept_back, &i, follows, &f->is_tangled)
			      : scan_match_append(&t->covered, &f->nr_covered, &t->cap_covered, &i,
						  follows, &f->is_tangled);
	f->kept_back = t->kept_back;
	f->covered = t->covered;
	return ret;
}

static int take_header(struct scan *s, struct trace *t, const struct scan_piece *p,
		       const struct segment_header *h)
{
	int ret = name_devices(s, t, h);

	if (ret == 0)
		ret = scan_match_segment(&t->match, h);
	if (ret == 0 && h->ledger)
		ret = ledger_merge(&t->ledger, h->ledger);
	t->facts.is_kept_back =
		scan_match_kept_back(h, segment_reader_count(t->reader), t->facts.is_kept_back);
	if (ret == 0)
		ret = scan_cover(s, t, p);
	if (ret < 0)
		return ret;
	t->facts.nr_segments++;
	t->facts.nr_requests += segment_reader_count(t->reader);
	t->facts.nr_captured += h->nr_captured;
	t->facts.nr_missing += p->nr_missing;
	for (size_t i = 0; i < h->nr_profiles && s->hooks.profile; i++)
		s->hooks.profile(s->hooks.ctx, &t->facts, h->profiles[i]);
	return 0;
}

/* Returns whether the failure concerns a single file, so that all others can still be read. */
static bool is_damage(int status)
{
	return status == -EBADMSG || status == -EPROTONOSUPPORT || status == -EINVAL ||
	       status == -ENOENT || status == -EIO || status == -ELOOP || status == -EFBIG ||
	       status == -EACCES;
}

/* Continues without the piece of a store that was read last; its interval counts as not watched. */
static int leave_out(struct scan *s, struct trace *t, int status)
{
	const struct scan_piece *p = &s->pieces.items[t->next - 1];
	char path[SEGMENT_PATH_MAX];

	if (p->file || !is_damage(status))
		return status;
	segment_name_path(&p->name, path);
	damage_note(store_dir(s->store), path, damage_is_unread(status), s->error.line);
	s->error = (struct err){ 0 };
	segment_reader_free(t->reader);
	t->reader = NULL;
	return 0;
}

static int open_piece(struct scan *s, struct trace *t)
{
	const struct scan_piece *p = &s->pieces.items[t->next++];
	char path[SEGMENT_PATH_MAX];
	int ret;

	segment_reader_free(t->reader);
	t->reader = NULL;
	if (!t->batch)
		t->batch = calloc(SCAN_BATCH, sizeof(*t->batch));
	if (!t->batch)
		return err_set(&s->error, ENOMEM, "out of memory");
	segment_name_path(&p->name, path);
	if (p->file)
		ret = scan_read_file(p->file, p->file_offset, p->file_bytes, &t->data, &s->error);
	else
		ret = store_read(s->store, path, &t->data, &s->error);
	if (ret < 0)
		return ret;
	ret = segment_reader_new(&t->reader, t->data.data, t->data.len, &s->error);
	if (ret < 0) {
		err_prefix(&s->error, "%s", p->file ? p->file : path);
		return ret;
	}
	ret = take_header(s, t, p, segment_reader_header(t->reader));
	return ret < 0 ? err_set(&s->error, -ret, "%s: %s", path, strerror(-ret)) : 0;
}

static int cannot_decode(struct scan *s, const struct trace *t, int code)
{
	return err_set(&s->error, code,
		       "%s/%s/%" PRIu64 "/%" PRIu64 ": its columns cannot be decoded",
		       t->facts.host, t->facts.boot_id, t->facts.epoch,
		       s->pieces.items[t->next - 1].name.sequence);
}

/*
 * Makes batch[at] a request and reads further as needed. Returns 1, 0 at the end of the trace, or
 * -errno.
 */
static int scan_fill(struct scan *s, struct trace *t)
{
	while (t->at == t->nr_batch) {
		int64_t nr = 0;
		int ret;

		if (t->reader)
			nr = segment_reader_next(t->reader, t->batch, SCAN_BATCH);
		if (nr < 0) {
			ret = leave_out(s, t, cannot_decode(s, t, (int)-nr));
			if (ret < 0)
				return ret;
			nr = 0;
		}
		t->nr_batch = (size_t)nr;
		t->at = 0;
		s->done += (uint64_t)nr;
		if (nr > 0)
			break;
		if (t->next == t->end)
			return 0;
		ret = leave_out(s, t, open_piece(s, t));
		if (ret < 0)
			return ret;
	}
	t->key = real_from_anchor(&t->anchor, t->batch[t->at].arrival_ns);
	return 1;
}

/*
 * Takes requests of the first trace while no other has an earlier one, within its decoded batch.
 * Returns the number written to out, or -ENOMEM.
 */
static int64_t scan_take(struct scan *s, struct trace *t, struct scan_request *out, size_t max)
{
	const struct trace *second = heap_second(s);
	size_t nr = 0;

	while (nr < max && t->at < t->nr_batch) {
		const struct request *r = &t->batch[t->at];
		struct stream_of *d;

		t->key = real_from_anchor(&t->anchor, r->arrival_ns);
		if (second && !scan_before(t, second))
			break;
		d = device_of(s, t, r->device, NULL);
		if (!d)
			return -ENOMEM;
		if (d->taken && scan_match_request(&t->match, r)) {
			out[nr].r = *r;
			out[nr].arrival_real_ns = t->key;
			out[nr++].stream = d->stream;
		}
		t->at++;
	}
	if (nr && s->hooks.taken &&
	    s->hooks.taken(s->hooks.taken_ctx, t->index, segment_reader_header(t->reader), out, nr))
		return -ENOMEM;
	return (int64_t)nr;
}

/* Keeps the facts of the trace; its buffers are no longer needed. */
static void trace_finish(struct trace *t)
{
	segment_reader_free(t->reader);
	t->reader = NULL;
	buf_release(&t->data);
	free(t->batch);
	t->batch = NULL;
	t->at = t->nr_batch = 0;
}

int64_t scan_next(struct scan *s, struct scan_request *out, size_t max)
{
	size_t nr = 0;

	while (nr < max && s->nr_heap) {
		struct trace *t = s->heap[0];
		int64_t got;
		int more = scan_fill(s, t);

		if (more < 0)
			return more;
		if (more == 0) {
			trace_finish(t);
			heap_drop_first(s);
			continue;
		}
		/* Takes nothing where the key was a lower bound and another trace is first. */
		got = scan_take(s, t, out + nr, max - nr);
		if (got < 0)
			return err_set(&s->error, ENOMEM, "out of memory");
		nr += (size_t)got;
		heap_down(s, 0);
	}
	return (int64_t)nr;
}

static struct trace *trace_new(struct scan *s, size_t first)
{
	const struct scan_piece *p = &s->pieces.items[first];
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->index = s->nr_traces;
	t->next = t->end = first;
	t->key = p->first_known ? p->first_real_ns : 0;
	t->facts.host = p->name.host;
	t->facts.boot_id = p->name.boot_id;
	t->facts.epoch = p->name.epoch;
	t->facts.ledger = &t->ledger;
	buf_init(&t->data);
	ledger_init(&t->ledger);
	scan_match_init(&t->match, &s->filter);
	return t;
}

static int make_traces(struct scan *s)
{
	struct trace *t = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < s->pieces.nr; i++)
		nr += i == 0 || !segment_name_same_stream(&s->pieces.items[i - 1].name,
							  &s->pieces.items[i].name);
	if (nr == 0)
		return 0;
	s->traces = calloc(nr, sizeof(struct trace *));
	s->heap = calloc(nr, sizeof(struct trace *));
	if (!s->traces || !s->heap)
		return -ENOMEM;
	for (size_t i = 0; i < s->pieces.nr; i++) {
		const struct scan_piece *p = &s->pieces.items[i];

		if (!t || !segment_name_same_stream(&s->pieces.items[t->next].name, &p->name)) {
			t = trace_new(s, i);
			if (!t)
				return -ENOMEM;
			s->traces[s->nr_traces++] = t;
		}
		t->end = i + 1;
		/*
		 * Segments without requests have no first arrival; the bound comes from the others.
		 */
		if (p->first_known && p->nr_requests && (t->key == 0 || p->first_real_ns < t->key))
			t->key = p->first_real_ns;
	}
	memcpy(s->heap, s->traces, nr * sizeof(struct trace *));
	s->nr_heap = s->nr_traces;
	for (uint32_t i = s->nr_heap / 2; i-- > 0;)
		heap_down(s, i);
	return 0;
}

static struct scan *scan_new(const struct scan_filter *filter, const struct scan_hooks *hooks)
{
	struct scan *s = calloc(1, sizeof(*s));

	if (s && filter)
		s->filter = *filter;
	if (s && hooks)
		s->hooks = *hooks;
	return s;
}

/* Hands the scan over once its pieces are known, or closes it where they could not be found. */
static int scan_opened(struct scan **out, struct scan *s, int ret)
{
	if (ret == 0)
		ret = make_traces(s);
	if (ret < 0)
		scan_close(s);
	else
		*out = s;
	return ret;
}

int scan_open_store(struct scan **out, struct store *store, const struct scan_filter *filter,
		    const struct scan_hooks *hooks, struct err *err)
{
	struct scan *s = scan_new(filter, hooks);
	int ret;

	if (!s)
		return -ENOMEM;
	s->store = store;
	ret = scan_pieces_of_store(&s->pieces, store, &s->filter, err);
	if (ret == 0)
		ret = scan_summaries(store, &s->filter, &s->hooks, &s->pieces, &s->retained, err);
	return scan_opened(out, s, ret);
}

int scan_open_files(struct scan **out, const char *const *paths, size_t nr,
		    const struct scan_filter *filter, const struct scan_hooks *hooks,
		    struct err *err)
{
	struct scan *s = scan_new(filter, hooks);
	int ret;

	if (!s)
		return -ENOMEM;
	ret = scan_pieces_of_files(&s->pieces, paths, nr, &s->filter, err);
	return scan_opened(out, s, ret);
}

static void trace_free(struct trace *t)
{
	if (!t)
		return;
	trace_finish(t);
	ledger_release(&t->ledger);
	scan_match_release(&t->match);
	free(t->covered);
	free(t->kept_back);
	free(t->devices);
	u64map_release(&t->by_device);
	free(t);
}

void scan_close(struct scan *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_traces; i++)
		trace_free(s->traces[i]);
	for (uint32_t i = 0; i < s->nr_streams; i++)
		free(s->streams[i]);
	free(s->traces);
	free(s->heap);
	free(s->streams);
	scan_pieces_release(&s->pieces);
	free(s);
}

const struct err *scan_error(const struct scan *s)
{
	return &s->error;
}

uint32_t scan_nr_streams(const struct scan *s)
{
	return s->nr_streams;
}

const struct scan_stream *scan_stream(const struct scan *s, uint32_t stream)
{
	return &s->streams[stream]->facts;
}

uint32_t scan_nr_traces(const struct scan *s)
{
	return s->nr_traces;
}

const struct scan_trace *scan_trace(const struct scan *s, uint32_t trace)
{
	return &s->traces[trace]->facts;
}

struct scan_retained scan_retained(const struct scan *s)
{
	return s->retained;
}

uint64_t scan_total_requests(const struct scan *s)
{
	return s->pieces.nr_requests;
}

uint64_t scan_whole_requests(const struct scan *s)
{
	return s->pieces.nr_whole;
}

uint64_t scan_done_requests(const struct scan *s)
{
	return s->done;
}
