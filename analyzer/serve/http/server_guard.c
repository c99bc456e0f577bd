// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server_guard.h"
#include "base/system/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define ROOM_MOST 64 /* places that are kept free for new connections */
#define OWED_SEEN 16 /* connections that are looked at for each one that may be owed */

struct guard {
	pthread_mutex_t lock; /* guards all members below except limits and on_tick */
	pthread_cond_t wake;
	pthread_t thread;
	bool is_stopping;
	struct connection *first; /* the newest */
	unsigned int nr_alive;	  /* connections of the list that were not shut down */
	unsigned int nr_open;	  /* connections of the list in phase GUARD_OPEN */
	uint64_t nr_shut;
	unsigned int nr_most; /* largest number of connections; 0: not limited here */
	unsigned int limits[NR_GUARD_PHASES];
	void (*on_tick)(void *ctx);
	void *ctx;
};

/* The serving thread notices the end of its connection. Only that thread closes the descriptor. */
static void guard_shut(struct guard *g, struct connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->is_shut = true;
	g->nr_alive--;
	g->nr_shut++;
}

/* Makes room for a new connection; connections that were shut down are not counted. */
static void guard_make_room(struct guard *g)
{
	struct connection *oldest = NULL;
	unsigned int nr_room = g->nr_most / 4 < ROOM_MOST ? g->nr_most / 4 : ROOM_MOST;

	if (!g->nr_most || g->nr_alive < g->nr_most - nr_room)
		return;
	for (struct connection *c = g->first; c; c = c->next)
		if (!c->is_shut && !c->is_known &&
		    (c->phase == GUARD_OPEN || c->phase == GUARD_IDLE))
			oldest = c;
	if (oldest)
		guard_shut(g, oldest);
}

static void shut_late(struct guard *g)
{
	uint64_t now = clock_monotonic_ns();

	for (struct connection *c = g->first; c; c = c->next) {
		if (!c->end_ns || now < c->end_ns || c->is_shut)
			continue;
		guard_shut(g, c);
	}
}

static void *server_guard_watch(void *ctx)
{
	struct guard *g = ctx;
	struct timespec at;

	pthread_mutex_lock(&g->lock);
	while (!g->is_stopping) {
		shut_late(g);
		pthread_mutex_unlock(&g->lock);
		if (g->on_tick)
			g->on_tick(g->ctx);
		pthread_mutex_lock(&g->lock);
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_sec++;
		while (!g->is_stopping && !pthread_cond_timedwait(&g->wake, &g->lock, &at))
			;
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int guard_new(struct guard **out, const unsigned int limits[NR_GUARD_PHASES],
	      void (*on_tick)(void *ctx), void *ctx)
{
	struct guard *g = calloc(1, sizeof(*g));
	pthread_condattr_t attributes;
	int ret;

	if (!g)
		return -ENOMEM;
	memcpy(g->limits, limits, sizeof(g->limits));
	g->on_tick = on_tick;
	g->ctx = ctx;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&g->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	ret = pthread_create(&g->thread, NULL, server_guard_watch, g);
	if (ret) {
		pthread_cond_destroy(&g->wake);
		pthread_mutex_destroy(&g->lock);
		free(g);
		return -ret;
	}
	*out = g;
	return 0;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	g->is_stopping = true;
	pthread_cond_signal(&g->wake);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	pthread_cond_destroy(&g->wake);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static void set_phase(struct guard *g, struct connection *c, enum guard_phase phase)
{
	g->nr_open -= c->link && c->phase == GUARD_OPEN;
	g->nr_open += phase == GUARD_OPEN;
	c->phase = phase;
	c->end_ns = g->limits[phase] ? clock_monotonic_ns() + g->limits[phase] * 1000000000ull : 0;
}

struct connection *guard_add(struct guard *g, int fd, void *owner)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->owner = owner;
	pthread_mutex_lock(&g->lock);
	guard_make_room(g);
	set_phase(g, c, GUARD_OPEN);
	g->nr_alive++;
	c->next = g->first;
	c->link = &g->first;
	if (g->first)
		g->first->link = &c->next;
	g->first = c;
	pthread_mutex_unlock(&g->lock);
	return c;
}

void guard_remove(struct guard *g, struct connection *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&g->lock);
	g->nr_alive -= !c->is_shut;
	g->nr_open -= c->phase == GUARD_OPEN;
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	pthread_mutex_unlock(&g->lock);
	free(c->certificate);
	free(c);
}

void guard_enter(struct guard *g, struct connection *c, enum guard_phase phase)
{
	if (!c)
		return;
	pthread_mutex_lock(&g->lock);
	if (c->phase != phase)
		set_phase(g, c, phase);
	pthread_mutex_unlock(&g->lock);
}

void guard_know(struct guard *g, struct connection *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&g->lock);
	c->is_known = true;
	pthread_mutex_unlock(&g->lock);
}

void guard_limit(struct guard *g, unsigned int nr_connections)
{
	pthread_mutex_lock(&g->lock);
	g->nr_most = nr_connections;
	pthread_mutex_unlock(&g->lock);
}

uint64_t guard_nr_shut(struct guard *g)
{
	uint64_t nr;

	pthread_mutex_lock(&g->lock);
	nr = g->nr_shut;
	pthread_mutex_unlock(&g->lock);
	return nr;
}

/*
 * Looks at a bounded number of connections, because a client that stalls many of them must not make
 * this function slow.
 */
bool guard_owes(struct guard *g, unsigned int nr_connections)
{
	unsigned int nr = 0, nr_seen = 0;

	pthread_mutex_lock(&g->lock);
	if (g->nr_open < nr_connections)
		goto out;
	for (struct connection *c = g->first; c; c = c->next) {
		int bytes = 0;

		if (nr == nr_connections || nr_seen == OWED_SEEN * nr_connections)
			break;
		if (c->phase != GUARD_OPEN || c->is_shut)
			continue;
		nr += ioctl(c->fd, FIONREAD, &bytes) == 0 && bytes > 0;
		nr_seen++;
	}
out:
	pthread_mutex_unlock(&g->lock);
	return nr == nr_connections;
}
