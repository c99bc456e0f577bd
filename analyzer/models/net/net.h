/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net: a queueing Petri net (Bause, Queueing Petri Nets, 1993; Kounev and Dutz, QPME, 2009) in the
 * form that its solvers use.
 *
 * Places hold coloured tokens. In a queueing place a token first goes to a queue and is served;
 * then it lies in the depository, where transitions see it. Several places may share a queue. A
 * transition fires in one of its modes, which takes tokens and puts tokens. The tokens of one
 * colour in one place form a slot: arcs, services and results refer to slots and not to places.
 *
 * A net is made by net_read() or qpe_import() and does not change afterwards, so that many
 * simulations may share it.
 */
#ifndef ANALYZER_NET_H
#define ANALYZER_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/num/dist.h"
#include "base/data/fields.h"
#include "base/text/err.h"

/* These limits refuse files that would need all memory. */
#define NET_MAX_SLOTS	 10000
#define NET_MAX_MODES	 10000
#define NET_MAX_PROBES	 64
#define NET_MAX_TOKENS	 10000000
#define NET_MAX_COUNT	 1000000 /* tokens of one arc */
#define NET_MAX_SERVERS	 1000000
#define NET_MAX_PRIORITY 1000
#define NET_NONE	 UINT32_MAX

enum net_strategy {
	NET_FCFS,
	NET_PS, /* egalitarian; with k servers each token is served at rate min(1, k/n) */
	NET_IS, /* infinite servers */
	/* the highest priority first; a service that has begun is not interrupted */
	NET_PRIORITY,
	/* the highest priority first, at once; an interrupted service resumes later */
	NET_PREEMPTIVE,
	NET_RANDOM,
};

struct net_queue {
	char *name;
	enum net_strategy strategy;
	uint32_t servers; /* 1 or more; without meaning for NET_IS */
	bool immediate;	  /* service takes no time: tokens go straight to the depository */
	unsigned line;
};

struct net_place {
	char *name;
	uint32_t queue;	   /* NET_NONE: an ordinary place */
	bool fifo;	   /* only the token that came first may leave */
	uint64_t capacity; /* for all colours together; 0: unlimited */
	uint32_t first_slot, nr_slots;
	unsigned line;
};

struct net_slot {
	uint32_t place, colour;
	uint64_t tokens;     /* in the initial marking */
	uint64_t capacity;   /* 0: unlimited */
	uint32_t priority;   /* a higher priority is served first */
	struct dist service; /* DIST_NONE in ordinary places and immediate queues */
	unsigned line;
};

struct net_arc {
	uint32_t slot, count;
};

struct net_mode {
	char *name;
	double weight; /* above 0 */
	struct net_arc *take, *put;
	uint32_t nr_take, nr_put;
	unsigned line;
};

struct net_transition {
	char *name;
	uint32_t priority; /* for immediate transitions; a higher priority fires first */
	double weight;	   /* among enabled transitions of its priority; above 0 */
	bool timed;
	struct dist time; /* DIST_NONE for an immediate transition */
	struct net_mode *modes;
	uint32_t nr_modes;
	unsigned line;
};

/* Measures the time from entering or leaving one slot to entering or leaving another. */
struct net_probe {
	char *name;
	uint32_t from_place, to_place;
	uint32_t from_colour, to_colour;
	bool from_leave, to_leave;
	unsigned line;
};

struct net {
	char *file;	   /* path, for errors */
	double run_length; /* from the configuration in a .qpe file; 0: none */
	char *name;
	char **colours;
	uint32_t nr_colours;
	struct net_queue *queues;
	uint32_t nr_queues;
	struct net_place *places;
	uint32_t nr_places;
	struct net_slot *slots; /* the slots of one place are consecutive */
	uint32_t nr_slots;
	struct net_transition *transitions;
	uint32_t nr_transitions;
	struct net_probe *probes;
	uint32_t nr_probes;
};

struct net_setting {
	const char *name;
	double value;
};

/*
 * Reads a YAML model (docs/qpn.schema.json), with parameters changed by settings. Returns 0;
 * -EINVAL with "FILE:LINE: what" for anything that is not a net; or -errno where the file cannot be
 * read. The caller frees the net.
 */
int net_read(struct net **out, const char *path, const struct net_setting *settings,
	     size_t nr_settings, struct err *err);
/* Reads a net from a string as net_read() does from a file. name stands for the path in errors. */
int net_parse(struct net **out, const char *name, const char *text,
	      const struct net_setting *settings, size_t nr_settings, struct err *err);
void net_free(struct net *n);
/* This table holds the keys of a YAML model. */
extern const struct fields net_table;

/* Returns NET_NONE where there is no such place. */
uint32_t net_find_place(const struct net *n, const char *name);
uint32_t net_find_colour(const struct net *n, const char *name);
uint32_t net_find_queue(const struct net *n, const char *name);
uint32_t net_find_slot(const struct net *n, uint32_t place, uint32_t colour);
/* No immediate mode takes a token of the slot by itself. */
#define NET_NO_RANK (-1)
/*
 * Returns by slot the highest priority of an immediate mode that takes one token there and nothing
 * else, and finds room wherever it puts tokens; NET_NO_RANK where there is none. The caller frees
 * it; NULL if memory is short. O(modes).
 */
int64_t *net_ranks(const struct net *n);
/*
 * Returns true if the transition never takes a token of a slot of this rank, because a mode of a
 * higher priority takes each one first.
 */
bool net_is_outranked(const struct net_transition *t, int64_t rank);

/*
 * Readers of model files use these functions. The functions take over nothing and copy names; they
 * return NET_NONE if memory is short.
 */
struct net *net_new(const char *file);
uint32_t net_add_colour(struct net *n, const char *name);
uint32_t net_add_queue(struct net *n, const char *name, unsigned line);
uint32_t net_add_place(struct net *n, const char *name, unsigned line);
/* Adds a slot to the place that was added last. */
uint32_t net_add_slot(struct net *n, uint32_t colour, unsigned line);
struct net_transition *net_add_transition(struct net *n, const char *name, unsigned line);
struct net_mode *net_add_mode(struct net_transition *t, const char *name, unsigned line);
int net_add_arc(struct net_arc **arcs, uint32_t *nr, uint32_t slot, uint32_t count);
struct net_probe *net_add_probe(struct net *n, const char *name, unsigned line);

/*
 * Checks the rules for both readers: services where there are queues, priorities, arcs, limits.
 * Returns 0 or -EINVAL with file and line.
 */
int net_validate(const struct net *n, struct err *err);

#endif
