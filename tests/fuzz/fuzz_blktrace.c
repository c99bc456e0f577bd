/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a block trace. Decoding moves on, stays within what it was given, and whatever it
 * finds is paired into requests that make sense and balance.
 */
#include <stdlib.h>

#include "formats/foreign/blktrace.h"
#include "formats/pairing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_request(void *ctx, const struct request *r, unsigned int begun_by)
{
	(void)ctx;
	if (request_check(r) || begun_by >= NR_BLOCK_EVENTS)
		abort();
}

static void check_balance(const struct pairing *p)
{
	struct pairing_counts c;

	pairing_counts(p, &c);
	if (c.begun != c.requests + c.absorbed + c.held ||
	    c.events[BLOCK_COMPLETE] + c.shared_ends != c.requests - c.no_end - c.unclosed +
								c.parts + c.flush_ends +
								c.idle_ends + c.late_ends)
		abort();
}

static void pair_all(const uint8_t *data, size_t size, uint8_t layer)
{
	const struct pairing_config config = { .layer = layer, .max_held = 64 };
	struct pairing_sink sink = { check_request, NULL };
	struct blktrace_reader reader = { 0 };
	struct blktrace_record record;
	struct blktrace_zfcp zfcp;
	struct pairing *p = NULL;
	size_t at = 0, nr;
	bool found;

	if (pairing_new(&p, &config, &sink))
		return;
	while ((nr = blktrace_next(&reader, data + at, size - at, &record, &found))) {
		if (nr > size - at)
			abort();
		at += nr;
		if (!found)
			continue;
		if (record.data_bytes && record.data + record.data_bytes != data + at)
			abort();
		blktrace_zfcp(&reader, &record, &zfcp);
		if (record.type == BLKTRACE_EVENT)
			pairing_add(p, &record.event);
	}
	check_balance(p);
	pairing_settle(p, 0, UINT64_MAX);
	check_balance(p);
	if (pairing_held(p, 0))
		abort();
	pairing_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pair_all(data, size, LAYER_DEVICE);
	pair_all(data, size, LAYER_QUEUE);
	return 0;
}
