/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_model: a software system at the level of its architecture, flat and ready to be
 * simulated.
 *
 * Components offer operations, each with a behaviour; instances of components run in containers
 * and call each other through their required roles; containers have resources; scenarios say who
 * uses what. Two readers make it: arch_read.h from YAML, pcm_import.h from Palladio's files.
 * What they nest (composites, subsystems, delegation) is resolved there: here a role leads to
 * the instance that does the work.
 *
 * Times are seconds, sizes bytes, amounts of work units of the resource's rate. Everything is
 * found by its index; ARCH_NONE is none. A model is immutable once arch_finish() took it, so
 * that any number of simulations may share it. The model owns all that its pointers lead to.
 * Source: Becker, Koziolek, Reussner: The Palladio component model (JSS 82, 2009); Noorshams,
 * Modeling and Prediction of I/O Performance in Virtualized Environments, 2015, section 8.
 */
#ifndef ANALYZER_ARCH_MODEL_H
#define ANALYZER_ARCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/arch/stoex.h"
#include "base/err.h"

#define ARCH_NONE UINT32_MAX

/* Where something stands, for errors and warnings. */
struct arch_place {
	uint32_t file; /* index in files */
	unsigned line;
};

/* A variable that gets a value. */
struct arch_set {
	uint32_t name; /* among the model's names */
	struct stoex *value;
	bool lazy; /* evaluated at each use, with the variables of the place that set it (INNER) */
};

struct arch_sets {
	struct arch_set *items;
	uint32_t nr;
};

enum arch_action_kind {
	ARCH_DEMAND,  /* work for a resource of the container, by type */
	ARCH_IO,      /* a request to the container's storage */
	ARCH_CALL,    /* of another instance's operation */
	ARCH_LOOP,    /* count times; over a collection where one is named */
	ARCH_BRANCH,  /* one body, by probability or by guard */
	ARCH_FORK,    /* bodies side by side */
	ARCH_ACQUIRE, /* a unit of a passive resource; waits, first come first served */
	ARCH_RELEASE,
	ARCH_SET,  /* variables of this call; RETURN goes to the caller */
	ARCH_BODY, /* a body once, with variables of its own beside those of this call */
};

enum arch_direction {
	ARCH_ANY,
	ARCH_READ,
	ARCH_WRITE,
};

struct arch_case {
	double probability;  /* of a probabilistic branch */
	struct stoex *guard; /* of a guarded one; the first that holds */
	uint32_t body;
};

struct arch_action {
	enum arch_action_kind kind;
	struct arch_place at;
	char *name; /* NULL where it has none */
	union {
		struct {
			uint32_t type; /* of resource */
			enum arch_direction direction;
			struct stoex *amount; /* units of work; at or above 0 */
			double mean;	      /* of it, or NaN; filled in by arch_finish() */
		} demand;
		struct {
			enum arch_direction direction;
			struct stoex *size;	  /* bytes */
			struct stoex *sequential; /* probability that it continues the last */
			uint32_t file_set;	  /* among file_sets, or ARCH_NONE */
			uint32_t measure;	  /* filled in by arch_finish() */
		} io;
		struct {
			uint32_t role;	      /* of the component; in a scenario an instance */
			uint32_t signature;   /* what is called */
			struct arch_sets in;  /* evaluated here, known there */
			struct arch_sets out; /* evaluated there (RETURN...), known here */
		} call;
		struct {
			struct stoex *count; /* rounded to a whole number at or above 0 */
			uint32_t collection; /* a name: its INNER stay the same in one turn */
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
			uint32_t nr_joined; /* the first of them are waited for, others not */
		} fork;
		struct {
			struct arch_sets in; /* known in the body, where they hide others */
			uint32_t body;
		} inner;
		uint32_t passive; /* of ARCH_ACQUIRE, ARCH_RELEASE: of the component */
		struct arch_sets set;
	};
};

struct arch_behaviour {
	struct arch_action *actions;
	uint32_t nr;
};

/* An operation of an interface. */
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

/* What a component requires; the interface is that of the calls made through it. */
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
	uint32_t *behaviour_of; /* by signature, or ARCH_NONE; filled in by arch_finish() */
};

struct arch_instance {
	char *name;
	struct arch_place at;
	uint32_t component;
	uint32_t container;
	uint32_t replicas;	/* 2 or more: this and those behind it, one of which takes a call */
	uint32_t *wires;	/* instance by role of the component; ARCH_NONE: not connected */
	struct arch_sets sets;	/* parameters of the component: known to its operations */
	uint32_t first_passive; /* filled in by arch_finish() */
	uint32_t first_measure; /* of its operations; the same */
};

enum arch_policy {
	ARCH_PS,    /* the servers shared by all */
	ARCH_FCFS,  /* first come, first served */
	ARCH_DELAY, /* as many servers as there are jobs */
};

/* A kind of resource: "cpu", "delay", "hdd" and what a model adds. */
struct arch_type {
	char *name;
};

struct arch_resource {
	char *name;
	struct arch_place at;
	uint32_t container; /* ARCH_NONE: a link */
	uint32_t type;
	enum arch_policy policy;
	uint32_t servers;
	struct stoex *rate;	  /* units of work per second and server */
	struct stoex *read_rate;  /* where set, of what reads (ARCH_READ) */
	struct stoex *write_rate; /* the same of what writes */
};

struct arch_container {
	char *name;
	struct arch_place at;
	uint32_t parent;  /* container it is nested in; its resources are found there too */
	uint32_t storage; /* of its io, among storages; ARCH_NONE: its parent's, or none */
};

/* Containers a link joins. Its resource is FCFS: bytes / throughput + latency. */
struct arch_link {
	uint32_t *containers;
	uint32_t nr;
	uint32_t resource; /* rate: the throughput in bytes per second */
	struct stoex *latency;
};

struct arch_file_set {
	char *name;
	struct stoex *size; /* bytes in all */
};

struct arch_storage_model; /* storage.h */

struct arch_storage {
	char *name;
	struct arch_place at;
	struct arch_storage_model *model;
	double list_length; /* n of the status list; 0: by eq. 8.1 */
	double concurrency; /* factor on requests in service */
};

struct arch_scenario {
	char *name;
	struct arch_place at;
	bool open;
	struct stoex *population; /* closed; a whole number, 1 at least */
	struct stoex *time;	  /* closed: between two rounds; open: between two arrivals */
	double mean_time;	  /* of it, or NaN; filled in by arch_finish() */
	uint32_t behaviour;	  /* its calls name instances */
	struct arch_sets *user;	  /* by instance: parameters its users bring; NULL: none */
};

/* What is measured: an operation of an instance, or an io action. Its name is unique. */
struct arch_measure {
	char *name;
	uint32_t instance;
	bool io;
};

struct arch_model {
	char **files;
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
	uint32_t nr_files, nr_types, nr_signatures, nr_behaviours, nr_components, nr_instances,
		nr_containers, nr_resources, nr_links, nr_file_sets, nr_storages, nr_scenarios;
	uint32_t nr_left_out;	 /* descriptions of failures that were not to be read */
	uint32_t nr_stereotypes; /* applications of stereotypes, which were left out */
	bool clips;		 /* a demand or latency below 0 takes no time: no error */
	bool needs_links;	 /* calls between containers that no link joins are errors */

	/* Filled in by arch_finish(). */
	struct arch_measure *measures;
	uint32_t nr_measures;
	uint32_t nr_passives;  /* of all instances */
	uint32_t *resource_of; /* container * nr_types + type */
	uint32_t *link_of;     /* container * nr_containers + container: among links */
};

/*
 * A model grows by these: room for one more, zeroed; its index is the count before. NULL without
 * memory. A pointer is good until the next of its kind is added.
 */
struct arch_action *arch_add_action(struct arch_behaviour *b);
struct arch_set *arch_add_set(struct arch_sets *s);
/* One more item in an array of nr items of this size; NULL without memory (items unchanged). */
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

/* "FILE:LINE: what" into err; -EINVAL. */
int arch_error(const struct arch_model *m, struct arch_place at, struct err *err, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));

/*
 * Fills in what is derived and checks what any model must keep to: every index leads somewhere,
 * calls end at an operation their target has, no cycle of calls, probabilities sum to 1 (within
 * 1e-6), each demand finds its resource, each io a storage, populations are 1 or more, at least one
 * scenario. 0; -EINVAL with file and line; -ENOMEM. To be called once, last.
 */
int arch_finish(struct arch_model *m, struct err *err);
void arch_release(struct arch_model *m);

/* The resource a demand of this type meets in a container or what it is nested in; ARCH_NONE. */
uint32_t arch_resource_for(const struct arch_model *m, uint32_t container, uint32_t type);
/* The same for io. */
uint32_t arch_storage_for(const struct arch_model *m, uint32_t container);

#endif
