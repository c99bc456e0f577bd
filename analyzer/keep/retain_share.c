/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/order.h"

void retain_share_release(struct retain_share *s)
{
	free(s->hosts);
	free(s->items);
	*s = (struct retain_share){ 0 };
}

/*
 * Makes room for one more entry whenever the number is a power of two. Returns NULL where memory is
 * short.
 */
static void *share_grow(void *all, size_t nr, size_t size)
{
	return nr & (nr - 1) ? all : realloc(all, (nr ? 2 * nr : 1) * size);
}

static int add_host(struct retain_share *s, const char *host)
{
	struct share_host *hosts = share_grow(s->hosts, s->nr_hosts, sizeof(*hosts));

	if (!hosts)
		return -ENOMEM;
	s->hosts = hosts;
	hosts[s->nr_hosts] = (struct share_host){ .from = s->nr_items };
	memcpy(hosts[s->nr_hosts].host, host, strnlen(host, SEGMENT_NAME_BYTES - 1));
	s->nr_hosts++;
	return 0;
}

int retain_share_add(struct retain_share *s, const char *host, uint64_t at_ns, uint64_t bytes)
{
	struct share_item *items = share_grow(s->items, s->nr_items, sizeof(*items));

	if (!items)
		return -ENOMEM;
	s->items = items;
	if ((!s->nr_hosts || strcmp(s->hosts[s->nr_hosts - 1].host, host) != 0) &&
	    add_host(s, host) < 0)
		return -ENOMEM;
	items[s->nr_items++] = (struct share_item){ at_ns, bytes };
	s->hosts[s->nr_hosts - 1].bytes += bytes;
	s->hosts[s->nr_hosts - 1].nr++;
	return 0;
}

/* Returns the bytes that each host may have so that all together keep within the limit. */
static uint64_t share_of_each(const struct retain_share *s, uint64_t limit)
{
	uint64_t *bytes = calloc(s->nr_hosts + 1, sizeof(*bytes)), left = limit;

	if (!bytes) /* less than possible, but within the limit */
		return limit / s->nr_hosts;
	for (size_t i = 0; i < s->nr_hosts; i++)
		bytes[i] = s->hosts[i].bytes;
	qsort(bytes, s->nr_hosts, sizeof(*bytes), order_u64);
	for (size_t i = 0; i < s->nr_hosts; i++) {
		uint64_t share = left / (s->nr_hosts - i);

		if (bytes[i] > share) {
			free(bytes);
			return share;
		}
		left -= bytes[i];
	}
	free(bytes);
	return UINT64_MAX;
}

static int latest_first(const void *a, const void *b)
{
	const struct share_item *x = a, *y = b;

	return (x->at_ns < y->at_ns) - (x->at_ns > y->at_ns);
}

void retain_share_limit(struct retain_share *s, uint64_t limit)
{
	uint64_t share = s->nr_hosts ? share_of_each(s, limit) : 0;

	for (size_t i = 0; i < s->nr_hosts; i++) {
		struct share_host *h = &s->hosts[i];
		struct share_item *items = s->items + h->from;
		uint64_t sum = 0;

		h->until_ns = 0;
		if (h->bytes <= share)
			continue;
		qsort(items, h->nr, sizeof(*items), latest_first);
		for (size_t k = 0; k < h->nr && !h->until_ns; k++) {
			sum += items[k].bytes;
			if (sum > share)
				h->until_ns = items[k].at_ns;
		}
	}
}

static int compare_host(const void *name, const void *host)
{
	return strcmp(name, ((const struct share_host *)host)->host);
}

uint64_t retain_share_until(const struct retain_share *s, const char *host)
{
	const struct share_host *h = NULL;

	if (s->nr_hosts)
		h = bsearch(host, s->hosts, s->nr_hosts, sizeof(*h), compare_host);
	return h ? h->until_ns : 0;
}
