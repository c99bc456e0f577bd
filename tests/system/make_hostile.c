// SPDX-License-Identifier: Apache-2.0
/*
 * make_hostile KIND HOST OUT [SEQUENCE [EPOCH]]: writes a valid segment of host HOST that costs its
 * readers as much as the format lets it, and prints its hash as the header Blkcast-Hash has it.
 * KIND is one of
 *   plain     one of an honest agent, to compare with
 *   devices   requests of as many devices as a segment may name
 *   sizes     65 536 reads of 2 GiB
 *   times     a request each day from 1970 to 2099, which no store takes
 *   year      requests spread over the longest time that a store takes
 *   places    offsets all over the largest disk
 *   mixed     devices, sizes and offsets of each request at random: it compresses worst
 *   blocks    random offsets and devices, each request as long as its blocks are still all examined
 *   homes     blocks whose hashes would all have the same home in a table that has no secret
 *   jump      the guest's real-time clock was set ahead by 3651 days meanwhile
 *   summary   not a segment but the largest summary file that the format allows
 *   brief     the same, in which the profile of one device is of a tenth of a second only
 *   random-N  devices, sizes, times, offsets and counts, each honest or extreme as the number N
 *             says; the
 *             same N always makes the same segment
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/index/segment_facts.h"
#include "formats/segment/segment.h"
#include "formats/summary/segment_summary.h"
#include "workload/block_hash.h"
#include "workload/window_room.h"

#define SUMMARY_FULL_PROFILES 100u

#define NR_DAYS		      47000u
#define DAY_NS		      86400000000000ull
#define REAL_NS		      1767225600000000000ull

static uint64_t mixed(uint64_t i)
{
	i = (i ^ i >> 31) * 0x9e3779b97f4a7c15ull;
	i = (i ^ i >> 27) * 0x94d049bb133111ebull;
	return i ^ i >> 32;
}

#define NR_HOMES       32768u
#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times 0x9e3779b97f4a7c15 is 1 */
#define MIX_1_INVERSE  0x96de1b173f119089ull
#define MIX_2_INVERSE  0x319642b2d24d8ec3ull

/* The inverse of block_hash_mix(). */
static uint64_t unmixed(uint64_t x)
{
	x = (x ^ x >> 31 ^ x >> 62) * MIX_2_INVERSE;
	x = (x ^ x >> 27 ^ x >> 54) * MIX_1_INVERSE;
	return x ^ x >> 30 ^ x >> 60;
}

/*
 * Block number i of those whose hash times the golden ratio begins with 18 zeros: Fibonacci hashing
 * puts all of them into one place of a table of up to 2^18.
 */
static uint64_t homes_block(uint64_t i)
{
	static uint64_t blocks[NR_HOMES];
	static size_t nr;
	const uint64_t salt = block_hash_salt(0, 8u << 20);

	for (uint64_t t = 1; nr < NR_HOMES; t++) {
		uint64_t block = unmixed(t * GOLDEN_INVERSE) - salt;

		if (block < REQUEST_END_SECTOR_MAX / BLOCK_SECTORS - 1)
			blocks[nr++] = block;
	}
	return blocks[i % NR_HOMES];
}

static struct request request_of(const char *kind, uint64_t i)
{
	struct request r = { .device = 8u << 20,
			     .bytes = 4096,
			     .sector = i * 8,
			     .tid = 1,
			     .pid = 1,
			     .source = SOURCE_BPF,
			     .arrival_ns = i * 1000 };

	if (!strcmp(kind, "devices"))
		r.device = (uint32_t)(i % SEGMENT_MAX_DEVICES) << 20;
	else if (!strcmp(kind, "sizes"))
		r.bytes = REQUEST_MAX_DATA_BYTES;
	else if (!strcmp(kind, "times"))
		r.arrival_ns = i * DAY_NS;
	else if (!strcmp(kind, "year"))
		r.arrival_ns = i * (SEGMENT_MAX_SPAN_NS / SEGMENT_MAX_REQUESTS);
	else if (!strcmp(kind, "homes"))
		r.sector = homes_block(i) * BLOCK_SECTORS;
	else if (!strcmp(kind, "places"))
		r.sector = (i * 0x9e3779b97f4a7c15ull) % (REQUEST_END_SECTOR_MAX - 8);
	else if (!strcmp(kind, "blocks")) {
		r.bytes = WINDOW_BLOCKS_PER_REQUEST * BLOCK_BYTES;
		r.sector = mixed(i) %
			   (REQUEST_END_SECTOR_MAX / BLOCK_SECTORS - r.bytes / BLOCK_BYTES) *
			   BLOCK_SECTORS;
		r.arrival_ns = i * 1000000 + mixed(i + 2) % 1000000;
		r.device = (uint32_t)(mixed(i + 3) % SEGMENT_MAX_DEVICES) << 20;
	} else if (!strcmp(kind, "mixed")) {
		r.sector = mixed(i) % (REQUEST_END_SECTOR_MAX - REQUEST_MAX_DATA_BYTES / 512);
		r.bytes = (uint32_t)(mixed(i + 1) % (REQUEST_MAX_DATA_BYTES / 512)) * 512;
		r.arrival_ns = i * 1000000 + mixed(i + 2) % 1000000;
		r.device = (uint32_t)(mixed(i + 3) % SEGMENT_MAX_DEVICES) << 20;
	}
	r.dispatch_ns = r.arrival_ns;
	r.completion_ns = r.arrival_ns + 500;
	return r;
}

/* Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014, Fig. 13. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* One of nr values, or now and then any number below the last of them. */
static uint64_t random_of(uint64_t *state, const uint64_t *values, size_t nr)
{
	uint64_t pick = random_next(state) % (nr + 1);

	return pick < nr ? values[pick] : random_next(state) % (values[nr - 1] + 1);
}
#define RANDOM_OF(state, ...)                               \
	random_of(state, (const uint64_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* How the requests of one random segment are made; the largest value of each stands last. */
struct random_kind {
	uint64_t state;
	uint64_t nr, begin_real_ns, begin_ns, gap_ns, response_ns, nr_devices, bytes, sector, tids,
		flags;
};

static struct random_kind random_kind_of(uint64_t number)
{
	struct random_kind k = { .state = number };
	uint64_t *s = &k.state;

	k.nr = RANDOM_OF(s, 0, 1, 2, 100, 5000, SEGMENT_MAX_REQUESTS);
	k.begin_real_ns = RANDOM_OF(s, REAL_NS, 0, 1, TRACE_TIME_MAX_NS);
	k.begin_ns = RANDOM_OF(s, 0, 1000, TRACE_TIME_MAX_NS);
	k.gap_ns = RANDOM_OF(s, 1000, 0, 1, 1000000, 1000000000, DAY_NS);
	k.response_ns = RANDOM_OF(s, 500, 0, 1, 1000000000, 30 * DAY_NS, SEGMENT_MAX_SPAN_NS);
	k.nr_devices = RANDOM_OF(s, 1, 2, 64, SEGMENT_MAX_DEVICES);
	k.bytes = RANDOM_OF(s, 4096, 0, 1, 512, 513, REQUEST_MAX_DATA_BYTES);
	k.sector = RANDOM_OF(s, 0, 1, 1 << 20, REQUEST_END_SECTOR_MAX - 1);
	k.tids = RANDOM_OF(s, 1, 2, 1000, UINT32_MAX);
	k.flags = RANDOM_OF(s, 0, 0, REQUEST_NO_ARRIVAL, REQUEST_NO_DISPATCH, REQUEST_NO_COMPLETION,
			    REQUEST_NO_OPERATION, REQUEST_PAUSED, REQUEST_FLAGS_ALL);
	return k;
}

static struct request random_request(struct random_kind *k, uint64_t i)
{
	uint64_t *s = &k->state, sector = k->sector ? random_next(s) % k->sector : i * 8;
	uint64_t last = k->begin_ns < TRACE_TIME_MAX_NS - SEGMENT_MAX_SPAN_NS
				? k->begin_ns + SEGMENT_MAX_SPAN_NS
				: TRACE_TIME_MAX_NS;
	uint64_t arrival = k->gap_ns && i > (last - k->begin_ns) / k->gap_ns
				   ? last
				   : k->begin_ns + i * k->gap_ns;
	struct request r = { .device = (uint32_t)(random_next(s) % k->nr_devices) << 20,
			     .bytes =
				     (uint32_t)(i % 8 ? k->bytes : RANDOM_OF(s, 0, 4096, k->bytes)),
			     .sector = sector,
			     .tid = (uint32_t)(random_next(s) % k->tids),
			     .pid = (uint32_t)(random_next(s) % k->tids),
			     .operation = (uint8_t)(random_next(s) % NR_OPERATIONS),
			     .flags = i % 3 ? 0 : (uint32_t)k->flags,
			     .error = (uint16_t)(i % 100 ? 0 : random_next(s)),
			     .queue_depth = (uint32_t)RANDOM_OF(s, 0, 1, UINT32_MAX),
			     .source = SOURCE_BPF };

	r.arrival_ns = r.dispatch_ns = r.completion_ns = arrival;
	if (k->response_ns <= last - arrival)
		r.completion_ns += k->response_ns ? random_next(s) % (k->response_ns + 1) : 0;
	return r;
}

/* Requests that the format refuses are left out: the segment is valid. */
static int add_random(struct segment_writer *w, struct segment_header *h, uint64_t number)
{
	struct random_kind k = random_kind_of(number);
	int ret = 0;

	h->begin.realtime_ns = k.begin_real_ns;
	h->begin.monotonic_ns = h->begin.boottime_ns = k.begin_ns;
	h->end.monotonic_ns = k.begin_ns;
	h->nr_captured = 0;
	for (uint64_t i = 0; i < k.nr && !ret; i++) {
		struct request r = random_request(&k, i);

		ret = segment_writer_add(w, &r);
		if (ret == -EINVAL || ret == -ENOSPC) {
			ret = 0;
			continue;
		}
		h->nr_captured++;
		if (r.completion_ns > h->end.monotonic_ns)
			h->end.monotonic_ns = r.completion_ns;
	}
	h->end.boottime_ns = h->end.monotonic_ns;
	h->end.realtime_ns = k.begin_real_ns + (h->end.monotonic_ns - k.begin_ns);
	return ret;
}

static int write_segment(const char *kind, const char *host, uint64_t sequence, uint64_t epoch,
			 FILE *out)
{
	uint64_t nr = strcmp(kind, "times") ? SEGMENT_MAX_REQUESTS : NR_DAYS;
	uint64_t begin = strcmp(kind, "times") ? REAL_NS : 0;
	bool is_random = !strncmp(kind, "random-", 7);
	struct segment_header h = {
		.boot_id = "b", .epoch = epoch, .sequence = sequence, .source = SOURCE_BPF
	};
	char hash[SEGMENT_HASH_TEXT];
	struct segment_hash of_data;
	struct segment_writer *w = NULL;
	struct buf data = { 0 };
	int ret = segment_writer_new(&w);

	snprintf(h.host, sizeof(h.host), "%s", host);
	h.nr_captured = nr;
	h.begin.realtime_ns = begin;
	if (is_random && !ret)
		ret = add_random(w, &h, strtoull(kind + 7, NULL, 10));
	for (uint64_t i = 0; !is_random && i < nr && !ret; i++) {
		struct request r = request_of(kind, i);

		h.end.monotonic_ns = r.completion_ns;
		ret = segment_writer_add(w, &r);
	}
	if (!is_random) {
		h.end.boottime_ns = h.end.monotonic_ns;
		h.end.realtime_ns = begin + h.end.monotonic_ns;
	}
	if (!strcmp(kind, "jump"))
		h.end.realtime_ns += 3651 * DAY_NS;
	if (!ret)
		ret = segment_writer_finish(w, &h, &data);
	if (!ret && fwrite(data.data, 1, data.len, out) != data.len)
		ret = -1;
	of_data = segment_hash_of(data.data, data.len);
	segment_hash_text(&of_data, hash);
	puts(hash);
	segment_writer_free(w);
	buf_release(&data);
	return ret;
}

/*
 * A profile whose response times lie in every bucket of the grid, which takes most memory and text.
 */
static int add_full_profile(struct summary *s, uint32_t i, uint64_t nr, double length_s)
{
	struct profile p;
	int ret = 0;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "%s", s->host);
	snprintf(p.device, sizeof(p.device), "8:%u", i);
	snprintf(p.device_name, sizeof(p.device_name), "disk%u", i);
	p.source = SOURCE_BPF;
	p.begin_s = REAL_NS / 1e9;
	p.end_s = p.begin_s + length_s;
	p.requests[OPERATION_READ] = nr;
	for (int k = HISTOGRAM_BUCKET_MIN; k <= HISTOGRAM_BUCKET_MAX && !ret; k++) {
		uint64_t ns = (uint64_t)(histogram_bucket_end_s(k) * 1e9);

		for (int h = 0; h < NR_STAGES && !ret; h++)
			ret = histogram_add(&p.read.response.stage[h], ns ? ns : 1);
		for (int h = 0; h < NR_SIZE_CLASSES && !ret; h++)
			ret = histogram_add(&p.read.response.size_class[h], ns ? ns : 1);
	}
	if (!ret)
		ret = summary_add_profile(s, &p);
	profile_release(&p);
	return ret;
}

static int write_summary(const char *host, bool has_brief, FILE *out)
{
	const uint64_t nr = HISTOGRAM_NR_BUCKETS;
	struct summary s;
	struct buf data = { 0 };
	int ret = 0;

	summary_init(&s);
	snprintf(s.host, sizeof(s.host), "%s", host);
	snprintf(s.boot_id, sizeof(s.boot_id), "b");
	s.epoch = s.generation = 1;
	s.source = SOURCE_BPF;
	s.begin.realtime_ns = s.first_real_ns = REAL_NS;
	s.end.realtime_ns = s.last_real_ns = REAL_NS + 60000000000ull;
	s.members = calloc(SUMMARY_MAX_MEMBERS, sizeof(*s.members));
	if (!s.members)
		return -1;
	for (; s.nr_members < SUMMARY_MAX_MEMBERS; s.nr_members++)
		s.members[s.nr_members].sequence = s.nr_members;
	for (uint32_t i = 0; i < SUMMARY_FULL_PROFILES && !ret; i++) {
		char name[SEGMENT_NAME_BYTES];
		struct summary_device *d;

		snprintf(name, sizeof(name), "disk%u", i);
		d = summary_device(&s, (8u << 20) + i, name);
		if (!d)
			break;
		d->requests[OPERATION_READ] = nr;
		s.nr_requests += nr;
		ret = add_full_profile(&s, i, nr, has_brief && i == 0 ? 0.1 : 60);
	}
	if (!ret)
		ret = summary_write(&s, &data);
	if (ret)
		fprintf(stderr, "make_hostile: summary: %s\n", strerror(-ret));
	if (!ret && fwrite(data.data, 1, data.len, out) != data.len)
		ret = -1;
	summary_release(&s);
	buf_release(&data);
	return ret;
}

int main(int argc, char **argv)
{
	FILE *out = argc >= 4 && argc <= 6 ? fopen(argv[3], "w") : NULL;
	uint64_t sequence = argc >= 5 ? strtoull(argv[4], NULL, 10) : 0;
	uint64_t epoch = argc == 6 ? strtoull(argv[5], NULL, 10) : 1;
	int ret;

	if (!out) {
		fprintf(stderr, "usage: make_hostile KIND HOST OUT [SEQUENCE [EPOCH]]\n");
		return 2;
	}
	if (strcmp(argv[1], "summary") && strcmp(argv[1], "brief"))
		ret = write_segment(argv[1], argv[2], sequence, epoch, out);
	else
		ret = write_summary(argv[2], !strcmp(argv[1], "brief"), out);
	return fclose(out) == 0 && ret == 0 ? 0 : 1;
}
