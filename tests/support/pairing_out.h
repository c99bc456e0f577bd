/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing_out: holds a pairing together with the requests that it handed over, for the tests of the
 * pairing.
 */
#ifndef TESTS_PAIRING_OUT_H
#define TESTS_PAIRING_OUT_H

#include <string.h>

#include "formats/pairing.h"
#include "tests/support/tap.h"

#define DISK  device_make(8, 0)
#define OTHER device_make(8, 16)
#define MAX   64

struct out {
	struct request r[MAX];
	unsigned int begun_by[MAX];
	size_t nr;
	struct pairing *p;
};

static inline void keep(void *ctx, const struct request *r, unsigned int begun_by)
{
	struct out *out = ctx;

	ok(!request_check(r));
	if (out->nr < MAX) {
		out->r[out->nr] = *r;
		out->begun_by[out->nr++] = begun_by;
	}
}

static inline void start(struct out *out, uint8_t layer, size_t max_held)
{
	const struct pairing_config config = { .layer = layer,
					       .source = SOURCE_BLKTRACE,
					       .max_held = max_held };
	struct pairing_sink sink = { keep, out };

	memset(out, 0, sizeof(*out));
	ok_int(pairing_new(&out->p, &config, &sink), 0);
}

/* Checks what must hold for the counts at any time. */
static inline void balanced(const struct out *out)
{
	struct pairing_counts c;

	pairing_counts(out->p, &c);
	ok_eq(c.begun, c.requests + c.absorbed + c.held);
	ok_eq(c.events[BLOCK_COMPLETE] + c.shared_ends, c.requests - c.no_end - c.unclosed +
								c.parts + c.flush_ends +
								c.idle_ends + c.late_ends);
	ok_eq(c.events[BLOCK_ISSUE], c.first_issues + c.reissues + c.flush_issues);
	ok_eq(c.held, pairing_held(out->p, 0));
}

static inline void stop(struct out *out)
{
	balanced(out);
	pairing_settle(out->p, 0, UINT64_MAX);
	balanced(out);
	ok_eq(pairing_held(out->p, 0), 0);
	pairing_free(out->p);
}

/* Feeds one event. sectors have 512 bytes; rwbs is as blkparse prints it. */
static inline void event(struct out *out, uint64_t time_ns, enum block_event_kind kind,
			 const char *rwbs, uint64_t sector, uint32_t sectors)
{
	struct block_event e = { .time_ns = time_ns,
				 .kind = kind,
				 .sector = sector,
				 .bytes = sectors * SECTOR_BYTES,
				 .device = DISK,
				 .tid = 100 };

	ok_int(block_event_rwbs(&e, rwbs, strlen(rwbs)), 0);
	ok_int(pairing_add(out->p, &e), 0);
}

#endif
