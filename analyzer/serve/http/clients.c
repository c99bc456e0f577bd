// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/clients.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#define NR_BUCKETS    1024
#define WAYS	      (CLIENTS_MAX / NR_BUCKETS)
#define BURST_SECONDS 2

struct client {
	char name[CLIENT_NAME_BYTES]; /* empty: the entry is free */
	double credit;		      /* uploads that the client may begin now */
	uint64_t at_ns;		      /* when credit was last updated */
	uint32_t nr_active;
	uint64_t bytes;
};

struct clients {
	pthread_mutex_t lock;
	uint64_t secret; /* of the process: nobody can choose names that share a bucket */
	struct client_limits limits;
	struct client table[NR_BUCKETS][WAYS];
};

int clients_new(struct clients **out, const struct client_limits *limits)
{
	struct clients *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	if (getrandom(&c->secret, sizeof(c->secret), 0) != sizeof(c->secret)) {
		free(c);
		return -ENOMEM;
	}
	c->limits = *limits;
	pthread_mutex_init(&c->lock, NULL);
	*out = c;
	return 0;
}

void clients_free(struct clients *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static uint32_t bucket_of(const struct clients *c, const char *name)
{
	return (uint32_t)(XXH3_64bits_withSeed(name, strlen(name), c->secret) % NR_BUCKETS);
}

static double clients_burst(const struct clients *c)
{
	double most = c->limits.rate_per_s * BURST_SECONDS;

	return most < 1 ? 1 : most;
}

static void clients_recover(const struct clients *c, struct client *client, uint64_t now_ns)
{
	double most = clients_burst(c);

	if (now_ns > client->at_ns)
		client->credit += (double)(now_ns - client->at_ns) / 1e9 * c->limits.rate_per_s;
	if (client->credit > most)
		client->credit = most;
	client->at_ns = now_ns;
}

/*
 * Returns the client's entry, or an entry that can be used again for the client; NULL if there is
 * neither.
 */
static struct client *clients_find(struct clients *c, const char *name, uint64_t now_ns)
{
	struct client *ways = c->table[bucket_of(c, name)], *free_one = NULL;

	for (int i = 0; i < WAYS; i++) {
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
		clients_recover(c, &ways[i], now_ns);
		if (!ways[i].name[0] || (!ways[i].nr_active && ways[i].credit >= clients_burst(c)))
			free_one = &ways[i];
	}
	if (free_one) {
		*free_one = (struct client){ .credit = clients_burst(c), .at_ns = now_ns };
		snprintf(free_one->name, sizeof(free_one->name), "%s", name);
	}
	return free_one;
}

int clients_enter(struct clients *c, const char *name, uint64_t now_ns, struct client **out,
		  uint32_t *wait_s)
{
	struct client *client;
	int ret = 0;

	*wait_s = 1;
	pthread_mutex_lock(&c->lock);
	client = clients_find(c, name, now_ns);
	if (!client) {
		ret = -ENOBUFS;
	} else if (client->nr_active >= c->limits.nr_active) {
		ret = -EAGAIN;
	} else if (c->limits.rate_per_s > 0) {
		clients_recover(c, client, now_ns);
		if (client->credit < 1) {
			ret = -EAGAIN;
			*wait_s = (uint32_t)ceil((1 - client->credit) / c->limits.rate_per_s);
		} else {
			client->credit -= 1;
		}
	}
	if (ret == 0) {
		client->nr_active++;
		*out = client;
	}
	pthread_mutex_unlock(&c->lock);
	return ret;
}

int clients_reserve(struct clients *c, struct client *client, uint64_t bytes)
{
	int ret = 0;

	pthread_mutex_lock(&c->lock);
	if (bytes > c->limits.body_bytes || client->bytes > c->limits.body_bytes - bytes)
		ret = -ENOMEM;
	else
		client->bytes += bytes;
	pthread_mutex_unlock(&c->lock);
	return ret;
}

void clients_return(struct clients *c, struct client *client, uint64_t bytes)
{
	if (!client)
		return;
	pthread_mutex_lock(&c->lock);
	client->bytes -= bytes;
	pthread_mutex_unlock(&c->lock);
}

void clients_leave(struct clients *c, struct client *client, uint64_t bytes)
{
	if (!client)
		return;
	pthread_mutex_lock(&c->lock);
	client->bytes -= bytes;
	client->nr_active--;
	pthread_mutex_unlock(&c->lock);
}
