// SPDX-License-Identifier: Apache-2.0
/* Basic components: roles, passive resources, and one behaviour per signature. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

int pcm_signature(struct pcm_importer *im, const xmlNode *node, uint32_t *signature)
{
	struct arch_signature *s;

	*signature = pcm_index(node);
	if (*signature != ARCH_NONE)
		return 0;
	if (!pcm_is(node, "signatures__OperationInterface") &&
	    !pcm_is(node, "infrastructureSignatures__InfrastructureInterface"))
		return pcm_fail(im, node, "not supported as an operation");
	*signature = im->m->nr_signatures;
	s = ARCH_ADD(im->m->signatures, im->m->nr_signatures);
	if (!s)
		return pcm_out_of_memory(im);
	pcm_set_index(node, *signature);
	s->name = strdup(pcm_name(node));
	s->interface = strdup(pcm_name(node->parent));
	return s->name && s->interface ? 0 : pcm_out_of_memory(im);
}

uint32_t pcm_role(const struct pcm_importer *im, const xmlNode *role)
{
	if (!pcm_is(role, "requiredRoles_InterfaceRequiringEntity") ||
	    role->parent != im->component)
		return ARCH_NONE;
	return pcm_index(role);
}

static int read_required_role(struct pcm_importer *im, const xmlNode *node,
			      struct arch_component *c)
{
	struct arch_role *role;
	const char *type = pcm_type(node);

	if (strcmp(type, "OperationRequiredRole") && strcmp(type, "InfrastructureRequiredRole"))
		return pcm_fail(im, node, "not supported: %s", type);
	role = ARCH_ADD(c->roles, c->nr_roles);
	if (!role)
		return pcm_out_of_memory(im);
	pcm_set_index(node, c->nr_roles - 1);
	role->name = strdup(pcm_name(node));
	return role->name ? 0 : pcm_out_of_memory(im);
}

static int read_passive(struct pcm_importer *im, const xmlNode *node, struct arch_component *c)
{
	struct arch_passive *p = ARCH_ADD(c->passives, c->nr_passives);
	int ret;

	if (!p)
		return pcm_out_of_memory(im);
	pcm_set_index(node, c->nr_passives - 1);
	p->name = strdup(pcm_name(node));
	ret = p->name ? 0 : pcm_out_of_memory(im);
	if (!ret)
		ret = pcm_allow(im, node, "", "capacity_PassiveResource");
	return ret ? ret : pcm_expression(im, node, "capacity_PassiveResource", &p->capacity);
}

static int read_seff(struct pcm_importer *im, const xmlNode *node, struct arch_component *c)
{
	const xmlNode *service;
	struct arch_operation operation, *slot;
	int ret;

	if (strcmp(pcm_type(node), "ResourceDemandingSEFF"))
		return pcm_fail(im, node, "not supported: %s", pcm_type(node));
	ret = pcm_allow(im, node, "describedService__SEFF seffTypeID",
			"describedService__SEFF steps_Behaviour "
			"resourceDemandingInternalBehaviours");
	if (!ret)
		ret = pcm_follow(im, node, "describedService__SEFF", NULL, &service);
	if (!ret)
		ret = pcm_signature(im, service, &operation.signature);
	for (uint32_t i = 0; !ret && i < c->nr_operations; i++)
		if (c->operations[i].signature == operation.signature)
			ret = pcm_fail(im, node, "a second behaviour of %s in %s",
				       pcm_name(service), c->name);
	if (!ret)
		ret = pcm_read_steps(im, node, &operation.behaviour);
	if (ret)
		return ret;
	slot = ARCH_ADD(c->operations, c->nr_operations);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = operation;
	return 0;
}

static int read_provided_role(struct pcm_importer *im, const xmlNode *node,
			      struct arch_component *c)
{
	const char *type = pcm_type(node);

	(void)c;
	if (strcmp(type, "OperationProvidedRole") && strcmp(type, "InfrastructureProvidedRole"))
		return pcm_fail(im, node, "not supported: %s", type);
	return 0;
}

static int read_each(struct pcm_importer *im, struct arch_component *c, const char *child,
		     int (*read)(struct pcm_importer *, const xmlNode *, struct arch_component *))
{
	int ret = 0;

	for (const xmlNode *n = pcm_first(im->component, child); n; n = pcm_next(n, child)) {
		ret = read(im, n, c);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_component(struct pcm_importer *im, struct arch_component *c)
{
	int ret = pcm_allow(im, im->component, "componentType parentCompleteComponentTypes",
			    "providedRoles_InterfaceProvidingEntity "
			    "requiredRoles_InterfaceRequiringEntity "
			    "resourceRequiredRoles__ResourceInterfaceRequiringEntity "
			    "componentParameterUsage_ImplementationComponentType "
			    "serviceEffectSpecifications__BasicComponent "
			    "passiveResource_BasicComponent parentCompleteComponentTypes");

	if (!ret)
		ret = read_each(im, c, "providedRoles_InterfaceProvidingEntity",
				read_provided_role);
	if (!ret)
		ret = read_each(im, c, "requiredRoles_InterfaceRequiringEntity",
				read_required_role);
	if (!ret)
		ret = read_each(im, c, "passiveResource_BasicComponent", read_passive);
	return ret ? ret
		   : read_each(im, c, "serviceEffectSpecifications__BasicComponent", read_seff);
}

int pcm_component(struct pcm_importer *im, const xmlNode *node, uint32_t *component)
{
	struct arch_component *c;

	*component = pcm_index(node);
	if (*component != ARCH_NONE)
		return 0;
	*component = im->m->nr_components;
	c = ARCH_ADD(im->m->components, im->m->nr_components);
	if (!c)
		return pcm_out_of_memory(im);
	pcm_set_index(node, *component);
	c->at = pcm_place(im, node);
	c->name = strdup(pcm_name(node));
	if (!c->name)
		return pcm_out_of_memory(im);
	im->component = node;
	return read_component(im, c);
}
