// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/net.h"

static void free_mode(struct net_mode *m)
{
	free(m->name);
	free(m->take);
	free(m->put);
}

static void free_transition(struct net_transition *t)
{
	for (uint32_t i = 0; i < t->nr_modes; i++)
		free_mode(&t->modes[i]);
	free(t->modes);
	free(t->name);
	dist_release(&t->time);
}

void net_free(struct net *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		free_transition(&n->transitions[i]);
	for (uint32_t i = 0; i < n->nr_slots; i++)
		dist_release(&n->slots[i].service);
	for (uint32_t i = 0; i < n->nr_places; i++)
		free(n->places[i].name);
	for (uint32_t i = 0; i < n->nr_queues; i++)
		free(n->queues[i].name);
	for (uint32_t i = 0; i < n->nr_colours; i++)
		free(n->colours[i]);
	for (uint32_t i = 0; i < n->nr_probes; i++)
		free(n->probes[i].name);
	free(n->transitions);
	free(n->slots);
	free(n->places);
	free(n->queues);
	free(n->colours);
	free(n->probes);
	free(n->file);
	free(n->name);
	free(n);
}

struct net *net_new(const char *file)
{
	struct net *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->file = strdup(file);
	if (n->file)
		return n;
	free(n);
	return NULL;
}

/*
 * Returns room for one more zeroed item at the end of an array of nr items, or NULL if there is no
 * memory.
 */
static void *net_grow(void *array, uint32_t nr, size_t size)
{
	void *more = array;

	if (!(nr & (nr - 1)))
		more = reallocarray(array, nr ? 2 * (size_t)nr : 1, size);
	if (more)
		memset((char *)more + (size_t)nr * size, 0, size);
	return more;
}

#define GROW(array, nr)                                                  \
	({                                                               \
		void *more_ = net_grow((array), (nr), sizeof(*(array))); \
		if (more_)                                               \
			(array) = more_;                                 \
		more_ != NULL;                                           \
	})

uint32_t net_add_colour(struct net *n, const char *name)
{
	char *copy = strdup(name);

	if (!copy || !GROW(n->colours, n->nr_colours)) {
		free(copy);
		return NET_NONE;
	}
	n->colours[n->nr_colours] = copy;
	return n->nr_colours++;
}

uint32_t net_add_queue(struct net *n, const char *name, unsigned line)
{
	char *copy = strdup(name);

	if (!copy || !GROW(n->queues, n->nr_queues)) {
		free(copy);
		return NET_NONE;
	}
	n->queues[n->nr_queues] = (struct net_queue){ .name = copy, .servers = 1, .line = line };
	return n->nr_queues++;
}

uint32_t net_add_place(struct net *n, const char *name, unsigned line)
{
	char *copy = strdup(name);

	if (!copy || !GROW(n->places, n->nr_places)) {
		free(copy);
		return NET_NONE;
	}
	n->places[n->nr_places] = (struct net_place){
		.name = copy, .queue = NET_NONE, .first_slot = n->nr_slots, .line = line
	};
	return n->nr_places++;
}

uint32_t net_add_slot(struct net *n, uint32_t colour, unsigned line)
{
	if (!GROW(n->slots, n->nr_slots))
		return NET_NONE;
	n->slots[n->nr_slots] =
		(struct net_slot){ .place = n->nr_places - 1, .colour = colour, .line = line };
	n->places[n->nr_places - 1].nr_slots++;
	return n->nr_slots++;
}

struct net_transition *net_add_transition(struct net *n, const char *name, unsigned line)
{
	char *copy = strdup(name);

	if (!copy || !GROW(n->transitions, n->nr_transitions)) {
		free(copy);
		return NULL;
	}
	n->transitions[n->nr_transitions] =
		(struct net_transition){ .name = copy, .weight = 1, .line = line };
	return &n->transitions[n->nr_transitions++];
}

struct net_mode *net_add_mode(struct net_transition *t, const char *name, unsigned line)
{
	char *copy = strdup(name);

	if (!copy || !GROW(t->modes, t->nr_modes)) {
		free(copy);
		return NULL;
	}
	t->modes[t->nr_modes] = (struct net_mode){ .name = copy, .weight = 1, .line = line };
	return &t->modes[t->nr_modes++];
}

int net_add_arc(struct net_arc **arcs, uint32_t *nr, uint32_t slot, uint32_t count)
{
	/* Two arcs between the same place and mode are merged into one. */
	for (uint32_t i = 0; i < *nr; i++) {
		if ((*arcs)[i].slot == slot) {
			/* The count is limited to a value that net_validate() refuses. */
			count = count > NET_MAX_COUNT ? NET_MAX_COUNT + 1 : count;
			(*arcs)[i].count += count;
			if ((*arcs)[i].count > NET_MAX_COUNT)
				(*arcs)[i].count = NET_MAX_COUNT + 1;
			return 0;
		}
	}
	if (!GROW(*arcs, *nr))
		return -ENOMEM;
	(*arcs)[(*nr)++] = (struct net_arc){ .slot = slot, .count = count };
	return 0;
}

struct net_probe *net_add_probe(struct net *n, const char *name, unsigned line)
{
	char *copy = strdup(name);

	if (!copy || !GROW(n->probes, n->nr_probes)) {
		free(copy);
		return NULL;
	}
	n->probes[n->nr_probes] = (struct net_probe){ .name = copy, .line = line };
	return &n->probes[n->nr_probes++];
}

uint32_t net_find_place(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_places; i++)
		if (!strcmp(n->places[i].name, name))
			return i;
	return NET_NONE;
}

uint32_t net_find_colour(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_colours; i++)
		if (!strcmp(n->colours[i], name))
			return i;
	return NET_NONE;
}

uint32_t net_find_queue(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_queues; i++)
		if (!strcmp(n->queues[i].name, name))
			return i;
	return NET_NONE;
}

uint32_t net_find_slot(const struct net *n, uint32_t place, uint32_t colour)
{
	const struct net_place *p = &n->places[place];

	for (uint32_t i = p->first_slot; i < p->first_slot + p->nr_slots; i++)
		if (n->slots[i].colour == colour)
			return i;
	return NET_NONE;
}

/* Returns true if a mode takes one token, and nothing keeps it from that. */
static bool net_takes_alone(const struct net *n, const struct net_mode *m)
{
	if (m->nr_take != 1 || m->take[0].count != 1)
		return false;
	for (uint32_t i = 0; i < m->nr_put; i++) {
		const struct net_slot *to = &n->slots[m->put[i].slot];

		if (to->capacity || n->places[to->place].capacity)
			return false;
	}
	return true;
}

int64_t *net_ranks(const struct net *n)
{
	int64_t *ranks = calloc((size_t)n->nr_slots + 1, sizeof(*ranks));

	for (uint32_t i = 0; ranks && i < n->nr_slots; i++)
		ranks[i] = NET_NO_RANK;
	for (uint32_t i = 0; ranks && i < n->nr_transitions; i++) {
		const struct net_transition *t = &n->transitions[i];

		for (uint32_t m = 0; m < t->nr_modes && !t->timed; m++) {
			int64_t *rank;

			if (!net_takes_alone(n, &t->modes[m]))
				continue;
			rank = &ranks[t->modes[m].take[0].slot];
			*rank = t->priority > *rank ? t->priority : *rank;
		}
	}
	return ranks;
}

bool net_is_outranked(const struct net_transition *t, int64_t rank)
{
	return rank != NET_NO_RANK && (t->timed || t->priority < rank);
}

static int fail_slot(const struct net *n, const struct net_slot *s, struct err *err,
		     const char *what)
{
	return err_set(err, EINVAL, "%s:%u: place \"%s\", colour \"%s\": %s", n->file, s->line,
		       n->places[s->place].name, n->colours[s->colour], what);
}

static int check_slots(const struct net *n, struct err *err)
{
	uint64_t tokens = 0;

	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct net_slot *s = &n->slots[i];
		const struct net_place *p = &n->places[s->place];
		bool served = p->queue != NET_NONE && !n->queues[p->queue].immediate;

		if (served && s->service.kind == DIST_NONE)
			return fail_slot(n, s, err,
					 "no service time: a queue needs one for every colour");
		if (!served && s->service.kind != DIST_NONE)
			return fail_slot(n, s, err,
					 "a service time, but no queue that would use it");
		if (s->capacity && s->tokens > s->capacity)
			return fail_slot(n, s, err, "more tokens than its capacity");
		if (s->tokens > NET_MAX_TOKENS || (tokens += s->tokens) > NET_MAX_TOKENS)
			return err_set(err, EINVAL,
				       "%s:%u: place \"%s\", colour \"%s\": %" PRIu64
				       " tokens: a net of up to %d in all is simulated",
				       n->file, s->line, p->name, n->colours[s->colour], s->tokens,
				       NET_MAX_TOKENS);
	}
	return 0;
}

static int fail_mode(const struct net *n, const struct net_transition *t, const struct net_mode *m,
		     struct err *err, const char *what)
{
	return err_set(err, EINVAL, "%s:%u: transition \"%s\", mode \"%s\": %s", n->file, m->line,
		       t->name, m->name, what);
}

static int check_mode(const struct net *n, const struct net_transition *t, const struct net_mode *m,
		      struct err *err)
{
	if (!m->nr_take && !t->timed)
		return fail_mode(n, t, m, err,
				 "consumes from nowhere: an immediate transition would fire for "
				 "ever; a source of tokens needs a time");
	for (uint32_t i = 0; i < m->nr_take; i++) {
		const struct net_arc *a = &m->take[i];
		uint32_t place = n->slots[a->slot].place;

		if (!n->places[place].fifo)
			continue;
		if (a->count > 1)
			return fail_mode(n, t, m, err,
					 "takes several tokens at once from a place whose tokens "
					 "leave one by one (fifo)");
		for (uint32_t k = 0; k < i; k++)
			if (n->slots[m->take[k].slot].place == place)
				return fail_mode(n, t, m, err,
						 "takes two colours at once from a place whose "
						 "tokens leave one by one (fifo)");
	}
	return 0;
}

/*
 * Checks the number of tokens that all modes move in one firing each, because the simulator keeps
 * a table of them.
 */
static int check_counts(const struct net *n, const struct net_transition *t,
			const struct net_mode *m, uint64_t *total, struct err *err)
{
	bool large = false;

	for (uint32_t i = 0; i < m->nr_take; i++) {
		large |= m->take[i].count > NET_MAX_COUNT;
		*total += m->take[i].count;
	}
	for (uint32_t i = 0; i < m->nr_put; i++) {
		large |= m->put[i].count > NET_MAX_COUNT;
		*total += m->put[i].count;
	}
	if (large || *total > NET_MAX_TOKENS)
		return fail_mode(n, t, m, err, "moves too many tokens at once");
	return 0;
}

int net_validate(const struct net *n, struct err *err)
{
	uint64_t moved = 0;
	uint32_t nr_modes = 0;
	int e = check_slots(n, err);

	if (!e && !n->nr_slots)
		e = err_set(err, EINVAL, "%s: no place holds any colour", n->file);
	if (!e && n->nr_slots > NET_MAX_SLOTS)
		e = err_set(err, EINVAL,
			    "%s: %" PRIu32 " pairs of place and colour: expected %d at most",
			    n->file, n->nr_slots, NET_MAX_SLOTS);
	for (uint32_t i = 0; !e && i < n->nr_transitions; i++) {
		const struct net_transition *t = &n->transitions[i];

		if (!t->nr_modes)
			e = err_set(err, EINVAL, "%s:%u: transition \"%s\" has no mode", n->file,
				    t->line, t->name);
		nr_modes += t->nr_modes;
		if (!e && nr_modes > NET_MAX_MODES)
			e = err_set(err, EINVAL, "%s:%u: more than %d modes", n->file, t->line,
				    NET_MAX_MODES);
		for (uint32_t m = 0; !e && m < t->nr_modes; m++)
			e = check_counts(n, t, &t->modes[m], &moved, err)
				    ? -EINVAL
				    : check_mode(n, t, &t->modes[m], err);
	}
	if (!e && n->nr_probes > NET_MAX_PROBES)
		e = err_set(err, EINVAL, "%s:%u: more than %d probes", n->file,
			    n->probes[NET_MAX_PROBES].line, NET_MAX_PROBES);
	return e;
}
