/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_state: what the parts of the simulator share. For users: qpn_sim.h.
 *
 * qpn_sim_build.c makes it from a net, qpn_queue.c serves, qpn_sim.c moves tokens and fires.
 */
#ifndef ANALYZER_QPN_STATE_H
#define ANALYZER_QPN_STATE_H

#include "analyzer/models/num/rng.h"
#include "analyzer/models/sim/eventq.h"
#include "analyzer/models/sim/qpn_sim.h"

#define NO_TOKEN UINT32_MAX

struct token {
	double entered; /* model time at which it entered its place */
	double demand;	/* its service time there; below 0: not drawn yet */
	double rest;	/* preemptive: remaining service; PS: the virtual time at which it ends */
	uint32_t slot;
	uint32_t next; /* next token in its list */
};

struct token_list {
	uint32_t head, tail; /* NO_TOKEN: empty */
};

/*
 * This struct is a mode that needs at least `need` visible tokens, or room: at most `need` tokens.
 */
struct watch {
	uint32_t mode;
	int64_t need;
};

struct watch_range {
	uint32_t begin, end;
};

struct route {
	double until; /* cumulative probability */
	uint32_t mode;
	uint32_t moves_to; /* the moves_to of the mode */
};

/*
 * This many exponential times of service are drawn at once: the processor then computes several
 * logarithms side by side. A slot has its own random numbers, so each time keeps its bits.
 */
#define SLOT_DRAWS 8

struct slot_state {
	/* Each event touches these members. */
	uint32_t nr_queued, nr_lying; /* in the queue, and in the depository or ordinary place */
	double since;		      /* time up to which the sums are complete */
	struct slot_sums sums;
	const struct dist *service;
	struct rng rng;
	uint32_t phase;
	uint32_t nr_drawn;	  /* number of times in drawn[] that are not yet used */
	double drawn[SLOT_DRAWS]; /* exponential times of service; the last one is used next */
	uint32_t place, queue;	  /* queue NET_NONE: there is none, or its service takes no time */
	uint32_t level;		  /* level of priority within its queue */
	uint32_t nr_routes;	  /* above 0: a token that moves alone is sent on from here */
	const struct route *routes;
	bool fifo, capped, probed;
	struct watch_range visible, room; /* indexes in sim->watches */
	uint32_t nr_visible;
	struct token_list lying; /* used unless the place is fifo */
};

struct place_state {
	struct token_list lying; /* all colours together, for a fifo place */
	uint64_t nr;
	struct watch_range room;
};

struct ps_job {
	double tag; /* virtual time at which it ends */
	uint32_t seq, token;
};

struct queue_state {
	enum net_strategy strategy;
	uint32_t servers;
	/*
	 * number of free servers that serve until the end; 0 for processor sharing and preemption
	 */
	uint32_t nr_free;
	uint32_t nr_busy; /* for a preemptive queue */
	/* waiting tokens by priority; one list where there are no priorities */
	struct token_list *levels;
	uint32_t nr_levels;
	uint32_t nr_waiting;
	uint32_t *waiting; /* for a random queue */
	uint32_t cap_waiting;
	uint32_t *serving;   /* for a preemptive queue: the token by server */
	uint32_t clock;	     /* first of its own clocks: one (PS), or one per server (preemptive) */
	struct ps_job *jobs; /* heap ordered by tag */
	uint32_t nr_jobs, cap_jobs, seq;
	/* of processor sharing: the speed of virtual time by the number of jobs */
	double virtual_time, since, rate;
	struct rng rng;
};

/* This struct is a token that a mode makes. */
struct made {
	uint32_t slot;
	uint32_t origin; /* the index of the taken token that it continues, or NO_TOKEN */
};

struct mode_state {
	uint32_t transition;
	uint32_t missing; /* number of conditions that do not hold */
	uint32_t seat;	  /* position in its transition's list of enabled modes */
	double weight;
	const struct net_mode *net;
	/*
	 * If the mode takes one token and puts the same one, this is the slot to which the token
	 * goes; for any other mode it is NET_NONE.
	 */
	uint32_t moves_to;
	uint32_t *takes;    /* by token taken: its slot */
	struct made *makes; /* by token made */
	uint32_t nr_made, nr_taken;
	/*
	 * Used where there are probes. A list is NULL, and an entry NO_TOKEN, where there is
	 * nothing to note.
	 */
	uint32_t *model; /* by token made without origin: the token whose marks it gets a copy of */
	/* by taken token that ends: the taken token that gets its marks unless it has its own */
	uint32_t *heir;
};

struct transition_state {
	uint32_t *modes; /* the enabled modes */
	uint32_t nr, level, seat;
	double weight;
	bool timed, dirty, running;
	uint32_t clock;
	const struct dist *time;
	struct rng rng;
	uint32_t phase;
};

/* This struct holds the enabled transitions of one priority. */
struct level_state {
	uint32_t *items;
	uint32_t nr;
};

/* Levels of doubled numbers of tokens, the latest first, and whether one was followed by a fall. */
struct growth {
	uint64_t next; /* number of tokens at which to check again */
	uint64_t level;
	uint32_t low; /* least number since the last level */
	double times[4];
	unsigned nr; /* consecutive levels without a fall */
};

struct qpn_sim {
	const struct net *net;
	double now;
	struct eventq events;
	struct token *tokens;
	double *marks; /* token x probe: time of its start, below 0 none */
	uint32_t nr_tokens, cap_tokens, free_token;
	uint32_t nr_live;
	struct slot_state *slots;
	struct place_state *places;
	struct queue_state *queues;
	struct mode_state *modes;
	uint32_t nr_modes;
	struct transition_state *transitions;
	struct level_state *levels; /* highest priority first */
	uint32_t nr_levels, nr_enabled;
	uint32_t *dirty, nr_dirty; /* timed transitions to look at */
	uint32_t *clock_owner;	   /* by clock: queue, or transition + nr_queues */
	uint32_t nr_clocks;
	struct watch *watches;
	struct route *routes;
	size_t cap_sent;
	uint32_t *sent, nr_sent; /* tokens under way, in the order of their arrival */
	uint32_t *taken;	 /* scratch of a firing */
	double *kept;		 /* marks of the tokens taken, likewise */
	struct rng choice;
	uint64_t nr_events;
	uint64_t firings; /* in this instant */
	struct growth growth;
	struct qhist *residence, *times;
	struct probe_sums *probes;
	double collected; /* model time and events of the last collection */
	uint64_t nr_collected;
	int error;
};

static inline void token_append(struct qpn_sim *s, struct token_list *l, uint32_t t)
{
	s->tokens[t].next = NO_TOKEN;
	if (l->head == NO_TOKEN)
		l->head = t;
	else
		s->tokens[l->tail].next = t;
	l->tail = t;
}

static inline uint32_t token_shift(struct qpn_sim *s, struct token_list *l)
{
	uint32_t t = l->head;

	l->head = s->tokens[t].next;
	return t;
}

/*
 * Brings a slot's integrals up to now; before any change of its counts. A token often passes
 * several counts of one slot in one instant, and only the first of these changes has time to add.
 */
static inline void slot_touch(const struct qpn_sim *s, struct slot_state *x)
{
	double dt = s->now - x->since;

	if (dt == 0)
		return;
	x->sums.in_queue += x->nr_queued * dt;
	x->sums.population += ((double)x->nr_queued + x->nr_lying) * dt;
	x->since = s->now;
}

/*
 * qpn_origin.c: fills takes, makes, model and heir of a mode with its counts; 0 or -ENOMEM. taken:
 * the tokens a firing takes. Marks go to heirs; are kept as they are before tokens go on; are
 * copied to one that had no origin.
 */
int qpn_origin_build(struct mode_state *m, const struct net *n);
void qpn_origin_release(struct mode_state *m);
void qpn_marks_join(struct qpn_sim *s, const struct mode_state *m, const uint32_t *taken);
void qpn_marks_keep(struct qpn_sim *s, const struct mode_state *m, const uint32_t *taken);
void qpn_marks_copy(struct qpn_sim *s, uint32_t token, uint32_t model);

/*
 * These functions are in qpn_growth.c. qpn_growth_look() returns 0, or -EOVERFLOW if tokens pile up
 * without end; it is called when there are growth.next tokens.
 */
void qpn_growth_begin(struct qpn_sim *s);
int qpn_growth_look(struct qpn_sim *s);
/* Returns the tokens of a slot that wait: all but those at servers that never run out. */
uint64_t qpn_growth_backlog(const struct qpn_sim *s, uint32_t slot);

/* These functions are in qpn_sim.c. */
uint32_t qpn_token_new(struct qpn_sim *s);
/* Lets a token enter a place. */
void qpn_enter(struct qpn_sim *s, uint32_t token, uint32_t slot);
/* Is called when a mode's count of conditions that do not hold went to 0. */
void qpn_mode_enable(struct qpn_sim *s, uint32_t mode);

#endif
