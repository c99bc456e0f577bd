/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_parts: the steps of reading a Palladio model, in their order.
 *
 * Each function returns 0, or -errno with a message in im->err.
 */
#ifndef ANALYZER_PCM_PARTS_H
#define ANALYZER_PCM_PARTS_H

#include "analyzer/models/arch/pcm/pcm_xml.h"

/*
 * Adds the types of resources: Palladio's own types by their ids, and others from the files that
 * define them.
 */
int pcm_types_init(struct pcm_importer *im);
/* Finds the type to which a reference refers. */
int pcm_resource_type(struct pcm_importer *im, const xmlNode *node, const char *reference,
		      uint32_t *type);
/*
 * Finds the type whose resources offer a resource interface, and the effect of the signature that
 * is called.
 */
int pcm_resource_call(struct pcm_importer *im, const xmlNode *call, uint32_t *type,
		      enum arch_direction *direction);
int pcm_policy(struct pcm_importer *im, const xmlNode *spec, enum arch_policy *policy);

/* Reads containers, resources and links. */
int pcm_read_environment(struct pcm_importer *im);

/* Returns the component of an element, and reads it if it has not been read yet. */
int pcm_component(struct pcm_importer *im, const xmlNode *node, uint32_t *component);
/* Returns the signature of an element; its name includes that of its interface. */
int pcm_signature(struct pcm_importer *im, const xmlNode *node, uint32_t *signature);
/* Returns the role of a component that belongs to an element, or ARCH_NONE. */
uint32_t pcm_role(const struct pcm_importer *im, const xmlNode *role);
/* Reads the actions between the Start and the Stop of a behaviour. */
int pcm_read_steps(struct pcm_importer *im, const xmlNode *node, uint32_t *behaviour);
/*
 * Follows successors from Start to Stop. *chain becomes the elements in this order; the caller
 * frees it.
 */
int pcm_chain(struct pcm_importer *im, const xmlNode *node, const char *step, const char *start,
	      const char *stop, const char *successor, const xmlNode ***chain, uint32_t *nr);
/* Adds a behaviour and returns its index. */
int pcm_add_behaviour(struct pcm_importer *im, uint32_t *behaviour);
/*
 * Adds a named action with its location to a behaviour. Returns NULL with a message in im->err if
 * there is no memory.
 */
struct arch_action *pcm_add_action(struct pcm_importer *im, uint32_t behaviour, const xmlNode *at,
				   enum arch_action_kind kind);
int pcm_probability(struct pcm_importer *im, const xmlNode *node, double *probability);

/* Reads instances with their containers, wires and parameters. */
int pcm_read_system(struct pcm_importer *im);
/* Finds the instance behind a role that the system provides. */
int pcm_provider(struct pcm_importer *im, const xmlNode *at, const xmlNode *role,
		 uint32_t *instance);

/* Reads scenarios. */
int pcm_read_usage(struct pcm_importer *im);

#endif
