/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records per second of a block trace: decoded, decoded and paired, and merged from four CPUs as
 * the agent does it; beside copying the bytes. 32 requests under way, five events each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/source/blktrace/relay_merge.h"
#include "formats/pairing.h"
#include "tests/support/blktrace_make.h"

#define NR_REQUESTS 200000u
#define NR_EVENTS   5u
#define DEPTH	    32u
#define NR_CPUS	    4u
#define NR_BYTES    (48u * NR_EVENTS * NR_REQUESTS)
#define PIECE	    (64u << 10)
#define REPEATS	    5 /* the fastest counts: the machine is shared */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t sector_of(uint32_t i)
{
	return (i * 2654435761ull & 0xffffff) * 8;
}

static size_t put(uint8_t *out, uint32_t sequence, uint64_t time, uint32_t action, uint32_t request)
{
	static const uint64_t category[] = { [1] = 4, [4] = 4, [12] = 4, [7] = 6, [8] = 7 };
	const struct made_record made = {
		.version = 7,
		.sequence = sequence,
		.bytes = 4096,
		.tid = 4000 + request % DEPTH,
		.device = 8u << 20,
		.cpu = request % NR_CPUS,
		.time_ns = time,
		.sector = sector_of(request),
		.action = action | (1ull | 1ull << category[action]) << 16,
		.is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	};

	return blktrace_make(&made, out);
}

/* A closed system: with each completion, a submission. cpu < 0: all CPUs' events. */
static size_t make(uint8_t *out, int cpu)
{
	static const uint32_t submit[] = { 1, 4, 12, 7 }; /* Q G I D */
	uint32_t sequence = 0;
	size_t len = 0;

	for (uint32_t i = 0; i < NR_REQUESTS + DEPTH; i++) {
		uint64_t time = 1000 + 10000ull * i;

		if (i >= DEPTH && (cpu < 0 || (uint32_t)cpu == (i - DEPTH) % NR_CPUS))
			len += put(out + len, ++sequence, time, 8, i - DEPTH);
		for (uint32_t k = 0; k < 4 && i < NR_REQUESTS; k++)
			if (cpu < 0 || (uint32_t)cpu == i % NR_CPUS)
				len += put(out + len, ++sequence, time + 100 + k, submit[k], i);
	}
	return len;
}

static void count(void *ctx, const struct request *r, unsigned int begun_by)
{
	(void)begun_by;
	*(uint64_t *)ctx += r->completion_ns - r->arrival_ns;
}

static double decode(const uint8_t *data, size_t len, struct pairing *p)
{
	struct blktrace_reader reader = { 0 };
	struct blktrace_record record;
	double begin = now_s();
	size_t at = 0, nr;
	bool found;

	while ((nr = blktrace_next(&reader, data + at, len - at, &record, &found))) {
		at += nr;
		if (p && record.type == BLKTRACE_EVENT)
			pairing_add(p, &record.event);
	}
	return reader.records == NR_EVENTS * NR_REQUESTS ? now_s() - begin : 1e9;
}

static double merge(uint8_t *const *cpus, const size_t *lens, struct pairing *p)
{
	const struct blktrace_record *record;
	struct relay_merge m;
	uint32_t missing;
	double begin;
	bool more = true;

	if (relay_merge_init(&m, NR_CPUS))
		return 1e9;
	begin = now_s();
	for (size_t at = 0; more; at += PIECE) {
		more = false;
		for (size_t i = 0; i < NR_CPUS; i++) {
			size_t left = at < lens[i] ? lens[i] - at : 0;

			relay_merge_put(&m, i, cpus[i] + at, left < PIECE ? left : PIECE);
			more |= left > PIECE;
		}
		/* As of the time that the shortest stream has reached: a little back is enough. */
		while ((record = relay_merge_next(
				&m,
				more ? 1000 + 10000ull * (at / 48 / NR_EVENTS * NR_CPUS)
				     : UINT64_MAX,
				&missing)))
			pairing_add(p, &record->event);
		relay_merge_trim(&m);
	}
	begin = now_s() - begin;
	relay_merge_release(&m);
	return begin;
}

static void figure(const char *what, double seconds, const char *goal)
{
	printf("figure\tblktrace: %s\t%.3g\tmillion records/s\t%s\tone thread, 48-byte records\n",
	       what, NR_EVENTS * NR_REQUESTS / seconds / 1e6, goal);
}

int main(void)
{
	const struct pairing_config config = { .source = SOURCE_BLKTRACE };
	uint8_t *data = malloc(NR_BYTES), *copy = malloc(NR_BYTES), *cpus[NR_CPUS];
	double best[4] = { 1e9, 1e9, 1e9, 1e9 };
	size_t len, lens[NR_CPUS];
	struct pairing_counts counts;

	if (!data || !copy)
		return 1;
	len = make(data, -1);
	for (size_t i = 0; i < NR_CPUS; i++) {
		cpus[i] = malloc(NR_BYTES);
		lens[i] = cpus[i] ? make(cpus[i], (int)i) : 0;
	}
	for (int k = 0; k < REPEATS; k++) {
		for (int way = 0; way < 4; way++) {
			uint64_t sum = 0;
			struct pairing_sink sink = { count, &sum };
			struct pairing *p = NULL;
			double s = now_s();

			if (pairing_new(&p, &config, &sink))
				return 1;
			if (way == 0) {
				memcpy(copy, data, len);
				s = now_s() - s;
			} else {
				s = way < 3 ? decode(data, len, way == 2 ? p : NULL)
					    : merge(cpus, lens, p);
			}
			pairing_counts(p, &counts);
			if (way > 1 && (counts.requests != NR_REQUESTS || !sum))
				return 1;
			best[way] = s < best[way] ? s : best[way];
			pairing_free(p);
		}
	}
	figure("copied", best[0], "");
	figure("decoded", best[1], ">= 5");
	figure("decoded and paired", best[2], ">= 5");
	figure("merged from 4 CPUs and paired", best[3], "");
	printf("figure\tblktrace: user time of the agent's part\t%.3g\tns/request\t<= 300\tfive "
	       "records\n",
	       best[3] / NR_REQUESTS * 1e9);
	for (size_t i = 0; i < NR_CPUS; i++)
		free(cpus[i]);
	free(data);
	free(copy);
	return 0;
}
