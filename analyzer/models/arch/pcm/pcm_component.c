// SPDX-License-Identifier: Apache-2.0
/*
 * This file imports basic components: their roles, passive resources, and one behaviour per
 * signature.
 */
#include <stddef.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

static int add_signature(struct pcm_importer *im, const xmlNode *node)
{
	struct arch_signature *s;

	if (!pcm_is(node, "signatures__OperationInterface") &&
	    !pcm_is(node, "infrastructureSignatures__InfrastructureInterface"))
		return pcm_fail(im, node, "not supported as an operation");
	s = ARCH_ADD(im->m->signatures, im->m->nr_signatures);
	if (!s)
		return pcm_out_of_memory(im);
	pcm_set_index(node, im->m->nr_signatures - 1);
	s->name = strdup(pcm_name(node));
	s->interface = strdup(pcm_name(node->parent));
	return s->name && s->interface ? 0 : pcm_out_of_memory(im);
}

int pcm_signature(struct pcm_importer *im, const xmlNode *node, const char *reference,
		  void *signature)
{
	const xmlNode *target;
	int ret = pcm_follow(im, node, reference, NULL, &target);

	if (ret)
		return ret;
	if (pcm_index(target) == ARCH_NONE)
		ret = add_signature(im, target);
	*(uint32_t *)signature = pcm_index(target);
	return ret;
}

static int read_required_role(struct pcm_importer *im, const xmlNode *node, void *component)
{
	struct arch_component *c = component;
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

static int read_passive(struct pcm_importer *im, const xmlNode *node, void *component)
{
	static const struct pcm_field fields[] = {
		PCM_CHILD("capacity_PassiveResource", pcm_expression,
			  offsetof(struct arch_passive, capacity)),
		{ 0 },
	};
	struct arch_component *c = component;
	struct arch_passive *p = ARCH_ADD(c->passives, c->nr_passives);

	if (!p)
		return pcm_out_of_memory(im);
	pcm_set_index(node, c->nr_passives - 1);
	p->name = strdup(pcm_name(node));
	return p->name ? pcm_read(im, node, "", "", fields, p) : pcm_out_of_memory(im);
}

static int read_seff(struct pcm_importer *im, const xmlNode *node, void *component)
{
	static const struct pcm_field fields[] = {
		PCM_REFERENCE("describedService__SEFF", pcm_signature,
			      offsetof(struct arch_operation, signature)),
		{ 0 },
	};
	struct arch_component *c = component;
	struct arch_operation operation, *slot;
	int ret;

	if (strcmp(pcm_type(node), "ResourceDemandingSEFF"))
		return pcm_fail(im, node, "not supported: %s", pcm_type(node));
	ret = pcm_read(im, node, "seffTypeID",
		       "steps_Behaviour resourceDemandingInternalBehaviours", fields, &operation);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < c->nr_operations; i++)
		if (c->operations[i].signature == operation.signature)
			return pcm_fail(im, node, "a second behaviour of %s in %s",
					im->m->signatures[operation.signature].name, c->name);
	ret = pcm_read_steps(im, node, &pcm_seff, &operation.behaviour);
	if (ret)
		return ret;
	slot = ARCH_ADD(c->operations, c->nr_operations);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = operation;
	return 0;
}

static int check_provided_role(struct pcm_importer *im, const xmlNode *node, void *component)
{
	const char *type = pcm_type(node);

	(void)component;
	if (strcmp(type, "OperationProvidedRole") && strcmp(type, "InfrastructureProvidedRole"))
		return pcm_fail(im, node, "not supported: %s", type);
	return 0;
}

int pcm_component(struct pcm_importer *im, const xmlNode *node, uint32_t *component)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("providedRoles_InterfaceProvidingEntity", check_provided_role, 0),
		PCM_EACH("requiredRoles_InterfaceRequiringEntity", read_required_role, 0),
		PCM_EACH("passiveResource_BasicComponent", read_passive, 0),
		PCM_EACH("serviceEffectSpecifications__BasicComponent", read_seff, 0),
		{ 0 },
	};
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
	return pcm_read(im, node, "componentType parentCompleteComponentTypes",
			"resourceRequiredRoles__ResourceInterfaceRequiringEntity "
			"componentParameterUsage_ImplementationComponentType "
			"parentCompleteComponentTypes",
			fields, c);
}
