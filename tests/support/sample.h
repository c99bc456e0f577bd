/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample: makes whole segments and stores for tests. The same numbers give the same bytes on every
 * machine.
 */
#ifndef TESTS_SLOW_SAMPLE_H
#define TESTS_SLOW_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "formats/request.h"
#include "formats/segment/segment.h"

/* This is 2026-01-01T00:00:00Z, the real time of a host at its monotonic time 0. */
#define SAMPLE_REAL_NS 1767225600000000000ull

struct sample {
	const char *host;
	const char *boot_id;
	uint64_t epoch, sequence;
	uint64_t real_offset_ns;   /* real = monotonic + this */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	const struct ledger *ledger;
	uint64_t nr_captured;	     /* 0: as many as there are requests */
	bool is_hostile;	     /* the names try to deceive a terminal or a page */
	uint8_t source;		     /* 0: SOURCE_BPF */
	const char *profile;	     /* JSON of one profile that the segment holds, or NULL */
	const char *const *profiles; /* of several profiles; used if nr_profiles is not 0 */
	size_t nr_profiles;
};

/* Appends one segment: requests on device 8:0 "sda" and 8:16 "sdb", processes 100 "fio" and
 * 200 "cat", cgroups 1 "/" and 7 "/web/db". Aborts the test program where it cannot. */
void sample_segment(const struct sample *s, const struct request *r, size_t nr, struct buf *out);
/*
 * Makes nr requests of 4 KiB between begin_ns and end_ns, with ascending arrivals and all fields
 * varied.
 */
void sample_requests(uint64_t seed, uint64_t begin_ns, uint64_t end_ns, struct request *r,
		     size_t nr);
/*
 * Appends a segment of three such requests within one microsecond: number i of host "h", boot "b",
 * epoch 1.
 */
void sample_numbered(uint64_t i, struct buf *out);
/* Writes bytes to a file and makes its folders. Aborts where it cannot. */
void sample_write(const char *path, const void *data, size_t len);
/* Writes the segment to the path at which a store in dir keeps it. */
void sample_store(const char *dir, const struct sample *s, const struct request *r, size_t nr);
/*
 * Makes a new folder below TMPDIR and returns its path in a static buffer. sample_remove() deletes
 * the folder with everything in it.
 */
const char *sample_folder(void);
void sample_remove(const char *dir);

#endif
