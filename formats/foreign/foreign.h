/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign: traces that others recorded, one request after the other.
 *
 * A format is one file that defines a `struct foreign_format`, and one line in foreign.c. It says
 * how a line or a record of fixed length becomes a request; reading, decompression, devices, order
 * of magnitude of times and the account of what was skipped are shared.
 *
 *	err = foreign_open(&f, &options, paths, nr, &e);
 *	while ((nr = foreign_next(f, batch, 4096, &e)) > 0)
 *		... times in f's own clock, r.device an index for foreign_device_at() ...
 *	foreign_skips(f);
 *	foreign_close(f);
 *
 * What a format cannot tell is marked by the request's flags. One trace, one thread.
 */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/foreign/foreign_input.h"
#include "formats/foreign/foreign_text.h"
#include "formats/request.h"

#define FOREIGN_NAME_BYTES   64
#define FOREIGN_DEVICES_MAX  (1u << 20) /* minors */
#define FOREIGN_REASONS	     5
#define FOREIGN_REASON_BYTES 256
#define FOREIGN_HEAD_BYTES   65536u
/* Made-up device numbers: the majors that Linux keeps for local use. */
#define FOREIGN_MAJOR_NUMBERED 240u /* the minor is the trace's own number */
#define FOREIGN_MAJOR_NAMED    241u /* the minor counts names in order of appearance */

struct foreign_device {
	char host[FOREIGN_NAME_BYTES]; /* "" where the trace does not say */
	char name[FOREIGN_NAME_BYTES];
	uint32_t number; /* as struct request has it */
};

/* Records that made no sense, and the first of them: "FILE:LINE: why". */
struct foreign_skips {
	uint64_t nr;
	char first[FOREIGN_REASONS][FOREIGN_REASON_BYTES];
};

struct foreign_options {
	const char *map;	   /* columns of a CSV file: csv_map.c; or NULL */
	const char *host, *device; /* names where the trace has none; or NULL */
	const char *layer;	   /* of traces of events: "device" (or NULL), "queue" */
};

struct foreign;

/* What line() and record() return, beside -errno. */
enum foreign_step {
	FOREIGN_NOTHING, /* no request in it: a comment, a heading */
	FOREIGN_REQUEST,
	FOREIGN_SKIP, /* foreign_because() said why */
};

enum foreign_trait {
	FOREIGN_WALL = 1u << 0,		/* its times are CLOCK_REALTIME */
	FOREIGN_MERGES = 1u << 1,	/* all files given are one trace: it merges them itself */
	FOREIGN_TIMELESS = 1u << 2,	/* it has an order and no times */
	FOREIGN_NO_OPERATION = 1u << 3, /* it does not tell reads from writes */
};

struct foreign_head {
	const char *path;
	const uint8_t *data; /* the first FOREIGN_HEAD_BYTES, or all */
	size_t len;
	bool whole; /* there is no more */
};

struct foreign_format {
	const char *name;  /* of --format */
	const char *title; /* for the list in the help */
	uint32_t traits;
	uint32_t record_bytes; /* of record(); 0: begin() finds it */
	/* Whether the file may be one of it, from its first bytes. Formats of lines may leave it
	 * out: then the first lines decide. */
	bool (*detect)(const struct foreign_head *head);
	/* All optional. open() makes f->state and has no file yet; begin() then sees its head. */
	int (*open)(struct foreign *f, struct err *err);
	int (*begin)(struct foreign *f, const struct foreign_head *head, struct err *err);
	void (*close)(struct foreign *f);
	/* One of the three. r is filled with what is unknown; see foreign_fill(). */
	enum foreign_step (*line)(struct foreign *f, struct text line, struct request *r);
	enum foreign_step (*record)(struct foreign *f, const uint8_t *data, struct request *r);
	int64_t (*next)(struct foreign *f, struct request *out, size_t max, struct err *err);
};

struct foreign_index; /* devices by what the trace calls them */

/* For formats and foreign.c; others use the functions below. */
struct foreign {
	const struct foreign_format *format;
	const struct foreign_options *options;
	struct foreign_input **inputs; /* owned; inputs[0] is the only one unless FOREIGN_MERGES */
	size_t nr_inputs;
	struct foreign_input *in; /* inputs[0] */
	void *state;		  /* the format's own */
	uint32_t record_bytes;
	bool wall;		/* CLOCK_REALTIME = time + wall_offset_ns */
	int64_t wall_offset_ns; /* 0 for FOREIGN_WALL */

	struct foreign_device *devices; /* owned */
	uint32_t nr_devices, cap_devices;
	struct foreign_index *index;
	uint32_t last_device;

	uint64_t nr_records;	/* requests and skipped ones, for the share */
	uint64_t nr_unaligned;	/* offsets that are no whole sector: rounded down */
	uint64_t latest_ns;	/* of the arrivals so far */
	bool has_times;		/* some response time above 0 was seen */
	uint64_t nr_zero_times; /* response times of 0 taken as unknown: none above 0 came before */
	char because[FOREIGN_REASON_BYTES];
	int failed; /* -errno of a format's callback, or 0 */
	struct foreign_skips skips;
	char note[FOREIGN_REASON_BYTES]; /* what a person should know at the end, or "" */
};

extern const struct foreign_format *const foreign_formats[];
extern const size_t nr_foreign_formats;
/* NULL where there is none. */
const struct foreign_format *foreign_format_named(const char *name);
/* The format of an input that nothing was taken from: NULL in *out where none fits. 0, -errno. */
int foreign_detect(struct foreign_input *in, const struct foreign_options *options,
		   const struct foreign_format **out, struct err *err);

/* inputs become the trace's, on failure too. options are borrowed. 0, -EINVAL, -ENOMEM. */
int foreign_open(struct foreign **out, const struct foreign_format *format,
		 const struct foreign_options *options, struct foreign_input *const *inputs,
		 size_t nr, struct err *err);
void foreign_close(struct foreign *f);
/* Up to max requests in the order of the file; 0 at the end; -EIO, -EBADMSG, -ENOMEM. */
int64_t foreign_next(struct foreign *f, struct request *out, size_t max, struct err *err);

/* ---- for formats ---- */

/*
 * The index of a device by host and id (parts of the line; host may be empty), its name is prefix
 * and id. An id of digits below 2^20 is its number. -ENOMEM, -ENFILE above FOREIGN_DEVICES_MAX.
 */
int64_t foreign_device(struct foreign *f, struct text host, const char *prefix, struct text id);
/* The same by the kernel's own number. */
int64_t foreign_device_numbered(struct foreign *f, uint32_t number, struct text name);
int64_t foreign_device_of_host(struct foreign *f, struct text host, uint32_t number,
			       struct text name);
/* The one device of a trace that names none. */
int64_t foreign_device_only(struct foreign *f);

/* A place on the device, which may lie within a sector: counted. */
static inline uint64_t foreign_sector(struct foreign *f, uint64_t offset_bytes)
{
	f->nr_unaligned += offset_bytes % SECTOR_BYTES != 0;
	return offset_bytes / SECTOR_BYTES;
}

/* Arrival known alone. */
static inline void foreign_fill(struct request *r, uint64_t arrival_ns, uint8_t operation)
{
	r->arrival_ns = r->dispatch_ns = r->completion_ns = arrival_ns;
	r->operation = operation;
}

/* It read or wrote: the trace does not tell which. */
static inline void foreign_no_operation(struct request *r)
{
	r->operation = OPERATION_OTHER;
	r->flags |= REQUEST_NO_OPERATION;
}

/* Then, where the trace has it: how long it took in all. */
static inline void foreign_responded(struct request *r, uint64_t response_ns)
{
	r->completion_ns = r->arrival_ns + response_ns;
	r->flags &= ~(uint32_t)REQUEST_NO_COMPLETION;
}

/* Returns FOREIGN_SKIP with the reason, which foreign_next() puts behind FILE:LINE. */
enum foreign_step foreign_because(struct foreign *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Counts a skipped record of a format with a next() of its own, where it was. */
void foreign_skip(struct foreign *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Holds a request against what can be: NULL, or what is wrong with it. Keeps latest_ns. */
const char *foreign_check(struct foreign *f, const struct request *r);
/* Everything unknown: of SOURCE_IMPORT, LAYER_DEVICE. */
void foreign_blank(struct request *r);

#endif
