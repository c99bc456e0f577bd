/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/literal/slow_stream.h"

uint64_t slow_random(struct slow_rng *g)
{
	uint64_t x = g->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t slow_below(struct slow_rng *g, uint64_t n)
{
	return (uint64_t)((unsigned __int128)slow_random(g) * n >> 64);
}

double slow_uniform(struct slow_rng *g)
{
	return ((double)(slow_random(g) >> 12) + 0.5) * 0x1p-52;
}

double slow_exponential(struct slow_rng *g, double mean)
{
	return -mean * log(slow_uniform(g));
}

double slow_normal(struct slow_rng *g)
{
	double radius = sqrt(-2 * log(slow_uniform(g)));

	return radius * cos(2 * M_PI * slow_uniform(g));
}

int slow_zipf_init(struct slow_zipf *z, size_t nr, double theta)
{
	double sum = 0;

	z->nr = nr;
	z->cumulative = malloc(nr * sizeof(*z->cumulative));
	if (!z->cumulative)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		z->cumulative[i] = sum += pow((double)(i + 1), -theta);
	return 0;
}

void slow_zipf_release(struct slow_zipf *z)
{
	free(z->cumulative);
	z->cumulative = NULL;
}

size_t slow_zipf(const struct slow_zipf *z, struct slow_rng *g)
{
	double x = slow_uniform(g) * z->cumulative[z->nr - 1];
	size_t low = 0, high = z->nr - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (z->cumulative[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct request slow_request(uint64_t arrival_ns, uint64_t sector)
{
	return (struct request){ .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns + 20000,
				 .completion_ns = arrival_ns + 100000,
				 .sector = sector,
				 .bytes = 4096,
				 .device = device_make(7, 0),
				 .tid = 1,
				 .pid = 1,
				 .operation = OPERATION_READ,
				 .source = SOURCE_IMPORT };
}

void slow_mixed(struct request *r, size_t nr, uint64_t seed, uint64_t begin_ns, double mean_gap_ns)
{
	static const uint32_t sizes[] = { 512, 4096, 4096, 8192, 65536, 131072, 6144, 1049088 };
	struct slow_rng g = { seed };
	uint64_t now = begin_ns, next_sector[2] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		unsigned int write = slow_below(&g, 100) < 30;
		uint64_t dispatch_ns, sector = slow_below(&g, 1 << 20) * 8;

		now += (uint64_t)slow_exponential(&g, mean_gap_ns);
		if (slow_below(&g, 2))
			sector = next_sector[write];
		r[i] = slow_request(now, sector);
		r[i].bytes = sizes[slow_below(&g, 8)];
		r[i].operation = slow_below(&g, 50) ? write : 2 + slow_below(&g, 3);
		dispatch_ns = now + (uint64_t)slow_exponential(&g, 30000);
		r[i].dispatch_ns = dispatch_ns;
		r[i].completion_ns = dispatch_ns + (uint64_t)slow_exponential(&g, 200000);
		r[i].tid = 100 + (uint32_t)slow_below(&g, 40);
		if (!slow_below(&g, 10))
			r[i].flags |= REQUEST_KERNEL_THREAD;
		r[i].error = slow_below(&g, 1000) ? 0 : 5;
		r[i].requeues = (uint16_t)(slow_below(&g, 500) ? 0 : 2);
		next_sector[write] = sector + request_sectors(&r[i]);
	}
}
