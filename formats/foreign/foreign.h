/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign: reads traces that other tools recorded, one request after the other.
 *
 * A format is one file that defines a `struct foreign_format`, or one table in line_formats.c, and
 * one line in foreign_formats.h. It says how a line or a record of fixed length becomes a request.
 * Reading, decompression, devices, the check of times and the count of skipped records are shared.
 *
 *	ret = foreign_open(&f, &options, paths, nr, &e);
 *	while ((nr = foreign_next(f, batch, 4096, &e)) > 0)
 *		... times in f's own clock, r.device an index for foreign_device_at() ...
 *	foreign_skips(f);
 *	foreign_close(f);
 *
 * What a format does not contain is marked by the request's flags. A trace is used by one thread.
 */
#ifndef FORMATS_FOREIGN_H
#define FORMATS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/foreign/foreign_input.h"
#include "formats/foreign/foreign_text.h"
#include "formats/request.h"

#define FOREIGN_NAME_BYTES   64
#define FOREIGN_DEVICES_MAX  (1u << 20) /* number of minors */
#define FOREIGN_REASONS	     5
#define FOREIGN_REASON_BYTES 256
#define FOREIGN_HEAD_BYTES   65536u
/* Invented device numbers, with the majors that Linux reserves for local use. */
#define FOREIGN_MAJOR_NUMBERED 240u /* the minor is the number that the trace uses */
#define FOREIGN_MAJOR_NAMED    241u /* the minor counts names in order of appearance */

struct foreign_device {
	char host[FOREIGN_NAME_BYTES]; /* "" where the trace names no host */
	char name[FOREIGN_NAME_BYTES];
	uint32_t number; /* in the form of struct request */
};

/* Records that made no sense, and the first of them as "FILE:LINE: why". */
struct foreign_skips {
	uint64_t nr;
	char first[FOREIGN_REASONS][FOREIGN_REASON_BYTES];
};

struct foreign_options {
	const char *map;	   /* the columns of a CSV file (csv_columns.h), or NULL */
	const char *host, *device; /* names to use where the trace has none, or NULL */
	const char *layer;	   /* for traces of events: "device" (the default) or "queue" */
};

struct foreign;
struct line_layout;

/* The results of line() and record(), besides -errno. */
enum foreign_step {
	FOREIGN_NOTHING, /* the line holds no request: a comment or a heading */
	FOREIGN_REQUEST,
	FOREIGN_SKIP, /* foreign_because() gave the reason */
};

enum foreign_trait {
	FOREIGN_WALL = 1u << 0, /* times are CLOCK_REALTIME */
	/* all given files form one trace, which the format merges itself */
	FOREIGN_MERGES = 1u << 1,
	FOREIGN_TIMELESS = 1u << 2,	/* the trace has an order but no times */
	FOREIGN_NO_OPERATION = 1u << 3, /* the trace does not distinguish reads from writes */
};

struct foreign_head {
	const char *path;
	const uint8_t *data; /* the first FOREIGN_HEAD_BYTES of the file, or all of it */
	size_t len;
	bool whole; /* data is the whole file */
};

struct foreign_format {
	const char *name;  /* the name by which a person chooses it */
	const char *title; /* title for the list in the help */
	uint32_t traits;
	uint32_t record_bytes; /* bytes that record() takes; 0: begin() determines it */
	/*
	 * Returns whether a file may have this format, from its first bytes. A text format may
	 * leave it NULL; then the first lines decide.
	 */
	bool (*detect)(const struct foreign_head *head);
	/*
	 * These are optional. open() makes f->state before there is a file; begin() then sees the
	 * first bytes of a file.
	 */
	int (*open)(struct foreign *f, struct err *err);
	int (*begin)(struct foreign *f, const struct foreign_head *head, struct err *err);
	void (*close)(struct foreign *f);
	const struct line_layout *layout; /* for line() of line_formats.c; otherwise NULL */
	/* A format has one of these three. r comes with everything unknown; see foreign_fill(). */
	enum foreign_step (*line)(struct foreign *f, struct text line, struct request *r);
	enum foreign_step (*record)(struct foreign *f, const uint8_t *data, struct request *r);
	int64_t (*next)(struct foreign *f, struct request *out, size_t max, struct err *err);
};

struct foreign_index; /* finds devices by their names in the trace */

/* For formats and foreign.c. Others use the functions below. */
struct foreign {
	const struct foreign_format *format;
	const struct foreign_options *options;
	/* owned; only inputs[0] exists unless FOREIGN_MERGES is set */
	struct foreign_input **inputs;
	size_t nr_inputs;
	struct foreign_input *in; /* equals inputs[0] */
	void *state;		  /* belongs to the format */
	uint32_t record_bytes;
	bool wall;		/* CLOCK_REALTIME = time + wall_offset_ns */
	int64_t wall_offset_ns; /* 0 with FOREIGN_WALL */

	struct foreign_device *devices; /* owned */
	uint32_t nr_devices, cap_devices;
	struct foreign_index *index;
	uint32_t last_device;

	uint64_t nr_records;   /* requests and skipped records, for computing the share */
	uint64_t nr_unaligned; /* offsets that are not whole sectors and were rounded down */
	uint64_t latest_ns;    /* latest arrival so far */
	bool has_times;	       /* a response time above 0 was seen */
	/* response times of 0 that were taken as unknown, because none above 0 came before */
	uint64_t nr_zero_times;
	char because[FOREIGN_REASON_BYTES];
	int failed; /* -errno of a callback of the format, or 0 */
	struct foreign_skips skips;
	char note[FOREIGN_REASON_BYTES]; /* a remark for a person at the end, or "" */
};

extern const struct foreign_format *const foreign_formats[];
extern const size_t nr_foreign_formats;
/* Returns NULL where there is no such format. */
const struct foreign_format *foreign_format_named(const char *name);
/*
 * Finds the format of an input of which nothing was taken. *out is NULL where none fits. Returns 0
 * or -errno.
 */
int foreign_detect(struct foreign_input *in, const struct foreign_options *options,
		   const struct foreign_format **out, struct err *err);

/*
 * The inputs belong to the trace afterwards, also on failure; options are borrowed. Returns 0,
 * -EINVAL or -ENOMEM.
 */
int foreign_open(struct foreign **out, const struct foreign_format *format,
		 const struct foreign_options *options, struct foreign_input *const *inputs,
		 size_t nr, struct err *err);
void foreign_close(struct foreign *f);
/* Returns up to max requests in the order of the file; 0 at the end; -EIO, -EBADMSG or -ENOMEM. */
int64_t foreign_next(struct foreign *f, struct request *out, size_t max, struct err *err);

/* ---- for formats ---- */

/*
 * Returns the index of a device by host and id, which are parts of the line; host may be empty. The
 * device is named by prefix and id. An id of digits below 2^20 is its number. Returns -ENOMEM, or
 * -ENFILE above FOREIGN_DEVICES_MAX.
 */
int64_t foreign_device(struct foreign *f, struct text host, const char *prefix, struct text id);
/* Does the same by the kernel's own number. */
int64_t foreign_device_numbered(struct foreign *f, uint32_t number, struct text name);
int64_t foreign_device_of_host(struct foreign *f, struct text host, uint32_t number,
			       struct text name);
/* Returns the only device of a trace that names none. */
int64_t foreign_device_only(struct foreign *f);

/* Returns the sector of an offset. An offset within a sector is rounded down and counted. */
static inline uint64_t foreign_sector(struct foreign *f, uint64_t offset_bytes)
{
	f->nr_unaligned += offset_bytes % SECTOR_BYTES != 0;
	return offset_bytes / SECTOR_BYTES;
}

/* Fills a request of which only the arrival is known. */
static inline void foreign_fill(struct request *r, uint64_t arrival_ns, uint8_t operation)
{
	r->arrival_ns = r->dispatch_ns = r->completion_ns = arrival_ns;
	r->operation = operation;
}

/* Marks a request that read or wrote, where the trace does not say which. */
static inline void foreign_no_operation(struct request *r)
{
	r->operation = OPERATION_OTHER;
	r->flags |= REQUEST_NO_OPERATION;
}

/* Adds the response time, if the trace has one. Call this after foreign_fill(). */
static inline void foreign_responded(struct request *r, uint64_t response_ns)
{
	r->completion_ns = r->arrival_ns + response_ns;
	r->flags &= ~(uint32_t)REQUEST_NO_COMPLETION;
}

/* Returns FOREIGN_SKIP and keeps the reason, which foreign_next() puts after FILE:LINE. */
enum foreign_step foreign_because(struct foreign *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Counts a skipped record and its position, for a format with a next() of its own. */
void foreign_skip(struct foreign *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Checks whether a request is possible. Returns NULL, or what is wrong with it. Updates latest_ns.
 */
const char *foreign_check(struct foreign *f, const struct request *r);
/* Sets everything to unknown, with SOURCE_IMPORT and LAYER_DEVICE. */
void foreign_blank(struct request *r);

#endif
