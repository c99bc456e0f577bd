// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/exchange/import_writer.h"
#include "analyzer/store/index/segment_name.h"
#include "formats/foreign/foreign.h"

/*
 * import_source: a foreign trace with its requests in order of arrival.
 *
 * Requests that arrive at the same tick of the trace's clock keep the order of the file. A request
 * may come too late in the file by up to half of the number of requests held. One that comes even
 * later is handed out at once, out of order, and counted.
 */

struct import_source {
	struct foreign *f; /* owned */
	/* owned; [at, ready) are in order, and [ready, nr) are not sorted yet */
	struct request *held;
	size_t cap, nr, at, ready;
	bool at_end;
	uint64_t latest_ns; /* latest arrival handed out */
	uint64_t nr_late;
	uint64_t nr_requests;
	uint64_t nr_data;    /* the part of them that are reads and writes */
	uint64_t nr_untimed; /* the part of these without a response time */
	/* The importer's indexes, by the index of the trace's device. */
	uint32_t *devices; /* owned */
	uint32_t nr_devices;
	uint32_t host; /* host of the last request */
};

/*
 * cap is the number of requests to hold, at least 4096. f belongs to the source afterwards. Returns
 * 0 or -ENOMEM.
 */
static int import_source_init(struct import_source *s, struct foreign *f, size_t cap)
{
	*s = (struct import_source){ .f = f, .cap = cap };
	s->held = malloc(cap * sizeof(*s->held));
	return s->held ? 0 : -ENOMEM;
}

static void import_source_release(struct import_source *s)
{
	foreign_close(s->f);
	free(s->held);
	free(s->devices);
	*s = (struct import_source){ 0 };
}

struct place {
	uint64_t arrival_ns;
	size_t at;
};

static int compare_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->arrival_ns != y->arrival_ns)
		return x->arrival_ns < y->arrival_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/*
 * Sorts by arrival; equal arrivals keep their order. Most traces are in order, and then nothing is
 * done.
 */
static int sort_held(struct import_source *s)
{
	struct place *places;
	struct request *sorted;
	size_t i = s->at + 1;

	while (i < s->nr && s->held[i - 1].arrival_ns <= s->held[i].arrival_ns)
		i++;
	if (i >= s->nr)
		return 0;
	places = malloc(s->nr * sizeof(*places));
	sorted = malloc(s->cap * sizeof(*sorted));
	if (!places || !sorted) {
		free(places);
		free(sorted);
		return -ENOMEM;
	}
	for (i = s->at; i < s->nr; i++)
		places[i] = (struct place){ s->held[i].arrival_ns, i };
	qsort(places + s->at, s->nr - s->at, sizeof(*places), compare_place);
	for (i = s->at; i < s->nr; i++)
		sorted[i] = s->held[places[i].at];
	free(places);
	free(s->held);
	s->held = sorted;
	return 0;
}

static void count_late(struct import_source *s)
{
	for (size_t i = s->at; i < s->ready; i++) {
		if (s->held[i].arrival_ns < s->latest_ns)
			s->nr_late++;
		else
			s->latest_ns = s->held[i].arrival_ns;
	}
}

/*
 * Makes s->held[s->at] the next request, with s->at < s->ready. At the end both are equal. Returns
 * 0 or -errno.
 */
static int import_source_fill(struct import_source *s, struct err *err)
{
	int status;

	if (s->at < s->ready)
		return 0;
	memmove(s->held, s->held + s->at, (s->nr - s->at) * sizeof(*s->held));
	s->nr -= s->at;
	s->at = 0;
	while (!s->at_end && s->nr < s->cap) {
		int64_t got = foreign_next(s->f, s->held + s->nr, s->cap - s->nr, err);

		if (got < 0)
			return (int)got;
		for (int64_t i = 0; i < got; i++) {
			const struct request *r = &s->held[s->nr + (size_t)i];

			s->nr_data += request_is_data(r);
			s->nr_untimed += request_is_untimed(r);
		}
		s->at_end = got == 0;
		s->nr += (size_t)got;
		s->nr_requests += (uint64_t)got;
	}
	status = sort_held(s);
	if (status < 0)
		return err_set(err, ENOMEM, "out of memory");
	s->ready = s->at_end ? s->nr : s->nr / 2;
	count_late(s);
	return 0;
}

#define HELD_MOST  65536u /* most requests of a trace that are held for sorting */
#define HELD_LEAST 4096u
#define HELD_ALL   1048576u
/* 2001-09-09. A larger time is a time of day, because no machine has been up for so long. */
#define WALL_NS	       1000000000000000000ull
#define PROGRESS_EVERY 65536u

struct import {
	const struct import_options *options;
	struct import_result *out;
	struct foreign_input **inputs;	       /* owned until a trace takes them */
	const char **paths;		       /* owned, sorted by name */
	const struct foreign_format **formats; /* owned, by input */
	struct import_source *sources;	       /* owned */
	size_t nr_sources;
	struct import_writer *writer;
	char host[SEGMENT_NAME_BYTES]; /* the host if the trace names none */
};

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Compares by the name of the file, so that the order of the command line does not matter. */
static int compare_path(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	int order = strcmp(base_name(x), base_name(y));

	return order ? order : strcmp(x, y);
}

/* Makes a name of a host or device from the file's name up to its first point. */
static void stem_of(const char *path, char out[SEGMENT_NAME_BYTES])
{
	const char *name = base_name(path);

	snprintf(out, SEGMENT_NAME_BYTES, "%.*s", (int)strcspn(name, "."), name);
	segment_word_clean(out);
	for (char *c = out; *c; c++)
		if (strchr(":!/+@", *c))
			*c = '_';
	if (!out[0] || strcmp(path, "-") == 0)
		snprintf(out, SEGMENT_NAME_BYTES, "import");
}

/*
 * Finds the format of an input; *out is NULL if no format fits. An empty file is accepted, because
 * blktrace leaves one for a CPU that saw no event.
 */
static int find_format(struct import *im, size_t i, struct err *err)
{
	const struct foreign_format *blktrace = foreign_format_named("blktrace");
	struct foreign_input *in = im->inputs[i];
	const uint8_t *data;
	size_t got;
	int ret = foreign_input_peek(in, 1, &data, &got, err);

	im->formats[i] = im->options->format;
	if (ret < 0)
		return ret;
	if (got == 0 && im->options->nr_paths > 1 && strstr(im->paths[i], ".blktrace."))
		im->formats[i] = blktrace;
	if (!im->formats[i])
		ret = foreign_detect(in, &im->options->foreign, &im->formats[i], err);
	if (ret == 0 && !im->formats[i])
		ret = err_set(err, EMEDIUMTYPE, "%s: expected a trace of a known format",
			      im->paths[i]);
	return ret;
}

static int open_inputs(struct import *im, struct err *err)
{
	size_t nr = im->options->nr_paths;
	int ret = 0;

	im->inputs = calloc(nr, sizeof(struct foreign_input *));
	im->paths = calloc(nr, sizeof(char *));
	im->formats = calloc(nr, sizeof(struct foreign_format *));
	if (!im->inputs || !im->paths || !im->formats)
		return no_memory(err);
	memcpy(im->paths, im->options->paths, nr * sizeof(char *));
	qsort(im->paths, nr, sizeof(char *), compare_path);
	for (size_t i = 1; i < nr; i++)
		if (strcmp(im->paths[i - 1], im->paths[i]) == 0)
			return err_set(err, EINVAL, "%s: given twice", im->paths[i]);
	for (size_t i = 0; i < nr && ret == 0; i++) {
		ret = foreign_input_open(&im->inputs[i], im->paths[i], err);
		if (ret == 0)
			ret = find_format(im, i, err);
	}
	return ret;
}

/*
 * Opens the trace that begins with input i: this file, or all files of a format that merges its
 * own.
 */
static int open_trace(struct import *im, size_t i, struct err *err)
{
	struct import_trace *t = &im->out->traces[im->nr_sources];
	size_t nr = im->options->nr_paths, taken = 0, share = HELD_ALL / nr;
	struct foreign_input **group = calloc(nr, sizeof(struct foreign_input *));
	const struct foreign_format *format = im->formats[i];
	struct foreign *f = NULL;
	int ret;

	if (!group)
		return no_memory(err);
	for (size_t k = i; k < nr; k++) {
		if (!im->inputs[k] || im->formats[k] != format ||
		    (k > i && !(format->traits & FOREIGN_MERGES)))
			continue;
		group[taken++] = im->inputs[k];
		im->inputs[k] = NULL;
	}
	snprintf(t->path, sizeof(t->path), "%s", im->paths[i]);
	t->nr_files = taken;
	t->format = format;
	ret = foreign_open(&f, format, &im->options->foreign, group, taken, err);
	free(group);
	if (ret < 0)
		return ret;
	share = share > HELD_MOST ? HELD_MOST : share < HELD_LEAST ? HELD_LEAST : share;
	if (import_source_init(&im->sources[im->nr_sources], f, share) < 0) {
		foreign_close(f);
		return no_memory(err);
	}
	im->nr_sources++;
	im->out->nr_traces = im->nr_sources;
	return 0;
}

static int open_traces(struct import *im, struct err *err)
{
	size_t nr = im->options->nr_paths;
	int ret = 0;

	im->out->traces = calloc(nr, sizeof(*im->out->traces));
	im->sources = calloc(nr, sizeof(*im->sources));
	if (!im->out->traces || !im->sources)
		return no_memory(err);
	for (size_t i = 0; i < nr && ret == 0; i++)
		if (im->inputs[i])
			ret = open_trace(im, i, err);
	for (size_t i = 0; i < im->nr_sources && ret == 0; i++)
		ret = import_source_fill(&im->sources[i], err);
	return ret;
}

/*
 * Puts all traces on one clock: the time of day, or the time since each one's beginning, which is
 * taken to be the same instant.
 */
static int set_clock(struct import *im, struct err *err)
{
	const struct import_source *first = NULL;
	uint64_t earliest = UINT64_MAX;

	for (size_t i = 0; i < im->nr_sources; i++) {
		struct import_source *s = &im->sources[i];
		bool wall;

		if (s->at == s->ready)
			continue;
		wall = s->f->wall || s->held[s->at].arrival_ns >= WALL_NS;
		if (first && wall != im->out->wall)
			return err_set(err, EINVAL,
				       "%s: expected %s as in the files before it: import them "
				       "apart",
				       im->out->traces[i].path,
				       im->out->wall ? "times of day" : "times since a beginning");
		im->out->wall = wall;
		first = first ? first : s;
		if (s->held[s->at].arrival_ns < earliest)
			earliest = s->held[s->at].arrival_ns;
	}
	if (!first)
		return 0;
	if (im->options->begin_real_ns && im->out->wall)
		return err_set(err, ENOTSUP, "the trace has times of day itself");
	if (im->options->begin_real_ns)
		import_writer_set_offset(im->writer,
					 (int64_t)(im->options->begin_real_ns - earliest));
	else
		import_writer_set_offset(im->writer, first->f->wall_offset_ns);
	return 0;
}

/* Enters host and device of the trace's device number at into the result. */
static int64_t enter_device(struct import *im, const struct import_source *s, uint32_t at)
{
	const struct foreign_device *d = &s->f->devices[at];
	const char *path = im->out->traces[s - im->sources].path;
	char host[SEGMENT_NAME_BYTES], name[SEGMENT_NAME_BYTES];
	int64_t index;

	snprintf(host, sizeof(host), "%s", d->host[0] ? d->host : im->host);
	snprintf(name, sizeof(name), "%s", d->name);
	segment_word_clean(name);
	if (!name[0])
		stem_of(path, name);
	for (char *c = host; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		      (*c >= '0' && *c <= '9') || strchr("._-", *c)))
			*c = '_';
	if (host[0] == '.')
		host[0] = '_';
	index = import_writer_host(im->writer, host);
	return index < 0 ? index
			 : import_writer_device(im->writer, (uint32_t)index, name, d->number);
}

static int map_devices(struct import *im, struct import_source *s, uint32_t needed, struct err *err)
{
	uint32_t *devices = realloc(s->devices, (needed + 1) * sizeof(*devices));

	if (!devices)
		return no_memory(err);
	s->devices = devices;
	for (; s->nr_devices <= needed; s->nr_devices++) {
		int64_t index = enter_device(im, s, s->nr_devices);

		if (index < 0)
			return err_set(err, (int)-index, "%s: devices: %s",
				       im->out->traces[s - im->sources].path,
				       strerror((int)-index));
		devices[s->nr_devices] = (uint32_t)index;
	}
	return 0;
}

/*
 * Returns the source whose next request arrived first (of equal ones the first); *until is the time
 * from which another source comes first.
 */
static struct import_source *import_earliest(struct import *im, uint64_t *until)
{
	struct import_source *best = NULL;

	*until = UINT64_MAX;
	for (size_t i = 0; i < im->nr_sources; i++) {
		struct import_source *s = &im->sources[i];

		if (s->at == s->ready)
			continue;
		if (!best || s->held[s->at].arrival_ns < best->held[best->at].arrival_ns) {
			if (best && best->held[best->at].arrival_ns < *until)
				*until = best->held[best->at].arrival_ns;
			best = s;
		} else if (s->held[s->at].arrival_ns < *until) {
			*until = s->held[s->at].arrival_ns;
		}
	}
	return best;
}

static void show_progress(const struct import *im)
{
	uint64_t done = 0, total = 0;

	if (!im->options->progress)
		return;
	for (size_t i = 0; i < im->nr_sources; i++) {
		const struct foreign *f = im->sources[i].f;

		for (size_t k = 0; k < f->nr_inputs; k++) {
			done += foreign_input_read_bytes(f->inputs[k]);
			total += foreign_input_file_bytes(f->inputs[k]);
		}
	}
	im->options->progress(im->options->ctx, done, total);
}

/*
 * Writes requests of s up to where another source comes first, or to the end of the sorted
 * requests.
 */
static int write_run(struct import *im, struct import_source *s, uint64_t until, struct err *err)
{
	const char *format = s->f->format->name;
	int ret = 0;

	do {
		struct request *r = &s->held[s->at];

		if (r->device >= s->nr_devices)
			ret = map_devices(im, s, r->device, err);
		if (ret == 0) {
			r->device = s->devices[r->device];
			s->host = im->out->devices[r->device].host;
			ret = import_writer_add(im->writer, r, format, err);
			s->at++;
		}
	} while (ret == 0 && s->at < s->ready && s->held[s->at].arrival_ns < until);
	return ret;
}

static int write_all(struct import *im, struct err *err)
{
	uint64_t until, shown = 0, nr = 0;
	struct import_source *s;
	int ret = 0;

	while (ret == 0 && (s = import_earliest(im, &until))) {
		size_t before = s->at;

		ret = write_run(im, s, until, err);
		nr += s->at - before;
		if (ret == 0 && s->at == s->ready)
			ret = import_source_fill(s, err);
		if (nr - shown >= PROGRESS_EVERY) {
			shown = nr;
			show_progress(im);
		}
	}
	return ret;
}

static void import_summarize(struct import *im)
{
	for (size_t i = 0; i < im->nr_sources; i++) {
		const struct import_source *s = &im->sources[i];
		struct import_trace *t = &im->out->traces[i];

		t->nr_requests = s->nr_requests;
		t->nr_late = s->nr_late;
		t->nr_data = s->nr_data;
		t->nr_untimed = s->nr_untimed;
		t->nr_zero_times = s->f->nr_zero_times;
		t->nr_unaligned = s->f->nr_unaligned;
		t->skips = s->f->skips;
		memcpy(t->note, s->f->note, sizeof(t->note));
		im->out->nr_requests += s->nr_requests;
		im->out->nr_records += s->f->nr_records;
		im->out->nr_skipped += s->f->skips.nr;
		import_writer_lose(im->writer, s->host, s->f->skips.nr);
	}
}

/*
 * Decides whether the import may be stored: it has requests, and few enough records were skipped.
 */
static int import_judge(const struct import *im, struct err *err)
{
	const struct import_result *r = im->out;
	const char *first = "";

	for (size_t i = 0; i < r->nr_traces && !first[0]; i++)
		first = r->traces[i].skips.first[0];
	if (r->nr_requests == 0 && !first[0])
		first = r->traces[0].note; /* the format's reason why no event became a request */
	if (r->nr_requests == 0)
		return err_set(err, EBADMSG, "%s: expected requests, there is none%s%s",
			       r->traces[0].path, first[0] ? ": " : "", first);
	if (!im->options->lenient &&
	    (double)r->nr_skipped > IMPORT_SKIPPED_MAX * (double)r->nr_records)
		return err_set(err, EDOM,
			       "%llu of %llu records make no sense, nothing is stored; the first: "
			       "%s",
			       (unsigned long long)r->nr_skipped, (unsigned long long)r->nr_records,
			       first);
	return 0;
}

static int import_all(struct import *im, struct import_stage *stage, struct err *err)
{
	int ret = open_inputs(im, err);

	if (ret < 0)
		return ret;
	if (im->options->foreign.host)
		snprintf(im->host, sizeof(im->host), "%s", im->options->foreign.host);
	else
		stem_of(im->paths[0], im->host);
	ret = import_writer_new(&im->writer, stage, im->out);
	if (ret == 0)
		ret = open_traces(im, err);
	if (ret == 0)
		ret = set_clock(im, err);
	if (ret == 0)
		ret = write_all(im, err);
	if (ret == 0) {
		import_summarize(im);
		ret = import_judge(im, err);
	}
	if (ret == 0)
		ret = import_writer_finish(im->writer, err);
	return ret == 0 ? import_stage_commit(stage, &im->out->stored, err) : ret;
}

int import_run(const struct import_options *options, const char *dir, struct import_result *out,
	       struct err *err)
{
	struct import im = { .options = options, .out = out };
	struct import_stage stage;
	int ret;

	*out = (struct import_result){ 0 };
	ret = import_stage_init(&stage, dir, err);
	if (ret == 0)
		ret = import_all(&im, &stage, err);
	for (size_t i = 0; im.inputs && i < options->nr_paths; i++)
		foreign_input_free(im.inputs[i]);
	for (size_t i = 0; i < im.nr_sources; i++)
		import_source_release(&im.sources[i]);
	import_writer_free(im.writer);
	import_stage_release(&stage);
	free(im.inputs);
	free(im.paths);
	free(im.formats);
	free(im.sources);
	return ret;
}

void import_result_release(struct import_result *r)
{
	free(r->traces);
	free(r->hosts);
	free(r->devices);
	*r = (struct import_result){ 0 };
}
