/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_state: declares the state of a simulation, which the parts of arch_sim share. All others use
 * arch_sim.h.
 */
#ifndef ANALYZER_ARCH_SIM_STATE_H
#define ANALYZER_ARCH_SIM_STATE_H

#include "analyzer/models/arch/arch_sim.h"
#include "analyzer/models/arch/storage.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/sim/eventq.h"

struct frame;

struct variable {
	uint32_t name;
	struct stoex_value value;
	const struct stoex *lazy; /* evaluated at each use in scope `in`; if NULL, value is used */
	struct frame *in;	  /* holds a reference */
	bool result;		  /* is returned to the caller */
};

/*
 * The variables of one call, with a count of references. An overlay holds the values that are
 * fixed during one turn over a collection; it is searched first.
 */
struct frame {
	uint32_t refs, nr;
	size_t cap;
	bool overlay;
	struct frame *below; /* holds a reference */
	struct variable *items;
	struct frame *next_free;
};

enum activation_kind {
	IN_BODY,
	IN_LOOP,
	IN_CALL,
	IN_ROUND, /* the lowest activation of a user */
	IN_FORK,  /* the lowest activation of a branch of a fork */
};

struct activation {
	enum activation_kind kind;
	uint32_t behaviour, pc;
	uint32_t instance; /* ARCH_NONE for a scenario */
	struct frame *frame;
	uint64_t turns;			  /* remaining turns of a loop */
	const struct arch_action *action; /* the loop or the call */
	double begin;
	uint32_t measure;
	uint32_t caller; /* instance, or ARCH_NONE */
	bool returning;	 /* the results are on their way back over the link */
};

enum waiting {
	RUNNING,
	THINKING,
	PAUSING,
	IN_SERVICE, /* at an FCFS or delay resource */
	IN_IO,
	QUEUED,	 /* in a heap or a queue, without an event of its own */
	JOINING, /* waits for the branches of a fork */
};

struct thread {
	struct activation *stack;
	uint32_t nr, cap;
	uint32_t scenario, parent; /* parent is the thread that waits for this one, or ARCH_NONE */
	uint32_t pending;	   /* number of joined branches of a fork that have not ended */
	uint32_t next;		   /* next thread in a queue or in the free list */
	/* the resource, passive resource or storage at which the thread is */
	uint32_t resource;
	enum waiting state;
	double demand; /* seconds of work, in an FCFS queue */
	double since;  /* time of arrival there */
	uint32_t measure;
};

struct queue {
	uint32_t first, last;
};

struct resource {
	const struct arch_resource *spec;
	struct eventq jobs; /* for PS: by the virtual time at which they end */
	struct queue queue; /* for FCFS */
	double virtual;	    /* for PS: work that each job has received */
	double last;	    /* time of the last update of the sums */
	uint32_t nr;	    /* number of jobs */
	double busy, in_system, done;
};

struct passive {
	uint32_t capacity, held, nr_waiting;
	struct queue queue;
	double last, sum_held, sum_waiting;
};

struct storage_level {
	double last, sum;
	uint32_t nr;
	uint64_t asked, outside; /* values at the last collection */
};

#define SIM_MAX_NESTED 4 /* collections inside collections */

/*
 * Whether a name is a size in bytes, and the names that hold the number of elements of that size.
 */
struct name_size {
	bool is_size;
	uint32_t counts[SIM_MAX_NESTED]; /* ARCH_NONE means that there is no such name */
	uint32_t nr_counts;
};

struct arch_sim {
	const struct arch_model *m;
	struct eventq events;
	double now, last_collect;
	uint64_t nr_events, steps;
	double step_time;

	struct thread **threads;
	uint32_t nr_threads, free_thread, nr_live;
	size_t cap_threads;
	struct frame *free_frames;

	/*
	 * arch_load uses this member: it is the only open scenario of a simulation without waiting,
	 * otherwise ARCH_NONE.
	 */
	uint32_t alone;
	bool closed_doors; /* no more arrivals */
	double *work;	   /* by resource: total demand of arrived jobs, in seconds of service */

	struct resource *resources;
	struct passive *passives;
	struct storage_state **storages;
	struct storage_level *storage_levels;
	struct rng *rngs;	 /* by instance, then by scenario */
	struct name_size *sizes; /* by name */

	double *controls; /* as in struct arch_sample, since the last collection */
	struct arch_times *times;
	struct qhist *hists;
	uint32_t nr_times;

	/* is called at each end of a round, an operation or an io; NULL except in tests */
	void (*watch)(void *ctx, uint32_t index, double begin, double end);
	void *watch_ctx;
	struct err *err; /* belongs to the present run; never NULL */
	struct err own_err;
};

/* These functions are in sim_frame.c. Each returns 0 or -errno with a message in s->err. */
struct frame *frame_new(struct arch_sim *s, struct frame *below); /* below is counted here */
struct frame *frame_hold(struct frame *f);
void frame_drop(struct arch_sim *s, struct frame *f);
struct frame *frame_copy(struct arch_sim *s, struct frame *f);
/*
 * Assigns sets, evaluated in scope `in`, to f. *bytes (may be NULL) becomes the size of the
 * message on a link.
 */
int frame_assign(struct arch_sim *s, struct frame *f, struct frame *in, const struct arch_sets *x,
		 struct rng *rng, double *bytes);
/* Executes ARCH_SET, and computes the size of its variables in a message back to the caller. */
int frame_set(struct arch_sim *s, struct frame *f, const struct arch_sets *x, struct rng *rng);
int frame_result_bytes(struct arch_sim *s, struct frame *f, struct rng *rng, double *bytes);
int frame_fix_collection(struct arch_sim *s, struct frame *overlay, uint32_t collection,
			 struct rng *rng);
int frame_number(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng,
		 double *v);
int frame_bool(struct arch_sim *s, struct frame *f, const struct stoex *e, struct rng *rng,
	       bool *v);
void frame_free_all(struct arch_sim *s);

/*
 * These functions are in sim_resource.c. The arrive functions return 1 if the thread continues at
 * once, 0 if it waits, or -errno.
 */
void resource_touch(struct arch_sim *s, uint32_t resource);
int resource_arrive(struct arch_sim *s, uint32_t resource, uint32_t thread, double demand);
/* Ends the service of a thread at an FCFS or delay resource. */
int resource_leave(struct arch_sim *s, uint32_t thread);
/* Handles the clock event of a PS resource. *thread becomes the thread whose job ends. */
int resource_clock(struct arch_sim *s, uint32_t resource, uint32_t *thread);
void passive_touch(struct arch_sim *s, uint32_t passive);
int passive_acquire(struct arch_sim *s, uint32_t passive, uint32_t thread);
/* Returns the thread that gets the unit now, or ARCH_NONE. */
uint32_t passive_release(struct arch_sim *s, uint32_t passive);

/* These functions are in arch_sim.c. */
int sim_no_memory(struct arch_sim *s);
void sim_record(struct arch_sim *s, uint32_t index, double begin);
/* Returns a new thread, or ARCH_NONE with a message in s->err. */
uint32_t thread_new(struct arch_sim *s);

/* These functions are in sim_action.c, and decide what a thread does next. */
#define WAITS 0
#define GOES  1
/*
 * Returns WAITS, GOES or -errno. The caller counts the frame of a, and the function takes it over.
 */
int thread_push(struct arch_sim *s, struct thread *t, struct activation a);
void thread_pop(struct arch_sim *s, struct thread *t);
int thread_pause(struct arch_sim *s, uint32_t thread, double time, enum waiting state);
int thread_number(struct arch_sim *s, struct thread *t, const struct stoex *e, double *v);
/* Begins the next turn of a loop. */
int thread_turn(struct arch_sim *s, struct thread *t);
int thread_perform(struct arch_sim *s, uint32_t thread, const struct arch_action *x);
/* Returns the link that a call from one instance to another passes, or ARCH_NONE. */
uint32_t sim_link(const struct arch_sim *s, uint32_t from, uint32_t to);
int sim_pass_link(struct arch_sim *s, uint32_t thread, uint32_t link, double bytes);

static inline struct activation *thread_top(struct thread *t)
{
	return &t->stack[t->nr - 1];
}

static inline struct rng *sim_rng(struct arch_sim *s, const struct thread *t,
				  const struct activation *a)
{
	return &s->rngs[a->instance != ARCH_NONE ? a->instance : s->m->nr_instances + t->scenario];
}

#endif
