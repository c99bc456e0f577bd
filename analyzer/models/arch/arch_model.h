/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_model: a model of a software system at the level of its architecture. It is flat and ready
 * to be simulated.
 *
 * Components offer operations, and each operation has a behaviour. Instances of components run in
 * containers and call each other through their required roles. Containers have resources.
 * Scenarios describe which users use what. Two readers make a model: arch_read.h from YAML, and
 * pcm_import.h from Palladio's files. The readers resolve nested structures (composites,
 * subsystems, delegation): in this model a role leads directly to the instance that does the work.
 *
 * Times are in seconds, sizes in bytes, and amounts of work in units of the resource's rate.
 * Objects are identified by their indices; ARCH_NONE means none. arch_finish() makes a model
 * immutable, so that any number of simulations may share it. The model owns everything to which
 * its pointers lead.
 *
 * Sources: Becker, Koziolek and Reussner, The Palladio component model for model-driven
 * performance prediction, JSS 82, 2009; Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, chapter 8.
 */
#ifndef ANALYZER_ARCH_MODEL_H
#define ANALYZER_ARCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/net/stoex.h"
#include "base/text/err.h"

#define ARCH_NONE UINT32_MAX

/* This struct is the location of an item in a file, for errors and warnings. */
struct arch_place {
	uint32_t file; /* index of the file */
	unsigned line;
};

/* This struct assigns a value to a variable. */
struct arch_set {
	uint32_t name; /* index among the model's names */
	struct stoex *value;
	bool lazy; /* evaluated at each use, with the variables of the scope that set it (INNER) */
};

struct arch_sets {
	struct arch_set *items;
	uint32_t nr;
};

enum arch_action_kind {
	ARCH_DEMAND,  /* work for a resource of the container, by type */
	ARCH_IO,      /* a request to the storage of the container */
	ARCH_CALL,    /* a call of another instance's operation */
	ARCH_LOOP,    /* repeats a body `count` times; over a collection if one is named */
	ARCH_BRANCH,  /* one of several bodies, by probability or by guard */
	ARCH_FORK,    /* bodies that run at the same time */
	ARCH_ACQUIRE, /* a unit of a passive resource; waits in first-come-first-served order */
	ARCH_RELEASE,
	ARCH_SET, /* sets variables of this call; RETURN goes to the caller */
	/* runs a body once, with variables of its own in addition to those of this call */
	ARCH_BODY,
};

enum arch_direction {
	ARCH_ANY,
	ARCH_READ,
	ARCH_WRITE,
};

struct arch_case {
	double probability; /* for a branch by probability */
	/* for a branch by guard; the first branch whose guard holds is taken */
	struct stoex *guard;
	uint32_t body;
};

struct arch_action {
	enum arch_action_kind kind;
	struct arch_place at;
	char *name; /* NULL if the action has no name */
	union {
		struct {
			uint32_t type; /* type of the resource */
			enum arch_direction direction;
			struct stoex *amount; /* units of work, at least 0 */
			double mean;	      /* mean of the amount, or NaN; set by arch_finish() */
		} demand;
		struct {
			enum arch_direction direction;
			struct stoex *size; /* in bytes */
			/* probability that the request continues the last one */
			struct stoex *sequential;
			uint32_t file_set; /* index among file_sets, or ARCH_NONE */
			uint32_t measure;  /* set by arch_finish() */
		} io;
		struct {
			uint32_t role;	     /* role of the component; in a scenario an instance */
			uint32_t signature;  /* the operation that is called */
			struct arch_sets in; /* evaluated here, for use by the callee */
			/* evaluated by the callee (RETURN...), for use here */
			struct arch_sets out;
		} call;
		struct {
			struct stoex *count; /* rounded to a whole number of at least 0 */
			/* a name; its INNER values stay the same during one turn */
			uint32_t collection;
			uint32_t body;
		} loop;
		struct {
			struct arch_case *cases;
			uint32_t nr;
			bool guarded;
		} branch;
		struct {
			uint32_t *bodies;
			uint32_t nr;
			/* the first nr_joined bodies are waited for, the others are not */
			uint32_t nr_joined;
		} fork;
		struct {
			/* known in the body, where they hide others of the same name */
			struct arch_sets in;
			uint32_t body;
		} inner;
		uint32_t passive; /* of the component, for ARCH_ACQUIRE and ARCH_RELEASE */
		struct arch_sets set;
	};
};

/*
 * Returns the i-th behaviour inside an action, in the order of the file, or ARCH_NONE where there
 * are fewer.
 */
static inline uint32_t arch_action_body(const struct arch_action *a, uint32_t i)
{
	switch (a->kind) {
	case ARCH_LOOP:
		return i ? ARCH_NONE : a->loop.body;
	case ARCH_BODY:
		return i ? ARCH_NONE : a->inner.body;
	case ARCH_BRANCH:
		return i < a->branch.nr ? a->branch.cases[i].body : ARCH_NONE;
	case ARCH_FORK:
		return i < a->fork.nr ? a->fork.bodies[i] : ARCH_NONE;
	default:
		return ARCH_NONE;
	}
}

struct arch_behaviour {
	struct arch_action *actions;
	uint32_t nr;
};

/* This struct is an operation of an interface. */
struct arch_signature {
	char *name;
	char *interface;
};

struct arch_operation {
	uint32_t signature;
	uint32_t behaviour;
};

struct arch_passive {
	char *name;
	struct stoex *capacity;
};

/*
 * This struct is a required role of a component. The interface is that of the calls made through
 * the role.
 */
struct arch_role {
	char *name;
};

struct arch_component {
	char *name;
	struct arch_place at;
	struct arch_operation *operations;
	uint32_t nr_operations;
	struct arch_role *roles;
	uint32_t nr_roles;
	struct arch_passive *passives;
	uint32_t nr_passives;
	uint32_t *behaviour_of; /* by signature, or ARCH_NONE; set by arch_finish() */
};

struct arch_instance {
	char *name;
	struct arch_place at;
	uint32_t component;
	uint32_t container;
	/* 2 or more: this instance and those after it, one of which takes each call */
	uint32_t replicas;
	/* instance by role of the component; ARCH_NONE means not connected */
	uint32_t *wires;
	struct arch_sets sets;	/* parameters of the component, known to its operations */
	uint32_t first_passive; /* set by arch_finish() */
	/* index of the measure of its first operation; set by arch_finish() */
	uint32_t first_measure;
};

enum arch_policy {
	ARCH_PS,    /* processor sharing: all jobs share the servers */
	ARCH_FCFS,  /* first come, first served */
	ARCH_DELAY, /* delay: as many servers as there are jobs */
};

/* This struct is a kind of resource: "cpu", "delay", "hdd" or one that a model adds. */
struct arch_type {
	char *name;
};

struct arch_resource {
	char *name;
	struct arch_place at;
	uint32_t container; /* ARCH_NONE means that it belongs to a link */
	uint32_t type;
	enum arch_policy policy;
	uint32_t servers;
	struct stoex *rate;	  /* units of work per second and server */
	struct stoex *read_rate;  /* if set, the rate of reads (ARCH_READ) */
	struct stoex *write_rate; /* if set, the rate of writes */
};

struct arch_container {
	char *name;
	struct arch_place at;
	/* the container in which it is nested; the resources of the parent are available too */
	uint32_t parent;
	/* storage for its io, among storages; ARCH_NONE: that of its parent, or none */
	uint32_t storage;
};

/*
 * This struct is a link with the containers that it joins. The resource of the link is FCFS with
 * the service time bytes / throughput + latency.
 */
struct arch_link {
	uint32_t *containers;
	uint32_t nr;
	uint32_t resource; /* its rate is the throughput in bytes per second */
	struct stoex *latency;
};

struct arch_file_set {
	char *name;
	struct stoex *size; /* total size in bytes */
};

struct arch_storage_model; /* storage.h */

struct arch_storage {
	char *name;
	struct arch_place at;
	struct arch_storage_model *model;
	double list_length; /* length n of the status list; 0 means by equation 8.1 */
	double concurrency; /* factor of the number of requests in service */
};

struct arch_scenario {
	char *name;
	struct arch_place at;
	bool open;
	struct stoex *population; /* for closed scenarios: a whole number of at least 1 */
	/* closed: time between two rounds; open: time between two arrivals */
	struct stoex *time;
	double mean_time;	/* mean of `time`, or NaN; set by arch_finish() */
	uint32_t behaviour;	/* the calls of this behaviour name instances */
	struct arch_sets *user; /* by instance: parameters that users provide; NULL means none */
};

/*
 * This struct is an object of measurement: an operation of an instance, or an io action. Its name
 * is unique.
 */
struct arch_measure {
	char *name;
	uint32_t instance;
	bool io;
};

struct arch_model {
	char **files;
	char **sources; /* paths of the models of storages; their content is part of the model */
	struct stoex_names names;
	struct arch_type *types;
	struct arch_signature *signatures;
	struct arch_behaviour *behaviours;
	struct arch_component *components;
	struct arch_instance *instances;
	struct arch_container *containers;
	struct arch_resource *resources;
	struct arch_link *links;
	struct arch_file_set *file_sets;
	struct arch_storage *storages;
	struct arch_scenario *scenarios;
	uint32_t nr_files, nr_sources, nr_types, nr_signatures, nr_behaviours, nr_components,
		nr_instances, nr_containers, nr_resources, nr_links, nr_file_sets, nr_storages,
		nr_scenarios;
	/* number of descriptions of failures that were left out on request */
	uint32_t nr_left_out;
	uint32_t nr_stereotypes; /* number of applications of stereotypes that were left out */
	/* a demand or latency below 0 takes no time, and is not an error */
	bool clips;
	bool needs_links; /* a call between containers that no link joins is an error */

	/* The following members are set by arch_finish(). */
	struct arch_measure *measures;
	uint32_t nr_measures;
	uint32_t nr_passives;  /* number of passive resources of all instances */
	uint32_t *resource_of; /* container * nr_types + type */
	uint32_t *link_of;     /* container * nr_containers + container: among links */
};

/*
 * The functions below add an item to a model. They return a pointer to a zeroed item, whose index
 * is the previous count, or NULL if there is no memory. The pointer is valid until the next item
 * of its kind is added.
 */
struct arch_action *arch_add_action(struct arch_behaviour *b);
struct arch_set *arch_add_set(struct arch_sets *s);
/*
 * Adds an item to an array of nr items of this size. Returns NULL if there is no memory; items is
 * then unchanged.
 */
void *arch_grow(void *items, uint32_t *nr, size_t size);
#define ARCH_ADD(array, nr)                                                 \
	({                                                                  \
		void *grown_ = arch_grow((array), &(nr), sizeof(*(array))); \
		if (grown_)                                                 \
			(array) = grown_;                                   \
		grown_ ? &(array)[(nr)-1] : NULL;                           \
	})

uint32_t arch_find_type(const struct arch_model *m, const char *name);
uint32_t arch_find_signature(const struct arch_model *m, const char *interface, const char *name);
uint32_t arch_find_container(const struct arch_model *m, const char *name);
uint32_t arch_find_instance(const struct arch_model *m, const char *name);
uint32_t arch_find_storage(const struct arch_model *m, const char *name);
uint32_t arch_find_file_set(const struct arch_model *m, const char *name);

/* Writes "FILE:LINE: what" to err and returns -EINVAL. */
int arch_error(const struct arch_model *m, struct arch_place at, struct err *err, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

/*
 * Computes the derived members and checks the invariants of a model: every index leads to an
 * object, calls end at an operation that their target has, calls have no cycles, probabilities sum
 * to 1 (within 1e-6), each demand finds its resource and each io its storage, populations are at
 * least 1, and there is at least one scenario. Returns 0, -EINVAL with file and line, or -ENOMEM.
 * It must be called once, after everything was added.
 */
int arch_finish(struct arch_model *m, struct err *err);
void arch_release(struct arch_model *m);

/*
 * Returns the resource that serves a demand of this type in a container or in one that contains
 * it, or ARCH_NONE.
 */
uint32_t arch_resource_for(const struct arch_model *m, uint32_t container, uint32_t type);
/* Finds the storage that serves io in a container, as arch_resource_for() finds a resource. */
uint32_t arch_storage_for(const struct arch_model *m, uint32_t container);

#endif
