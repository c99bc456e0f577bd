// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/kept_back.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/index/segment_name.h"

#define KEPT_BACK_SEGMENTS "blkcast_serve_kept_back_segments"
#define KEPT_BACK_REQUESTS "blkcast_serve_kept_back_requests"

struct kept_back_host {
	char name[SEGMENT_NAME_BYTES];
	uint64_t nr_segments, nr_requests;
};

struct kept_back {
	pthread_mutex_t lock;
	struct kept_back_host hosts[KEPT_BACK_HOSTS + 1]; /* by name; behind them: all others */
	size_t nr;					  /* hosts with a count of their own */
};

int kept_back_new(struct kept_back **out)
{
	struct kept_back *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	pthread_mutex_init(&k->lock, NULL);
	*out = k;
	return 0;
}

void kept_back_free(struct kept_back *k)
{
	if (!k)
		return;
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static int kept_back_order(const void *name, const void *host)
{
	return strcmp(name, ((const struct kept_back_host *)host)->name);
}

/* Returns the count of the host, which is added where there is room. Called with the lock. */
static struct kept_back_host *kept_back_host(struct kept_back *k, const char *name)
{
	struct kept_back_host *host =
		bsearch(name, k->hosts, k->nr, sizeof(*k->hosts), kept_back_order);
	size_t at = k->nr;

	if (host)
		return host;
	if (k->nr == KEPT_BACK_HOSTS)
		return &k->hosts[KEPT_BACK_HOSTS];
	for (; at && strcmp(k->hosts[at - 1].name, name) > 0; at--)
		k->hosts[at] = k->hosts[at - 1];
	k->hosts[at] = (struct kept_back_host){ .nr_segments = 0 };
	snprintf(k->hosts[at].name, sizeof(k->hosts[at].name), "%s", name);
	k->nr++;
	return &k->hosts[at];
}

void kept_back_count(struct kept_back *k, const char *host, uint64_t nr_requests)
{
	struct kept_back_host *count;

	if (!nr_requests)
		return;
	pthread_mutex_lock(&k->lock);
	count = kept_back_host(k, host);
	count->nr_segments++;
	count->nr_requests += nr_requests;
	pthread_mutex_unlock(&k->lock);
}

static void kept_back_print_one(const struct kept_back *k, struct buf *out, const char *name,
				const char *help, size_t offset)
{
	buf_printf(out, "# TYPE %s counter\n# HELP %s %s\n", name, name, help);
	for (size_t i = 0; i <= KEPT_BACK_HOSTS; i++) {
		const struct kept_back_host *host = &k->hosts[i];

		/* Names of hosts have no character that OpenMetrics would have to escape. */
		if (host->nr_segments)
			buf_printf(out, "%s_total{host=\"%s\"} %" PRIu64 "\n", name, host->name,
				   *(const uint64_t *)((const char *)host + offset));
	}
}

void kept_back_print(struct kept_back *k, struct buf *out)
{
	pthread_mutex_lock(&k->lock);
	kept_back_print_one(k, out, KEPT_BACK_SEGMENTS,
			    "Segments that were stored without their requests, by host.",
			    offsetof(struct kept_back_host, nr_segments));
	kept_back_print_one(k, out, KEPT_BACK_REQUESTS,
			    "Requests that agents kept back on purpose, by host.",
			    offsetof(struct kept_back_host, nr_requests));
	pthread_mutex_unlock(&k->lock);
}
