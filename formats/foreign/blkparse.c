/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blkparse: the text that blkparse prints by default:
 *
 *   8,0    3        1     0.000009507   697  Q  WS 223490 + 8 [fio]
 *
 * The fields are device, CPU, number, seconds since the first event of the trace, thread, action,
 * and letters of the operation. Depending on the action follow: `sector + sectors [command]` (Q G I
 * D M F), `... [error]` (C), `... <- (major,minor) sector` (A), `sector / sector [command]` (X).
 * Flushes have no `+ sectors`. A command may contain any characters. The summary by CPU at the end
 * is skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/foreign/event_trace.h"
#include "formats/foreign/foreign.h"

#define S_NS 1000000000u

struct blkparse {
	struct event_trace *events;
	bool at_account; /* the events are over and the summary has begun */
	bool at_end;
	uint64_t latest_ns;
};

static const struct {
	const char *letters;
	uint8_t kind;
} actions[] = {
	{ "Q", BLOCK_QUEUE },	   { "G", BLOCK_GETRQ },       { "I", BLOCK_INSERT },
	{ "D", BLOCK_ISSUE },	   { "C", BLOCK_COMPLETE },    { "M", BLOCK_BACKMERGE },
	{ "F", BLOCK_FRONTMERGE }, { "R", BLOCK_REQUEUE },     { "X", BLOCK_SPLIT },
	{ "A", BLOCK_REMAP },	   { "P", BLOCK_OTHER },       { "U", BLOCK_OTHER },
	{ "UT", BLOCK_OTHER },	   { "S", BLOCK_OTHER },       { "B", BLOCK_OTHER },
	{ "m", BLOCK_OTHER },	   { "K", BLOCK_DRIVER_DATA }, { "UA", BLOCK_OTHER },
};

static bool device_of(struct text t, char delimiter, uint32_t *device)
{
	uint64_t major, minor;
	struct text first;

	if (!text_field(&t, delimiter, &first) || !text_u64(first, &major) || major > 4095 ||
	    t.at > t.end || !text_u64(t, &minor) || minor >= FOREIGN_DEVICES_MAX)
		return false;
	*device = device_make((uint32_t)major, (uint32_t)minor);
	return true;
}

static bool action_of(struct text t, uint8_t *kind)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		if (text_len(t) != strlen(actions[i].letters) ||
		    memcmp(t.at, actions[i].letters, text_len(t)) != 0)
			continue;
		*kind = actions[i].kind;
		return true;
	}
	return false;
}

/*
 * Returns the error at the end of a completion, "[0]", "[-5]" or "[65531]"; 0 where there is none.
 */
static uint16_t error_of(struct text rest)
{
	uint64_t value;
	struct text t = text_trim(rest);

	if (t.at == t.end || t.end[-1] != ']')
		return 0;
	rest = t;
	rest.end--;
	for (t.at = rest.end; t.at > rest.at && t.at[-1] != '[';)
		t.at--;
	t.end = rest.end;
	if (t.at < t.end && *t.at == '-')
		t.at++;
	if (!text_u64(t, &value) || value > UINT16_MAX)
		return 0;
	return (uint16_t)(value > INT16_MAX ? UINT16_MAX + 1 - value : value);
}

/*
 * Reads `sector [+ sectors] ...` or, for events without data, `[command]`. The text behind these
 * stays in rest.
 */
static bool place_of(struct block_event *e, struct text *rest)
{
	struct text word, before;
	uint64_t sectors = 0;

	*rest = text_trim(*rest);
	if (rest->at < rest->end && *rest->at == '[')
		return true;
	if (!text_word(rest, &word) || !text_u64(word, &e->sector))
		return false;
	before = *rest;
	if (!text_word(rest, &word) || !text_is(word, "+")) {
		*rest = before;
		return true;
	}
	if (!text_word(rest, &word) || !text_u64(word, &sectors) ||
	    sectors > UINT32_MAX / SECTOR_BYTES)
		return false;
	e->bytes = (uint32_t)sectors * SECTOR_BYTES;
	return true;
}

/* Reads `<- (8,1) 223427`. */
static bool remap_of(struct text rest, uint32_t *from)
{
	struct text arrow, device;

	return text_word(&rest, &arrow) && text_is(arrow, "<-") && text_word(&rest, &device) &&
	       text_len(device) > 2 &&
	       device_of(text_make(device.at + 1, text_len(device) - 2), ',', from);
}

/*
 * Reads the part that all lines have; *rest is the text behind the letters. Returns NULL, or what
 * was expected.
 */
static const char *event_of(struct text line, struct block_event *e, struct text *letters,
			    struct text *rest)
{
	struct text device, cpu, number, when, pid, action;
	uint64_t value;

	if (!text_word(&line, &device) || !device_of(device, ',', &e->device))
		return "expected MAJOR,MINOR first";
	if (!text_word(&line, &cpu) || !text_u64(cpu, &value) || value > UINT32_MAX)
		return "CPU: expected a number";
	e->cpu = (uint32_t)value;
	if (!text_word(&line, &number) || !text_u64(number, &value))
		return "sequence: expected a number";
	if (!text_word(&line, &when) || !text_ns(when, S_NS, &e->time_ns))
		return "time: expected seconds";
	if (!text_word(&line, &pid) || !text_u64(pid, &value) || value > UINT32_MAX)
		return "process: expected a number";
	e->tid = (uint32_t)value;
	if (!text_word(&line, &action) || !action_of(action, &e->kind))
		return "action: expected Q, G, I, D, C, M, F, R, A, X, P, U or m";
	text_word(&line, letters);
	*rest = line;
	return NULL;
}

static bool is_account(struct text line)
{
	struct text word;

	return text_word(&line, &word) &&
	       (text_is(word, "Total") || (text_len(word) > 3 && memcmp(word.at, "CPU", 3) == 0)) &&
	       text_word(&line, &word) && *word.at == '(';
}

/* Hands the event of a line to the pairing. Returns NULL, or what is wrong with the line. */
static const char *take_line(struct foreign *f, struct text line)
{
	struct text letters = text_make("", 0), rest, none = text_make("", 0);
	struct block_event e = { 0 };
	struct blkparse *b = f->state;
	const char *wrong = event_of(line, &e, &letters, &rest);
	uint32_t from;

	if (wrong || e.kind == BLOCK_OTHER)
		return wrong;
	if (!place_of(&e, &rest))
		return "expected a sector, and + sectors";
	if (block_event_rwbs(&e, letters.at, text_len(letters)) < 0)
		return "operation: expected letters such as R, W, WS, D";
	if (!block_event_is_possible(&e))
		return "sector, sectors: expected a request that a kernel can make";
	if (e.kind == BLOCK_COMPLETE)
		e.error = error_of(rest);
	wrong = foreign_check(f, &(struct request){ .arrival_ns = e.time_ns,
						    .completion_ns = e.time_ns });
	if (wrong)
		return wrong;
	if (e.kind == BLOCK_REMAP) {
		if (!remap_of(rest, &from))
			return "expected <- (MAJOR,MINOR) sector";
		f->failed = event_trace_remap(b->events, from, &e, none);
	}
	if (!f->failed)
		f->failed = event_trace_add(b->events, &e, none);
	return NULL;
}

static int read_line(struct foreign *f, struct err *err)
{
	struct blkparse *b = f->state;
	const char *line, *wrong;
	size_t len;
	int ret = foreign_input_line(f->in, &line, &len, err);
	struct text t;

	if (ret < 0)
		return ret;
	if (ret == 0) {
		b->at_end = true;
		event_trace_end(b->events);
		return event_trace_error(b->events);
	}
	t = text_make(line, len);
	b->at_account |= is_account(t);
	if (b->at_account || len == 0)
		return 0;
	wrong = take_line(f, t);
	if (wrong)
		foreign_skip(f, "%s:%" PRIu64 ": %s", foreign_input_path(f->in),
			     foreign_input_line_number(f->in), wrong);
	else
		f->nr_records++;
	return f->failed ? f->failed : event_trace_error(b->events);
}

static int64_t blkparse_next(struct foreign *f, struct request *out, size_t max, struct err *err)
{
	struct blkparse *b = f->state;
	size_t nr;
	int ret;

	while ((nr = event_trace_take(b->events, out, max)) == 0 && !b->at_end) {
		ret = read_line(f, err);
		if (ret == -ENOMEM)
			err_set(err, ENOMEM, "out of memory");
		if (ret < 0)
			return ret;
	}
	return (int64_t)nr;
}

/* Most of the first lines must be events. */
static bool blkparse_detect(const struct foreign_head *head)
{
	struct text all = text_make((const char *)head->data, head->len), line, letters, rest;
	unsigned int nr_good = 0, nr = 0;

	while (nr < 16 && text_field(&all, '\n', &line)) {
		struct block_event e = { 0 };

		if (line.at == line.end || is_account(line))
			continue;
		if (line.end == (const char *)head->data + head->len && !head->whole)
			break;
		nr++;
		nr_good += event_of(line, &e, &letters, &rest) == NULL;
	}
	return nr_good > nr / 2;
}

static int blkparse_open(struct foreign *f, struct err *err)
{
	struct blkparse *b = calloc(1, sizeof(*b));

	(void)err;
	f->state = b;
	return b ? event_trace_new(&b->events, f) : -ENOMEM;
}

static void blkparse_close(struct foreign *f)
{
	struct blkparse *b = f->state;

	if (b)
		event_trace_free(b->events);
	free(b);
}

const struct foreign_format foreign_blkparse = {
	.name = "blkparse",
	.title = "the text that blkparse prints by default",
	.detect = blkparse_detect,
	.open = blkparse_open,
	.close = blkparse_close,
	.next = blkparse_next,
};
