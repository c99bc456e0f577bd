/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_trace: any CSV file with one line per request, read by a map of its columns (csv_columns.h)
 * or by a heading whose names are known. The output of `blkcast dump --format csv` is read back
 * unchanged.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/foreign/csv_columns.h"
#include "formats/foreign/foreign.h"
#include "formats/foreign/foreign_bytes.h"

struct csv_state {
	struct csv_columns columns;
	bool begun; /* the heading has been read */
	struct text at[CSV_COLUMNS_MAX];
	int nr;
};

static int csv_open(struct foreign *f, struct err *err)
{
	struct csv_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	f->state = s;
	if (f->options->map)
		return csv_columns_parse(&s->columns, f->options->map, err);
	csv_columns_init(&s->columns);
	return 0;
}

static void csv_close(struct foreign *f)
{
	free(f->state);
}

static struct text csv_trace_unquote(struct text t)
{
	t = text_trim(t);
	if (text_len(t) >= 2 && t.at[0] == '"' && t.end[-1] == '"') {
		t.at++;
		t.end--;
	}
	return t;
}

static void csv_trace_split(struct csv_state *s, struct text line)
{
	s->nr = 0;
	if (s->columns.delimiter == ' ')
		while (s->nr <= s->columns.last && text_word(&line, &s->at[s->nr]))
			s->nr++;
	else
		while (s->nr <= s->columns.last &&
		       text_field(&line, s->columns.delimiter, &s->at[s->nr])) {
			s->at[s->nr] = csv_trace_unquote(s->at[s->nr]);
			s->nr++;
		}
}

/* Finds the text of a field. Returns false where the field has no column or is empty. */
static bool csv_trace_has(const struct csv_state *s, enum csv_field field, struct text *t)
{
	int at = s->columns.field[field].at;

	if (at < 0 || at >= s->nr || !text_len(s->at[at]))
		return false;
	*t = s->at[at];
	return true;
}

static bool number_of(const struct csv_state *s, enum csv_field field, uint64_t max, uint64_t *out)
{
	struct text t;

	return csv_trace_has(s, field, &t) && text_u64(t, out) && *out <= max;
}

static bool place_of(const struct csv_state *s, enum csv_field field, uint64_t *bytes)
{
	uint64_t value;

	return number_of(s, field, UINT64_MAX, &value) &&
	       !__builtin_mul_overflow(value, s->columns.field[field].unit, bytes);
}

static bool operation_of(const struct csv_state *s, struct request *r)
{
	uint8_t *operation = &r->operation;
	uint64_t value;
	struct text t;

	if (s->columns.field[CSV_OPERATION].at < 0) {
		foreign_no_operation(r);
		return true;
	}
	if (!csv_trace_has(s, CSV_OPERATION, &t))
		return false;
	switch (s->columns.field[CSV_OPERATION].unit) {
	case CSV_READ_0:
	case CSV_READ_1:
		if (!text_u64(t, &value) || value > 1)
			return false;
		*operation = value == (s->columns.field[CSV_OPERATION].unit == CSV_READ_1)
				     ? OPERATION_READ
				     : OPERATION_WRITE;
		return true;
	case CSV_LETTERS:
		if (text_is(t, "unknown")) { /* as blkcast export writes it */
			foreign_no_operation(r);
			return true;
		}
		if (text_direction(t, operation))
			return true;
		break;
	default:
		break;
	}
	if (!text_hex(t, &value) || value > UINT8_MAX)
		return false;
	*operation = scsi_operation((uint8_t)value);
	return true;
}

static int64_t device_of(struct foreign *f, const struct csv_state *s)
{
	struct text host = text_make("", 0), device, name = text_make("", 0), major;
	uint64_t high, low;

	csv_trace_has(s, CSV_HOST, &host);
	csv_trace_has(s, CSV_DEVICE_NAME, &name);
	if (!csv_trace_has(s, CSV_DEVICE, &device))
		return text_len(name) || text_len(host) ? foreign_device(f, host, "", name)
							: foreign_device_only(f);
	if (text_u64(device, &low))
		return foreign_device(f, host, "disk", device);
	major = device;
	if (text_field(&device, ':', &major) && text_u64(major, &high) && high < 4096 &&
	    text_u64(device, &low) && low < FOREIGN_DEVICES_MAX)
		return foreign_device_of_host(f, host, device_make((uint32_t)high, (uint32_t)low),
					      name);
	return foreign_device(f, host, "", text_make(major.at, (size_t)(device.end - major.at)));
}

/*
 * Sets the times: queue and service time, or the response time as a whole. Returns false where one
 * of them makes no sense.
 */
static bool times_of(const struct csv_state *s, struct request *r)
{
	uint64_t queue_ns = 0, service_ns = 0;
	struct text t;

	if (csv_trace_has(s, CSV_QUEUE, &t)) {
		if (!text_ns(t, s->columns.field[CSV_QUEUE].unit, &queue_ns) ||
		    queue_ns > UINT64_MAX / 4)
			return false;
		r->flags &= ~(uint32_t)REQUEST_NO_DISPATCH;
	}
	r->dispatch_ns = r->completion_ns = r->arrival_ns + queue_ns;
	if (csv_trace_has(s, CSV_SERVICE, &t)) {
		if (!text_ns(t, s->columns.field[CSV_SERVICE].unit, &service_ns) ||
		    service_ns > UINT64_MAX / 4)
			return false;
		r->completion_ns = r->dispatch_ns + service_ns;
		r->flags &= ~(uint32_t)REQUEST_NO_COMPLETION;
	} else if (csv_trace_has(s, CSV_RESPONSE, &t)) {
		if (!text_ns(t, s->columns.field[CSV_RESPONSE].unit, &service_ns) ||
		    service_ns > UINT64_MAX / 4 || service_ns < queue_ns)
			return false;
		r->completion_ns = r->arrival_ns + service_ns;
		r->flags &= ~(uint32_t)REQUEST_NO_COMPLETION;
	}
	return true;
}

/*
 * Computes the flags of a row, which say what is unknown. A time that the row's flags call known
 * but that no column holds stays unknown, because the row would otherwise have a response time of
 * 0.
 */
static uint32_t flags_of(const struct csv_state *s, const struct request *r, uint32_t flags)
{
	struct text t;
	bool has_queue = csv_trace_has(s, CSV_QUEUE, &t),
	     has_service = csv_trace_has(s, CSV_SERVICE, &t);

	if (!has_service && !csv_trace_has(s, CSV_RESPONSE, &t))
		flags |= REQUEST_NO_COMPLETION;
	if (!has_queue && !has_service && !(flags & REQUEST_NO_ARRIVAL))
		flags |= REQUEST_NO_DISPATCH;
	if (flags & REQUEST_NO_DISPATCH && r->dispatch_ns != r->arrival_ns)
		flags &= ~(uint32_t)REQUEST_NO_DISPATCH;
	return flags;
}

/* The numbers that only some files have. pid comes before tid, which it stands in for. */
static const struct {
	enum csv_field field;
	const char *name;
	uint64_t max;
} csv_trace_extras[] = {
	{ CSV_PID, "pid", UINT32_MAX },		  { CSV_TID, "tid", UINT32_MAX },
	{ CSV_CGROUP, "cgroup", UINT64_MAX },	  { CSV_DEPTH, "depth", UINT32_MAX },
	{ CSV_REQUEUES, "requeues", UINT16_MAX }, { CSV_ERROR, "error", UINT16_MAX },
};

static void csv_trace_set_extra(struct request *r, enum csv_field field, uint64_t value)
{
	switch (field) {
	case CSV_PID:
		r->pid = r->tid = (uint32_t)value;
		r->flags &= ~(uint32_t)REQUEST_NO_ISSUER;
		break;
	case CSV_TID:
		r->tid = (uint32_t)value;
		r->flags &= ~(uint32_t)REQUEST_NO_ISSUER;
		break;
	case CSV_CGROUP:
		r->cgroup_id = value;
		r->flags &= ~(uint32_t)REQUEST_NO_CGROUP;
		break;
	case CSV_DEPTH:
		r->queue_depth = (uint32_t)value;
		break;
	case CSV_REQUEUES:
		r->requeues = (uint16_t)value;
		break;
	default:
		r->error = (uint16_t)value;
		break;
	}
}

/*
 * Reads the columns that only some files have, in which a cell may be empty. The flags that dump
 * writes say what is unknown and replace the computed ones. Returns FOREIGN_REQUEST, or
 * FOREIGN_SKIP where a cell has a text that is no value of its column.
 */
static enum foreign_step csv_trace_take_extras(struct foreign *f, struct request *r)
{
	const struct csv_state *s = f->state;
	uint64_t value;
	struct text t;

	for (size_t i = 0; i < sizeof(csv_trace_extras) / sizeof(*csv_trace_extras); i++) {
		if (!csv_trace_has(s, csv_trace_extras[i].field, &t))
			continue;
		if (!text_u64(t, &value) || value > csv_trace_extras[i].max)
			return foreign_because(f, "%s: expected a whole number of at most %" PRIu64,
					       csv_trace_extras[i].name, csv_trace_extras[i].max);
		csv_trace_set_extra(r, csv_trace_extras[i].field, value);
	}
	if (csv_trace_has(s, CSV_FLAGS, &t)) {
		if (!text_hex(t, &value) || value > REQUEST_FLAGS_ALL)
			return foreign_because(f,
					       "flags: expected a hexadecimal number of at "
					       "most %#x",
					       (unsigned int)REQUEST_FLAGS_ALL);
		r->flags = flags_of(s, r, (uint32_t)value);
	}
	if (r->flags & REQUEST_NO_OPERATION)
		r->operation = OPERATION_OTHER;
	return FOREIGN_REQUEST;
}

static enum foreign_step csv_line(struct foreign *f, struct text line, struct request *r)
{
	struct csv_state *s = f->state;
	uint64_t ns, at, bytes;
	struct text t;
	int64_t device;

	if (line.at == line.end)
		return FOREIGN_NOTHING;
	if (!s->begun && s->columns.by_name) {
		s->begun = csv_columns_heading(&s->columns, line);
		return s->begun ? FOREIGN_NOTHING
				: foreign_because(f, "expected a heading with time, offset and "
						     "size, or a map of the columns");
	}
	csv_trace_split(s, line);
	if (!csv_trace_has(s, CSV_TIME, &t) || !text_ns(t, s->columns.field[CSV_TIME].unit, &ns) ||
	    ns > UINT64_MAX / 2) {
		if (!s->begun) { /* a heading is skipped where the map gives columns by number */
			s->begun = true;
			return FOREIGN_NOTHING;
		}
		return foreign_because(f, "time: expected a number");
	}
	s->begun = true;
	if (!place_of(s, CSV_OFFSET, &at))
		return foreign_because(f, "offset: expected a number");
	if (!place_of(s, CSV_SIZE, &bytes) || bytes > UINT32_MAX)
		return foreign_because(f, "size: expected a number, below 4 GiB");
	if (!operation_of(s, r))
		return foreign_because(f, "op: expected a read or a write");
	foreign_fill(r, ns, r->operation);
	if (!times_of(s, r))
		return foreign_because(f, "response time: expected a number");
	if (csv_trace_take_extras(f, r) != FOREIGN_REQUEST)
		return FOREIGN_SKIP;
	device = device_of(f, s);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	r->sector = foreign_sector(f, at);
	r->bytes = (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_csv = {
	.name = "csv",
	.title = "any CSV by a heading that is known, or by a map of its columns",
	.open = csv_open,
	.close = csv_close,
	.line = csv_line,
};
