/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcm_parts: the steps of reading a Palladio model, in their order.
 *
 * Each gives 0, or -errno with a line in im->err.
 */
#ifndef ANALYZER_PCM_PARTS_H
#define ANALYZER_PCM_PARTS_H

#include "analyzer/models/arch/pcm/pcm_xml.h"

/* Kinds of resource: Palladio's own by their ids, others from the files they are defined in. */
int pcm_types_init(struct pcm_importer *im);
/* The type that a reference names. */
int pcm_resource_type(struct pcm_importer *im, const xmlNode *node, const char *reference,
		      uint32_t *type);
/* The type whose resources a resource interface is offered by, and what its signature does. */
int pcm_resource_call(struct pcm_importer *im, const xmlNode *call, uint32_t *type,
		      enum arch_direction *direction);
int pcm_policy(struct pcm_importer *im, const xmlNode *spec, enum arch_policy *policy);

/* Containers, resources, links. */
int pcm_read_environment(struct pcm_importer *im);

/* The component of an element, read where it was not yet. */
int pcm_component(struct pcm_importer *im, const xmlNode *node, uint32_t *component);
/* The signature of an element, its interface's name with it. */
int pcm_signature(struct pcm_importer *im, const xmlNode *node, uint32_t *signature);
/* The role of a component that an element is, or ARCH_NONE. */
uint32_t pcm_role(const struct pcm_importer *im, const xmlNode *role);
/* All that happens between the Start and the Stop of a behaviour. */
int pcm_read_steps(struct pcm_importer *im, const xmlNode *node, uint32_t *behaviour);
/* Follows successors from Start to Stop: the elements in their order; *chain is for free(). */
int pcm_chain(struct pcm_importer *im, const xmlNode *node, const char *step, const char *start,
	      const char *stop, const char *successor, const xmlNode ***chain, uint32_t *nr);
/* One more behaviour; its index. */
int pcm_add_behaviour(struct pcm_importer *im, uint32_t *behaviour);
/* One more action of a behaviour, named and placed; NULL without memory, said in im->err. */
struct arch_action *pcm_add_action(struct pcm_importer *im, uint32_t behaviour, const xmlNode *at,
				   enum arch_action_kind kind);
int pcm_probability(struct pcm_importer *im, const xmlNode *node, double *probability);

/* Instances and their containers, wires and parameters. */
int pcm_read_system(struct pcm_importer *im);
/* The instance behind a role the system provides. */
int pcm_provider(struct pcm_importer *im, const xmlNode *at, const xmlNode *role,
		 uint32_t *instance);

/* Scenarios. */
int pcm_read_usage(struct pcm_importer *im);

#endif
