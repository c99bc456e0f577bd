// SPDX-License-Identifier: Apache-2.0
/* This file imports types of resources, containers with their resources, and links. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

/*
 * This table holds the ids of types and interfaces in Palladio.resourcetype, which every
 * installation has.
 */
static const struct {
	const char *name, *type, *interface;
} standard[] = {
	{ "cpu", "_oro4gG3fEdy4YaaT-RYrLQ", "_tw_Q8E5CEeCUKeckjJ_n-w" },
	{ "hdd", "_BIjHoQ3KEdyouMqirZIhzQ", "_xXv8QE5CEeCUKeckjJ_n-w" },
	{ "delay", "_nvHX4KkREdyEA_b89s7q9w", NULL },
	{ "lan", "_o3sScH2AEdyH8uerKnHYug", NULL },
};

/* These are the ids of the signatures of the interfaces above, and their directions. */
static const struct {
	const char *id;
	enum arch_direction direction;
} services[] = {
	{ "_wF22kE5CEeCUKeckjJ_n-w", ARCH_ANY },
	{ "_ygMyEE5CEeCUKeckjJ_n-w", ARCH_READ },
	{ "_zUFtIE5CEeCUKeckjJ_n-w", ARCH_WRITE },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static int add_type(struct pcm_importer *im, const char *name, const char *id, uint32_t *type)
{
	bool taken = arch_find_type(im->m, name) != ARCH_NONE;
	struct arch_type *t = ARCH_ADD(im->m->types, im->m->nr_types);
	struct pcm_type *own = t ? ARCH_ADD(im->types, im->nr_types) : NULL;

	if (!own)
		return pcm_out_of_memory(im);
	own->id = strdup(id);
	*type = im->m->nr_types - 1;
	if (!taken)
		t->name = strdup(name);
	else if (asprintf(&t->name, "%s#%u", name, *type) < 0)
		t->name = NULL;
	return own->id && t->name ? 0 : pcm_out_of_memory(im);
}

int pcm_types_init(struct pcm_importer *im)
{
	uint32_t type;
	int ret = 0;

	for (size_t i = 0; i < COUNT(standard); i++) {
		ret = add_type(im, standard[i].name, standard[i].type, &type);
		if (ret)
			return ret;
	}
	return 0;
}

int pcm_resource_type(struct pcm_importer *im, const xmlNode *node, const char *reference,
		      void *type)
{
	const char *id = pcm_reference_id(node, reference);
	const xmlNode *target;
	int ret;

	for (uint32_t i = 0; id && i < im->nr_types; i++)
		if (!strcmp(im->types[i].id, id)) {
			*(uint32_t *)type = i;
			return 0;
		}
	ret = pcm_follow(im, node, reference, "availableResourceTypes_ResourceRepository", &target);
	if (ret)
		return ret;
	if (strcmp(pcm_type(target), "ProcessingResourceType"))
		return pcm_fail(im, target, "not supported: %s", pcm_type(target));
	return add_type(im, pcm_name(target), id, type);
}

/* Finds the type of the same file that offers the interface. */
static int own_interface(struct pcm_importer *im, const xmlNode *role, uint32_t *type)
{
	const char *const item = "availableResourceTypes_ResourceRepository";
	const char *const offer = "resourceProvidedRoles__ResourceInterfaceProvidingEntity";
	const char *const link = "requiredResourceInterface__ResourceRequiredRole";
	const char *id = pcm_reference_id(role, link);
	const xmlNode *target;
	int ret = pcm_follow(im, role, link, "resourceInterfaces__ResourceRepository", &target);

	if (ret)
		return ret;
	for (const xmlNode *t = pcm_first(target->parent, item); t; t = pcm_next(t, item))
		for (const xmlNode *o = pcm_first(t, offer); o; o = pcm_next(o, offer)) {
			const char *is = pcm_reference_id(
				o, "providedResourceInterface__ResourceProvidedRole");
			const char *type_id = pcm_attribute(t, "id");

			if (!is || strcmp(is, id) || !type_id)
				continue;
			for (uint32_t i = 0; i < im->nr_types; i++)
				if (!strcmp(im->types[i].id, type_id)) {
					*type = i;
					return 0;
				}
			return add_type(im, pcm_name(t), type_id, type);
		}
	return pcm_fail(im, target, "%s is offered by no type of resource", pcm_name(target));
}

int pcm_resource_call(struct pcm_importer *im, const xmlNode *call, const char *reference,
		      void *action)
{
	struct arch_action *a = action;
	const char *service = pcm_reference_id(call, "signature__ResourceCall"), *id;
	const xmlNode *role, *target;
	int ret = pcm_follow(im, call, reference,
			     "resourceRequiredRoles__ResourceInterfaceRequiringEntity", &role);

	if (ret)
		return ret;
	a->demand.direction = ARCH_ANY;
	id = pcm_reference_id(role, "requiredResourceInterface__ResourceRequiredRole");
	for (size_t i = 0; id && service && i < COUNT(standard); i++) {
		if (!standard[i].interface || strcmp(standard[i].interface, id))
			continue;
		a->demand.type = (uint32_t)i;
		for (size_t k = 0; k < COUNT(services); k++)
			if (!strcmp(services[k].id, service)) {
				a->demand.direction = services[k].direction;
				return 0;
			}
		return pcm_fail(im, call, "%s is no service of the %s", service, standard[i].name);
	}
	ret = pcm_follow(im, call, "signature__ResourceCall",
			 "resourceSignatures__ResourceInterface", &target);
	return ret ? ret : own_interface(im, role, &a->demand.type);
}

static int read_policy(struct pcm_importer *im, const xmlNode *spec, const char *name, void *out)
{
	static const struct {
		const char *id;
		enum arch_policy policy;
	} known[] = {
		{ "ProcessorSharing", ARCH_PS }, { "PROCESSOR_SHARING", ARCH_PS },
		{ "FCFS", ARCH_FCFS },		 { "Delay", ARCH_DELAY },
		{ "DELAY", ARCH_DELAY },
	};
	const char *id = pcm_reference_id(spec, name);

	if (!id)
		return pcm_fail(im, spec, "%s is missing", name);
	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(known[i].id, id)) {
			*(enum arch_policy *)out = known[i].policy;
			return 0;
		}
	return pcm_fail(im, spec, "scheduling policy that is not supported: %.200s", id);
}

/* Reads one rate of a disk. The reference simulator divides by both rates. */
static int read_disk_rate(struct pcm_importer *im, const xmlNode *node, const char *child,
			  const struct stoex *both, struct stoex **rate)
{
	double constant;
	char *after;
	int ret;

	if (stoex_is_constant(both, &constant) && constant == 1)
		return pcm_expression(im, node, child, rate);
	if (asprintf(&after, ")*(%s)", stoex_text(both)) < 0)
		return pcm_out_of_memory(im);
	ret = pcm_expression_in(im, node, child, "(", after, rate);
	free(after);
	return ret;
}

static int read_rates(struct pcm_importer *im, const xmlNode *node, struct arch_resource *r)
{
	bool disk = !strcmp(pcm_type(node), "HDDProcessingResourceSpecification");
	int ret = pcm_expression(im, node, "processingRate_ProcessingResourceSpecification",
				 &r->rate);

	if (ret)
		return ret;
	if (*pcm_type(node) && !disk && strcmp(pcm_type(node), "ProcessingResourceSpecification"))
		return pcm_fail(im, node, "not supported: %s", pcm_type(node));
	if (!disk)
		return 0;
	ret = read_disk_rate(im, node, "readProcessingRate", r->rate, &r->read_rate);
	return ret ? ret : read_disk_rate(im, node, "writeProcessingRate", r->rate, &r->write_rate);
}

static int read_replicas(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	double replicas;
	int ret = pcm_number(im, node, name, 1, &replicas);

	if (ret)
		return ret;
	if (!(replicas >= 1 && replicas <= 1e6 && replicas == (uint32_t)replicas))
		return pcm_fail(im, node, "%s: expected 1 or more, got %g", name, replicas);
	*(uint32_t *)out = (uint32_t)replicas;
	return 0;
}

static const struct pcm_field resource_fields[] = {
	PCM_ATTRIBUTE("MTTF", pcm_refuse_above_0, 0),
	PCM_REFERENCE("schedulingPolicy", read_policy, offsetof(struct arch_resource, policy)),
	PCM_ATTRIBUTE("numberOfReplicas", read_replicas, offsetof(struct arch_resource, servers)),
	PCM_CHILD("activeResourceType_ActiveResourceSpecification", pcm_resource_type,
		  offsetof(struct arch_resource, type)),
	{ 0 },
};

static int read_resource(struct pcm_importer *im, const xmlNode *node, void *out)
{
	uint32_t container = *(const uint32_t *)out;
	struct arch_resource *r = ARCH_ADD(im->m->resources, im->m->nr_resources);
	int ret;

	if (!r)
		return pcm_out_of_memory(im);
	r->container = container;
	r->at = pcm_place(im, node);
	ret = pcm_read(im, node, "MTTR requiredByContainer",
		       "processingRate_ProcessingResourceSpecification "
		       "writeProcessingRate readProcessingRate",
		       resource_fields, r);
	if (ret)
		return ret;
	for (uint32_t i = 0; i + 1 < im->m->nr_resources; i++)
		if (im->m->resources[i].container == container &&
		    im->m->resources[i].type == r->type)
			return pcm_fail(im, node, "a second %s of one container",
					im->m->types[r->type].name);
	r->name = strdup(im->m->types[r->type].name);
	return r->name ? read_rates(im, node, r) : pcm_out_of_memory(im);
}

static int read_container(struct pcm_importer *im, const xmlNode *node, void *parent)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("activeResourceSpecifications_ResourceContainer", read_resource, 0),
		PCM_EACH("nestedResourceContainers__ResourceContainer", read_container, 0),
		{ 0 },
	};
	uint32_t index = im->m->nr_containers;
	struct arch_container *c = ARCH_ADD(im->m->containers, im->m->nr_containers);
	int ret;

	if (!c)
		return pcm_out_of_memory(im);
	c->at = pcm_place(im, node);
	c->parent = *(const uint32_t *)parent;
	c->storage = ARCH_NONE;
	c->name = strdup(pcm_name(node));
	if (!c->name)
		return pcm_out_of_memory(im);
	pcm_set_index(node, index);
	if (im->depth++ == PCM_MAX_DEPTH)
		return pcm_fail(im, node, "containers nested too deep");
	ret = pcm_read(im, node, "", "", fields, &index);
	im->depth--;
	return ret;
}

static int join_containers(struct pcm_importer *im, const xmlNode *node, const char *name,
			   void *link)
{
	struct arch_link *l = link;
	const xmlNode **targets;
	uint32_t nr, *slot;
	int ret = pcm_follow_ids(im, node, name, &targets, &nr);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < nr; i++) {
		slot = ARCH_ADD(l->containers, l->nr);
		if (!slot) {
			ret = pcm_out_of_memory(im);
			goto out;
		}
		*slot = pcm_index(targets[i]);
		if (targets[i]->doc != node->doc || *slot >= im->m->nr_containers) {
			ret = pcm_fail(im, node, "connects what is no container of this file");
			goto out;
		}
	}
out:
	free(targets);
	return ret;
}

static int read_throughput(struct pcm_importer *im, const xmlNode *node, const char *name,
			   void *link)
{
	const struct arch_link *l = link;

	return pcm_expression(im, node, name, &im->m->resources[l->resource].rate);
}

static int read_link_specification(struct pcm_importer *im, const xmlNode *node, void *link)
{
	static const struct pcm_field fields[] = {
		PCM_ATTRIBUTE("failureProbability", pcm_refuse_above_0, 0),
		PCM_CHILD("latency_CommunicationLinkResourceSpecification", pcm_expression,
			  offsetof(struct arch_link, latency)),
		PCM_CHILD("throughput_CommunicationLinkResourceSpecification", read_throughput, 0),
		{ 0 },
	};

	return pcm_read(im, node, "",
			"communicationLinkResourceType_CommunicationLinkResourceSpecification",
			fields, link);
}

static int read_link(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_REFERENCE("connectedResourceContainers_LinkingResource", join_containers, 0),
		PCM_ONE("communicationLinkResourceSpecifications_LinkingResource",
			read_link_specification, 0),
		{ 0 },
	};
	struct arch_link *l = ARCH_ADD(im->m->links, im->m->nr_links);
	struct arch_resource *r = l ? ARCH_ADD(im->m->resources, im->m->nr_resources) : NULL;

	(void)out;
	if (!r)
		return pcm_out_of_memory(im);
	l->resource = im->m->nr_resources - 1;
	r->at = pcm_place(im, node);
	r->container = ARCH_NONE;
	r->policy = ARCH_FCFS;
	r->servers = 1;
	r->name = strdup(pcm_name(node));
	r->type = arch_find_type(im->m, "lan");
	return r->name ? pcm_read(im, node, "", "", fields, l) : pcm_out_of_memory(im);
}

int pcm_read_environment(struct pcm_importer *im)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("resourceContainer_ResourceEnvironment", read_container, 0),
		PCM_EACH("linkingResources__ResourceEnvironment", read_link, 0),
		{ 0 },
	};
	uint32_t parent = ARCH_NONE;

	return pcm_read(im, im->environment, "", "", fields, &parent);
}
