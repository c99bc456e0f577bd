// SPDX-License-Identifier: Apache-2.0
/* Types of resources, containers with their resources, and links. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

/* The ids of types and interfaces in Palladio.resourcetype, which every installation has. */
static const struct {
	const char *name, *type, *interface;
} standard[] = {
	{ "cpu", "_oro4gG3fEdy4YaaT-RYrLQ", "_tw_Q8E5CEeCUKeckjJ_n-w" },
	{ "hdd", "_BIjHoQ3KEdyouMqirZIhzQ", "_xXv8QE5CEeCUKeckjJ_n-w" },
	{ "delay", "_nvHX4KkREdyEA_b89s7q9w", NULL },
	{ "lan", "_o3sScH2AEdyH8uerKnHYug", NULL },
};

/* The signatures of these interfaces. */
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
		      uint32_t *type)
{
	const char *id = pcm_reference_id(node, reference);
	const xmlNode *target;
	int ret;

	for (uint32_t i = 0; id && i < im->nr_types; i++)
		if (!strcmp(im->types[i].id, id)) {
			*type = i;
			return 0;
		}
	ret = pcm_follow(im, node, reference, "availableResourceTypes_ResourceRepository", &target);
	if (!ret && strcmp(pcm_type(target), "ProcessingResourceType"))
		ret = pcm_fail(im, target, "not supported: %s", pcm_type(target));
	return ret ? ret : add_type(im, pcm_name(target), id, type);
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

int pcm_resource_call(struct pcm_importer *im, const xmlNode *call, uint32_t *type,
		      enum arch_direction *direction)
{
	const char *service = pcm_reference_id(call, "signature__ResourceCall"), *id;
	const xmlNode *role, *target;
	int ret = pcm_follow(im, call, "resourceRequiredRole__ResourceCall",
			     "resourceRequiredRoles__ResourceInterfaceRequiringEntity", &role);

	if (ret)
		return ret;
	*direction = ARCH_ANY;
	id = pcm_reference_id(role, "requiredResourceInterface__ResourceRequiredRole");
	for (size_t i = 0; id && service && i < COUNT(standard); i++) {
		if (!standard[i].interface || strcmp(standard[i].interface, id))
			continue;
		*type = (uint32_t)i;
		for (size_t k = 0; k < COUNT(services); k++)
			if (!strcmp(services[k].id, service)) {
				*direction = services[k].direction;
				return 0;
			}
		return pcm_fail(im, call, "%s is no service of the %s", service, standard[i].name);
	}
	ret = pcm_follow(im, call, "signature__ResourceCall",
			 "resourceSignatures__ResourceInterface", &target);
	return ret ? ret : own_interface(im, role, type);
}

int pcm_policy(struct pcm_importer *im, const xmlNode *spec, enum arch_policy *policy)
{
	static const struct {
		const char *id;
		enum arch_policy policy;
	} known[] = {
		{ "ProcessorSharing", ARCH_PS }, { "PROCESSOR_SHARING", ARCH_PS },
		{ "FCFS", ARCH_FCFS },		 { "Delay", ARCH_DELAY },
		{ "DELAY", ARCH_DELAY },
	};
	const char *id = pcm_reference_id(spec, "schedulingPolicy");

	if (!id)
		return pcm_fail(im, spec, "schedulingPolicy is missing");
	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(known[i].id, id)) {
			*policy = known[i].policy;
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

	if (!ret && *pcm_type(node) && !disk &&
	    strcmp(pcm_type(node), "ProcessingResourceSpecification"))
		ret = pcm_fail(im, node, "not supported: %s", pcm_type(node));
	if (ret || !disk)
		return ret;
	ret = read_disk_rate(im, node, "readProcessingRate", r->rate, &r->read_rate);
	return ret ? ret : read_disk_rate(im, node, "writeProcessingRate", r->rate, &r->write_rate);
}

static int read_resource(struct pcm_importer *im, const xmlNode *node, uint32_t container)
{
	struct arch_resource *r = ARCH_ADD(im->m->resources, im->m->nr_resources);
	double replicas;
	int ret;

	if (!r)
		return pcm_out_of_memory(im);
	r->container = container;
	r->at = pcm_place(im, node);
	ret = pcm_allow(im, node, "MTTR MTTF numberOfReplicas requiredByContainer schedulingPolicy",
			"schedulingPolicy activeResourceType_ActiveResourceSpecification "
			"processingRate_ProcessingResourceSpecification "
			"writeProcessingRate readProcessingRate");
	if (!ret)
		ret = pcm_refuse_above_0(im, node, "MTTF");
	if (!ret)
		ret = pcm_policy(im, node, &r->policy);
	if (!ret)
		ret = pcm_number(im, node, "numberOfReplicas", 1, &replicas);
	if (!ret && !(replicas >= 1 && replicas <= 1e6 && replicas == (uint32_t)replicas))
		ret = pcm_fail(im, node, "numberOfReplicas: expected 1 or more, got %g", replicas);
	if (ret)
		return ret;
	r->servers = (uint32_t)replicas;
	ret = pcm_resource_type(im, node, "activeResourceType_ActiveResourceSpecification",
				&r->type);
	if (ret)
		return ret;
	for (uint32_t i = 0; i + 1 < im->m->nr_resources; i++) {
		if (im->m->resources[i].container == container &&
		    im->m->resources[i].type == r->type)
			ret = pcm_fail(im, node, "a second %s of one container",
				       im->m->types[r->type].name);
		if (ret)
			return ret;
	}
	r->name = strdup(im->m->types[r->type].name);
	ret = r->name ? read_rates(im, node, r) : pcm_out_of_memory(im);
	return ret;
}

static int read_container(struct pcm_importer *im, const xmlNode *node, uint32_t parent)
{
	const char *const nested = "nestedResourceContainers__ResourceContainer";
	const char *const active = "activeResourceSpecifications_ResourceContainer";
	uint32_t index = im->m->nr_containers;
	struct arch_container *c = ARCH_ADD(im->m->containers, im->m->nr_containers);
	int ret;

	if (!c)
		return pcm_out_of_memory(im);
	c->at = pcm_place(im, node);
	c->parent = parent;
	c->storage = ARCH_NONE;
	c->name = strdup(pcm_name(node));
	if (!c->name)
		return pcm_out_of_memory(im);
	pcm_set_index(node, index);
	if (im->depth++ == PCM_MAX_DEPTH)
		return pcm_fail(im, node, "containers nested too deep");
	ret = pcm_allow(im, node, "",
			"activeResourceSpecifications_ResourceContainer "
			"nestedResourceContainers__ResourceContainer");
	for (const xmlNode *r = pcm_first(node, active); !ret && r; r = pcm_next(r, active))
		ret = read_resource(im, r, index);
	for (const xmlNode *n = pcm_first(node, nested); !ret && n; n = pcm_next(n, nested))
		ret = read_container(im, n, index);
	im->depth--;
	return ret;
}

static int join_containers(struct pcm_importer *im, const xmlNode *node, struct arch_link *l)
{
	const xmlNode **targets;
	uint32_t nr;
	int ret = pcm_follow_ids(im, node, "connectedResourceContainers_LinkingResource", &targets,
				 &nr);

	if (ret)
		goto out;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *slot = ARCH_ADD(l->containers, l->nr);

		if (!slot) {
			ret = pcm_out_of_memory(im);
			break;
		}
		*slot = pcm_index(targets[i]);
		if (targets[i]->doc != node->doc || *slot >= im->m->nr_containers)
			ret = pcm_fail(im, node, "connects what is no container of this file");
		if (ret)
			goto out;
	}
out:
	free(targets);
	return ret;
}

static int read_link(struct pcm_importer *im, const xmlNode *node)
{
	const char *const spec = "communicationLinkResourceSpecifications_LinkingResource";
	struct arch_link *l = ARCH_ADD(im->m->links, im->m->nr_links);
	struct arch_resource *r = l ? ARCH_ADD(im->m->resources, im->m->nr_resources) : NULL;
	const xmlNode *s;
	int ret;

	if (!r)
		return pcm_out_of_memory(im);
	l->resource = im->m->nr_resources - 1;
	r->at = pcm_place(im, node);
	r->container = ARCH_NONE;
	r->policy = ARCH_FCFS;
	r->servers = 1;
	r->name = strdup(pcm_name(node));
	r->type = arch_find_type(im->m, "lan");
	ret = r->name ? 0 : pcm_out_of_memory(im);
	if (!ret)
		ret = pcm_allow(im, node, "connectedResourceContainers_LinkingResource",
				"connectedResourceContainers_LinkingResource "
				"communicationLinkResourceSpecifications_LinkingResource");
	if (!ret)
		ret = join_containers(im, node, l);
	if (!ret)
		ret = pcm_need(im, node, spec, &s);
	if (!ret)
		ret = pcm_allow(
			im, s, "failureProbability",
			"communicationLinkResourceType_CommunicationLinkResourceSpecification "
			"latency_CommunicationLinkResourceSpecification "
			"throughput_CommunicationLinkResourceSpecification");
	if (!ret)
		ret = pcm_refuse_above_0(im, s, "failureProbability");
	if (!ret)
		ret = pcm_expression(im, s, "latency_CommunicationLinkResourceSpecification",
				     &l->latency);
	return ret ? ret
		   : pcm_expression(im, s, "throughput_CommunicationLinkResourceSpecification",
				    &r->rate);
}

int pcm_read_environment(struct pcm_importer *im)
{
	const char *const container = "resourceContainer_ResourceEnvironment";
	const char *const link = "linkingResources__ResourceEnvironment";
	const xmlNode *root = im->environment;
	int ret = pcm_allow(im, root, "",
			    "resourceContainer_ResourceEnvironment "
			    "linkingResources__ResourceEnvironment");

	if (ret)
		return ret;
	for (const xmlNode *c = pcm_first(root, container); c; c = pcm_next(c, container)) {
		ret = read_container(im, c, ARCH_NONE);
		if (ret)
			return ret;
	}
	for (const xmlNode *l = pcm_first(root, link); l; l = pcm_next(l, link)) {
		ret = read_link(im, l);
		if (ret)
			return ret;
	}
	return 0;
}
