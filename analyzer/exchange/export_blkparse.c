// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/exchange/export_formats.h"
#include "base/memory/array.h"

#define S_NS 1000000000u

/* A line to be printed: its time, its rank among lines of the same time, and its request. */
struct line {
	uint64_t time_ns; /* from the first request */
	uint64_t order;
	struct request r;
	char action;
};

/*
 * A heap of lines, the earliest first, because events of earlier requests fall between those of
 * later ones.
 */
struct lines {
	struct line *heap; /* owned */
	size_t nr, cap;
	uint64_t order, number;
};

static bool export_blkparse_before(const struct line *a, const struct line *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static int export_blkparse_push(struct lines *l, struct line line)
{
	size_t at = l->nr;

	if (array_grow(&l->heap, &l->cap, l->nr + 1, sizeof(*l->heap)))
		return -ENOMEM;
	l->nr++;
	line.order = l->order++;
	for (; at && export_blkparse_before(&line, &l->heap[(at - 1) / 2]); at = (at - 1) / 2)
		l->heap[at] = l->heap[(at - 1) / 2];
	l->heap[at] = line;
	return 0;
}

static struct line export_blkparse_pop(struct lines *l)
{
	struct line first = l->heap[0], last = l->heap[--l->nr];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= l->nr)
			break;
		if (child + 1 < l->nr &&
		    export_blkparse_before(&l->heap[child + 1], &l->heap[child]))
			child++;
		if (!export_blkparse_before(&l->heap[child], &last))
			break;
		l->heap[at] = l->heap[child];
		at = child;
	}
	l->heap[at] = last;
	return first;
}

/* Writes the letters in the order of the kernel (fill_rwbs): pre-flush, operation, FUA, A, S, M. */
static const char *letters_of(const struct request *r, char out[8])
{
	static const char operations[NR_OPERATIONS] = { 'R', 'W', 'D', 'W', 'N' };
	char *at = out;

	if (r->flags & REQUEST_PREFLUSH || r->operation == OPERATION_FLUSH)
		*at++ = 'F';
	*at++ = operations[r->operation];
	if (r->flags & REQUEST_FUA)
		*at++ = 'F';
	if (r->flags & REQUEST_READAHEAD)
		*at++ = 'A';
	if (r->flags & REQUEST_SYNC)
		*at++ = 'S';
	if (r->flags & REQUEST_META)
		*at++ = 'M';
	*at = '\0';
	return out;
}

static void print_line(FILE *out, struct lines *l, const struct line *line)
{
	const struct request *r = &line->r;
	uint64_t sectors = request_sectors(r);
	char letters[8];

	fprintf(out,
		"%3" PRIu32 ",%-3" PRIu32 " %2d %8" PRIu64 " %5" PRIu64 ".%09" PRIu64 " %5" PRIu32
		" %2c %3s ",
		device_major(r->device), device_minor(r->device), 0, ++l->number,
		line->time_ns / S_NS, line->time_ns % S_NS, r->tid, line->action,
		letters_of(r, letters));
	if (line->action == 'C' && sectors)
		fprintf(out, "%" PRIu64 " + %" PRIu64 " [%d]\n", r->sector, sectors,
			-(int)r->error);
	else if (line->action == 'C')
		fprintf(out, "%" PRIu64 " [%d]\n", r->sector, -(int)r->error);
	else if (sectors)
		fprintf(out, "%" PRIu64 " + %" PRIu64 " [-]\n", r->sector, sectors);
	else
		fprintf(out, "[-]\n");
}

static int blkparse_begin(struct exporter *e)
{
	e->state = calloc(1, sizeof(struct lines));
	return e->state ? 0 : -ENOMEM;
}

static void blkparse_end(struct exporter *e)
{
	struct lines *l = e->state;

	if (!l)
		return;
	while (l->nr) {
		struct line line = export_blkparse_pop(l);

		print_line(e->out, l, &line);
	}
	free(l->heap);
	free(l);
	e->state = NULL;
}

static int blkparse_request(struct exporter *e, const struct scan_request *q,
			    const struct scan_stream *st)
{
	const struct request *r = &q->r;
	uint64_t at = q->arrival_real_ns > e->begin_ns ? q->arrival_real_ns - e->begin_ns : 0;
	struct lines *l = e->state;
	size_t nr;
	int ret = 0;

	(void)st;
	while (l->nr && l->heap[0].time_ns < at) {
		struct line line = export_blkparse_pop(l);

		print_line(e->out, l, &line);
	}
	nr = l->nr;
	if (!(r->flags & REQUEST_NO_ARRIVAL)) {
		ret = export_blkparse_push(l,
					   (struct line){ .time_ns = at, .r = *r, .action = 'Q' });
		if (ret == 0)
			ret = export_blkparse_push(
				l, (struct line){ .time_ns = at, .r = *r, .action = 'G' });
	}
	if (ret == 0 && !(r->flags & REQUEST_NO_DISPATCH) && r->operation != OPERATION_FLUSH)
		ret = export_blkparse_push(
			l, (struct line){ .time_ns = at + r->dispatch_ns - r->arrival_ns,
					  .r = *r,
					  .action = 'D' });
	if (ret == 0 && !(r->flags & REQUEST_NO_COMPLETION))
		ret = export_blkparse_push(
			l, (struct line){ .time_ns = at + r->completion_ns - r->arrival_ns,
					  .r = *r,
					  .action = 'C' });
	if (l->nr == nr) {
		e->nr_left_out++;
		return ret;
	}
	e->nr_rounded += r->bytes % SECTOR_BYTES != 0;
	e->nr_written++;
	return ret;
}

const struct export_format export_blkparse = {
	.name = "blkparse",
	.title = "the text that blkparse prints: Q, G, D and C events",
	.left_out = "none of their events has a known time",
	.begin = blkparse_begin,
	.request = blkparse_request,
	.end = blkparse_end,
};
