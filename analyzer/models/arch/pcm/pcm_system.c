// SPDX-License-Identifier: Apache-2.0
/* The system: composites are flattened to instances in containers, and connectors become wires. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

enum connector_kind {
	ASSEMBLY, /* from a part that requires an interface to one that provides it */
	PROVIDED, /* from a role of the composite to a role of a part */
	REQUIRED, /* from a role of a part to a role of the composite */
};

/* This table holds the references of each type of connector; from and to are assembly contexts. */
static const struct connector {
	const char *type;
	enum connector_kind kind;
	const char *from, *from_role, *to, *to_role;
} connectors[] = {
	{ "AssemblyConnector", ASSEMBLY, "requiringAssemblyContext_AssemblyConnector",
	  "requiredRole_AssemblyConnector", "providingAssemblyContext_AssemblyConnector",
	  "providedRole_AssemblyConnector" },
	{ "AssemblyInfrastructureConnector", ASSEMBLY,
	  "requiringAssemblyContext__AssemblyInfrastructureConnector",
	  "requiredRole__AssemblyInfrastructureConnector",
	  "providingAssemblyContext__AssemblyInfrastructureConnector",
	  "providedRole__AssemblyInfrastructureConnector" },
	{ "ProvidedDelegationConnector", PROVIDED, NULL,
	  "outerProvidedRole_ProvidedDelegationConnector",
	  "assemblyContext_ProvidedDelegationConnector",
	  "innerProvidedRole_ProvidedDelegationConnector" },
	{ "ProvidedInfrastructureDelegationConnector", PROVIDED, NULL,
	  "outerProvidedRole__ProvidedInfrastructureDelegationConnector",
	  "assemblyContext__ProvidedInfrastructureDelegationConnector",
	  "innerProvidedRole__ProvidedInfrastructureDelegationConnector" },
	{ "RequiredDelegationConnector", REQUIRED, "assemblyContext_RequiredDelegationConnector",
	  "innerRequiredRole_RequiredDelegationConnector", NULL,
	  "outerRequiredRole_RequiredDelegationConnector" },
	{ "RequiredInfrastructureDelegationConnector", REQUIRED,
	  "assemblyContext__RequiredInfrastructureDelegationConnector",
	  "innerRequiredRole__RequiredInfrastructureDelegationConnector", NULL,
	  "outerRequiredRole__RequiredInfrastructureDelegationConnector" },
};

#define NR_CONNECTORS (sizeof(connectors) / sizeof(*connectors))

static const char assembly_context[] = "assemblyContexts__ComposedStructure";
static const char connector_element[] = "connectors__ComposedStructure";

static const struct connector *connector_of(const xmlNode *node)
{
	for (size_t i = 0; i < NR_CONNECTORS; i++)
		if (!strcmp(connectors[i].type, pcm_type(node)))
			return &connectors[i];
	return NULL;
}

/*
 * Checks that every reference of a connector leads to an element, even if the connector is never
 * used.
 */
static int check_connector(struct pcm_importer *im, const xmlNode *node, void *unused)
{
	const struct connector *c = connector_of(node);
	const char *names[4];
	char list[512];
	const xmlNode *target;
	int ret;

	(void)unused;
	if (!c)
		return pcm_fail(im, node, "connector that is not supported: %s", pcm_type(node));
	names[0] = c->from;
	names[1] = c->from_role;
	names[2] = c->to;
	names[3] = c->to_role;
	snprintf(list, sizeof(list), "%s %s %s %s", c->from ? c->from : "", c->from_role,
		 c->to ? c->to : "", c->to_role);
	ret = pcm_allow(im, node, list, list);
	if (ret)
		return ret;
	for (int i = 0; i < 4; i++) {
		if (names[i])
			ret = pcm_follow(im, node, names[i], i % 2 ? NULL : assembly_context,
					 &target);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_role(struct pcm_importer *im, const xmlNode *node, void *unused)
{
	const char *type = pcm_type(node);

	(void)unused;
	if (strncmp(type, "Operation", 9) && strncmp(type, "Infrastructure", 14))
		return pcm_fail(im, node, "not supported: %s", type);
	return 0;
}

/* Checks the system or a composite, each only once. */
static int check_structure(struct pcm_importer *im, const xmlNode *node)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("providedRoles_InterfaceProvidingEntity", check_role, 0),
		PCM_EACH("requiredRoles_InterfaceRequiringEntity", check_role, 0),
		PCM_EACH(connector_element, check_connector, 0),
		{ 0 },
	};

	if (pcm_index(node) != ARCH_NONE)
		return 0;
	pcm_set_index(node, 0);
	return pcm_read(im, node, "componentType parentCompleteComponentTypes",
			"assemblyContexts__ComposedStructure "
			"resourceRequiredRoles__ResourceInterfaceRequiringEntity "
			"resourceRequiredDelegationConnectors_ComposedStructure "
			"parentCompleteComponentTypes",
			fields, im);
}

static int read_allocation_context(struct pcm_importer *im, const xmlNode *node, void *unused)
{
	const char *const to = "resourceContainer_AllocationContext";
	const xmlNode *container, *context;
	int ret =
		pcm_allow(im, node, "",
			  "resourceContainer_AllocationContext assemblyContext_AllocationContext");

	(void)unused;
	if (ret)
		return ret;
	ret = pcm_follow(im, node, to, NULL, &container);
	if (ret)
		return ret;
	ret = pcm_follow(im, node, "assemblyContext_AllocationContext", assembly_context, &context);
	if (ret)
		return ret;
	if (container->doc != im->environment->doc ||
	    pcm_index(container) >= im->m->nr_containers ||
	    !strstr((const char *)container->name, "esourceContainer"))
		return pcm_fail(im, node, "%s is no container of %s", pcm_name(container),
				im->m->files[pcm_place(im, im->environment).file]);
	if (pcm_index(context) != ARCH_NONE && pcm_index(context) != pcm_index(container))
		return pcm_fail(im, node, "a second container for %s", pcm_name(context));
	pcm_set_index(context, pcm_index(container));
	return 0;
}

static int read_allocation(struct pcm_importer *im)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("allocationContexts_Allocation", read_allocation_context, 0),
		{ 0 },
	};

	return pcm_read(im, im->allocation, "",
			"targetResourceEnvironment_Allocation system_Allocation", fields, im);
}

/* Names a part after the parts that contain it. The name must be unique. */
static int name_part(struct pcm_importer *im, uint32_t part)
{
	struct pcm_part *p = &im->parts[part];
	const char *outer = p->parent ? im->parts[p->parent].name : "";
	unsigned again = 0;
	char *name;
	uint32_t i;

	do {
		char suffix[16] = "";

		if (again)
			snprintf(suffix, sizeof(suffix), "#%u", again + 1);
		if (asprintf(&name, "%s%s%s%s", outer, *outer ? "/" : "", pcm_name(p->context),
			     suffix) < 0)
			return pcm_out_of_memory(im);
		for (i = 1; i < part && strcmp(im->parts[i].name, name); i++)
			;
		if (i < part)
			free(name);
		again++;
	} while (i < part);
	p->name = name;
	return 0;
}

static int add_instance(struct pcm_importer *im, uint32_t part, uint32_t component)
{
	const struct pcm_part *p = &im->parts[part];
	struct arch_instance *x = ARCH_ADD(im->m->instances, im->m->nr_instances);
	uint32_t nr_roles = im->m->components[component].nr_roles;
	int ret;

	if (!x)
		return pcm_out_of_memory(im);
	x->at = pcm_place(im, p->context);
	x->component = component;
	x->container = ARCH_NONE;
	x->name = strdup(p->name);
	x->wires = malloc((nr_roles + 1) * sizeof(*x->wires));
	if (!x->name || !x->wires)
		return pcm_out_of_memory(im);
	for (uint32_t i = 0; i < nr_roles; i++)
		x->wires[i] = ARCH_NONE;
	/* The innermost part that the allocation mentions determines the container. */
	for (uint32_t i = part; i && x->container == ARCH_NONE; i = im->parts[i].parent)
		x->container = pcm_index(im->parts[i].context);
	if (x->container == ARCH_NONE)
		return pcm_fail(im, p->context, "%s is allocated to no container", x->name);
	ret = pcm_variables(im, p->structure, "componentParameterUsage_ImplementationComponentType",
			    &x->sets);
	return ret ? ret
		   : pcm_variables(im, p->context, "configParameterUsages__AssemblyContext",
				   &x->sets);
}

static int read_parts(struct pcm_importer *im, uint32_t whole);

static int read_part(struct pcm_importer *im, const xmlNode *context, uint32_t parent)
{
	uint32_t part = im->nr_parts, component;
	struct pcm_part *p = ARCH_ADD(im->parts, im->nr_parts);
	const xmlNode *structure;
	bool basic;
	int ret;

	if (!p)
		return pcm_out_of_memory(im);
	*p = (struct pcm_part){ .context = context, .parent = parent, .instance = ARCH_NONE };
	ret = pcm_follow(im, context, "encapsulatedComponent__AssemblyContext",
			 "components__Repository", &structure);
	if (ret)
		return ret;
	p->structure = structure;
	basic = !strcmp(pcm_type(structure), "BasicComponent");
	ret = pcm_allow(im, context, "encapsulatedComponent__AssemblyContext",
			basic ? "encapsulatedComponent__AssemblyContext "
				"configParameterUsages__AssemblyContext"
			      : "encapsulatedComponent__AssemblyContext");
	if (ret)
		return ret;
	ret = name_part(im, part);
	if (ret)
		return ret;
	if (basic) {
		ret = pcm_component(im, structure, &component);
		im->parts[part].instance = im->m->nr_instances;
		return ret ? ret : add_instance(im, part, component);
	}
	if (strcmp(pcm_type(structure), "CompositeComponent") &&
	    strcmp(pcm_type(structure), "SubSystem"))
		return pcm_fail(im, context, "component that is not supported: %s",
				pcm_type(structure));
	for (uint32_t i = parent; i; i = im->parts[i].parent)
		if (im->parts[i].structure == structure)
			return pcm_fail(im, context, "%s is a part of itself", pcm_name(structure));
	return read_parts(im, part);
}

static int read_parts(struct pcm_importer *im, uint32_t whole)
{
	const xmlNode *structure = im->parts[whole].structure;
	int ret = check_structure(im, structure);

	if (ret)
		return ret;
	for (const xmlNode *c = pcm_first(structure, assembly_context); c;
	     c = pcm_next(c, assembly_context)) {
		if (im->depth++ == PCM_MAX_DEPTH || im->nr_parts > 1000000)
			return pcm_fail(im, c, "too many parts");
		ret = read_part(im, c, whole);
		im->depth--;
		if (ret)
			return ret;
	}
	return 0;
}

static uint32_t find_part(const struct pcm_importer *im, uint32_t parent, const xmlNode *context)
{
	for (uint32_t i = parent + 1; i < im->nr_parts; i++)
		if (im->parts[i].parent == parent && im->parts[i].context == context)
			return i;
	return ARCH_NONE;
}

/*
 * Returns the connector of a kind from a role (of the context of a part, unless it is NULL), or
 * NULL if there is none.
 */
static int find_connector(struct pcm_importer *im, const xmlNode *structure,
			  enum connector_kind kind, const xmlNode *context, const xmlNode *role,
			  const xmlNode **found)
{
	*found = NULL;
	for (const xmlNode *n = pcm_first(structure, connector_element); n;
	     n = pcm_next(n, connector_element)) {
		const struct connector *c = connector_of(n);
		const xmlNode *from = context, *from_role;
		int ret = 0;

		if (c->kind != kind)
			continue;
		if (context)
			ret = pcm_follow(im, n, c->from, NULL, &from);
		if (ret)
			return ret;
		ret = pcm_follow(im, n, c->from_role, NULL, &from_role);
		if (ret)
			return ret;
		if (from != context || from_role != role)
			continue;
		if (*found)
			return pcm_fail(im, n, "a second connector of the role %s", pcm_name(role));
		*found = n;
	}
	return 0;
}

/* Finds the part to which a connector leads within a whole, and the role of that part. */
static int follow_connector(struct pcm_importer *im, const xmlNode *c, uint32_t whole,
			    uint32_t *part, const xmlNode **role)
{
	const xmlNode *context;
	int ret = pcm_follow(im, c, connector_of(c)->to, NULL, &context);

	if (ret)
		return ret;
	ret = pcm_follow(im, c, connector_of(c)->to_role, NULL, role);
	if (ret)
		return ret;
	*part = find_part(im, whole, context);
	return *part != ARCH_NONE ? 0
				  : pcm_fail(im, c, "%s is no part of %s", pcm_name(context),
					     pcm_name(im->parts[whole].structure));
}

/* Finds the instance that does the work of a role that a part provides. */
static int pcm_system_provider(struct pcm_importer *im, const xmlNode *at, uint32_t part,
			       const xmlNode *role, uint32_t *instance)
{
	while (im->parts[part].instance == ARCH_NONE) {
		const xmlNode *structure = im->parts[part].structure, *c;
		int ret = find_connector(im, structure, PROVIDED, NULL, role, &c);

		if (ret)
			return ret;
		if (!c)
			return pcm_fail(im, at,
					"leads to the role %s of %s, which is not connected",
					pcm_name(role), pcm_name(structure));
		ret = follow_connector(im, c, part, &part, &role);
		if (ret)
			return ret;
		at = c;
	}
	if (role->parent != im->parts[part].structure ||
	    !pcm_is(role, "providedRoles_InterfaceProvidingEntity"))
		return pcm_fail(im, at, "%s is no role that %s provides", pcm_name(role),
				im->parts[part].name);
	*instance = im->parts[part].instance;
	return 0;
}

/*
 * Finds the instance that serves a role that a part requires; ARCH_NONE if the role is not
 * connected.
 */
static int pcm_system_server(struct pcm_importer *im, uint32_t part, const xmlNode *role,
			     uint32_t *instance)
{
	*instance = ARCH_NONE;
	for (; part; part = im->parts[part].parent) {
		const struct pcm_part *p = &im->parts[part], *whole = &im->parts[p->parent];
		const xmlNode *c;
		int ret = find_connector(im, whole->structure, ASSEMBLY, p->context, role, &c);

		if (ret)
			return ret;
		if (c) {
			uint32_t to;

			ret = follow_connector(im, c, p->parent, &to, &role);
			return ret ? ret : pcm_system_provider(im, c, to, role, instance);
		}
		ret = find_connector(im, whole->structure, REQUIRED, p->context, role, &c);
		if (ret || !c)
			return ret;
		if (!p->parent)
			return pcm_fail(im, c, "leads out of the system, which is not supported");
		ret = pcm_follow(im, c, connector_of(c)->to_role, NULL, &role);
		if (ret)
			return ret;
	}
	return 0;
}

static int pcm_system_wire(struct pcm_importer *im, uint32_t part)
{
	const char *const item = "requiredRoles_InterfaceRequiringEntity";
	const struct pcm_part *p = &im->parts[part];
	int ret = 0;

	for (const xmlNode *r = pcm_first(p->structure, item); r; r = pcm_next(r, item)) {
		ret = pcm_system_server(im, part, r,
					&im->m->instances[p->instance].wires[pcm_index(r)]);
		if (ret)
			return ret;
	}
	return 0;
}

int pcm_provider(struct pcm_importer *im, const xmlNode *node, const char *reference,
		 void *instance)
{
	const xmlNode *role;
	int ret = pcm_follow(im, node, reference, "providedRoles_InterfaceProvidingEntity", &role);

	if (ret)
		return ret;
	if (role->parent != im->system)
		return pcm_fail(im, node, "%s is no role of the system", pcm_name(role));
	return pcm_system_provider(im, node, 0, role, instance);
}

int pcm_read_system(struct pcm_importer *im)
{
	struct pcm_part *whole = ARCH_ADD(im->parts, im->nr_parts);
	int ret;

	if (!whole)
		return pcm_out_of_memory(im);
	*whole = (struct pcm_part){ .structure = im->system,
				    .parent = ARCH_NONE,
				    .instance = ARCH_NONE };
	ret = read_allocation(im);
	if (ret)
		return ret;
	ret = read_parts(im, 0);
	if (ret)
		return ret;
	for (uint32_t i = 1; i < im->nr_parts; i++) {
		if (im->parts[i].instance != ARCH_NONE)
			ret = pcm_system_wire(im, i);
		if (ret)
			return ret;
	}
	return 0;
}
