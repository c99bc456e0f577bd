/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_parts: the steps of reading a Palladio model, in their order.
 *
 * Each function returns 0, or -errno with a message in im->err.
 */
#ifndef ANALYZER_PCM_PARTS_H
#define ANALYZER_PCM_PARTS_H

#include <stdio.h>

#include "analyzer/models/arch/pcm/pcm_xml.h"

/*
 * Adds the types of resources: Palladio's own types by their ids, and others from the files that
 * define them.
 */
int pcm_types_init(struct pcm_importer *im);
/* Finds the type to which a reference leads, as a uint32_t. */
int pcm_resource_type(struct pcm_importer *im, const xmlNode *node, const char *reference,
		      void *type);
/*
 * Reads into a struct arch_action the type whose resources offer the interface of a role, and the
 * effect of the signature that is called.
 */
int pcm_resource_call(struct pcm_importer *im, const xmlNode *call, const char *reference,
		      void *action);

/* Reads containers, resources and links. */
int pcm_read_environment(struct pcm_importer *im);

/*
 * Reads the stereotypes of containers: storages, file sets, and which container has which storage.
 * Call this function after the containers were read, and before the components are.
 */
int pcm_read_storages(struct pcm_importer *im);
/* Makes a request of the demand of an internal action if a stereotype of the action says so. */
int pcm_storage_request(struct pcm_importer *im, const xmlNode *internal, struct arch_action *a);
/* Refuses an internal action whose stereotype made a request of none of its demands. */
int pcm_storage_check(struct pcm_importer *im, const xmlNode *internal, const char *name,
		      void *unused);
/* Refuses the two stereotypes where nothing reads them; to be called when all else was read. */
int pcm_check_stereotypes(struct pcm_importer *im);
/* Writes a text as a quoted scalar of YAML. */
void pcm_quote(FILE *out, const char *text);
/*
 * Writes the feature configuration of this file (Configuration, by Palladio's feature models) as a
 * YAML mapping of arch_read.h's features. `at` is the element that names the file.
 */
int pcm_features(struct pcm_importer *im, const xmlNode *at, const char *file, FILE *out);

/* Returns the component of an element, and reads it if it has not been read yet. */
int pcm_component(struct pcm_importer *im, const xmlNode *node, uint32_t *component);
/*
 * Reads the signature to which a reference leads, as a uint32_t; its name includes that of its
 * interface.
 */
int pcm_signature(struct pcm_importer *im, const xmlNode *node, const char *reference,
		  void *signature);

/* This struct is one type of action: its fields are those of a struct arch_action. */
struct pcm_step {
	const char *type; /* xsi:type; NULL at the end of a table */
	enum arch_action_kind kind;
	/*
	 * The element becomes several actions of the model. Its readers get the index of the
	 * behaviour in place of an action.
	 */
	bool many;
	const struct pcm_field *fields;
};

/*
 * This struct is a kind of behaviour: the names of its elements, and the actions that it may hold.
 */
struct pcm_steps {
	const char *element, *start, *stop, *successor;
	const char *ignored; /* attributes that are allowed, and not read */
	const struct pcm_step *known;
};

extern const struct pcm_steps pcm_seff; /* the behaviour of a component */

/* Reads the actions between the Start and the Stop into a new behaviour. */
int pcm_read_steps(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		   uint32_t *behaviour);
/* Reads an attribute of 0 to 1 as a double. */
int pcm_probability(struct pcm_importer *im, const xmlNode *node, const char *name, void *out);

/* Reads instances with their containers, wires and parameters. */
int pcm_read_system(struct pcm_importer *im);
/* Finds the instance behind the role of the system to which a reference leads, as a uint32_t. */
int pcm_provider(struct pcm_importer *im, const xmlNode *node, const char *reference,
		 void *instance);

/* Reads scenarios. */
int pcm_read_usage(struct pcm_importer *im);

#endif
