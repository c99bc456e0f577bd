// SPDX-License-Identifier: Apache-2.0
/* This file imports behaviours of components: the actions between a Start and a Stop. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

#define AT(member)	offsetof(struct arch_action, member)
#define OF_CASE(member) offsetof(struct arch_case, member)

static int read_body(struct pcm_importer *im, const xmlNode *node, void *out);

static struct arch_action *add_action(struct pcm_importer *im, uint32_t behaviour,
				      const xmlNode *at, enum arch_action_kind kind)
{
	struct arch_action *a = arch_add_action(&im->m->behaviours[behaviour]);
	const char *name = pcm_attribute(at, "entityName");

	if (!a) {
		pcm_out_of_memory(im);
		return NULL;
	}
	a->kind = kind;
	a->at = pcm_place(im, at);
	if (kind == ARCH_LOOP)
		a->loop.collection = ARCH_NONE;
	if (name && *name) {
		a->name = strdup(name);
		if (!a->name) {
			pcm_out_of_memory(im);
			return NULL;
		}
	}
	return a;
}

int pcm_probability(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	double *probability = out;
	int ret = pcm_number(im, node, name, 0, probability);

	if (ret || (*probability >= 0 && *probability <= 1))
		return ret;
	return pcm_fail(im, node, "%s: expected 0 to 1, got %g", name, *probability);
}

/* Finds the only step of a kind. */
static int find_start(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		      const xmlNode **out)
{
	const char *const step = steps->element;

	*out = NULL;
	for (const xmlNode *s = pcm_first(node, step); s; s = pcm_next(s, step)) {
		if (strcmp(pcm_type(s), steps->start))
			continue;
		if (*out)
			return pcm_fail(im, s, "a second %s", steps->start);
		*out = s;
	}
	return *out ? 0 : pcm_fail(im, node, "has no %s", steps->start);
}

static int read_step(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		     uint32_t behaviour)
{
	const char *type = pcm_type(node);
	const struct pcm_step *s = steps->known;
	struct arch_action *a;

	while (s->type && strcmp(s->type, type))
		s++;
	if (!s->type)
		return pcm_fail(im, node, "action that is not supported: %s",
				*type ? type : "of no type");
	if (s->many)
		return pcm_read(im, node, steps->ignored, "", s->fields, &behaviour);
	a = add_action(im, behaviour, node, s->kind);
	return a ? pcm_read(im, node, steps->ignored, "", s->fields, a) : -ENOMEM;
}

/*
 * Finds the step after a step. *at becomes NULL at the Stop, which must come after all the others.
 */
static int follow_step(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		       uint32_t nr_left, const xmlNode **at)
{
	const xmlNode *next;
	int ret = pcm_follow(im, *at, steps->successor, steps->element, &next);

	if (ret)
		return ret;
	if (next->parent != node)
		return pcm_fail(im, *at, "its successor is in another behaviour");
	if (!nr_left)
		return pcm_fail(im, next, "its successors come back to it");
	*at = next;
	if (strcmp(pcm_type(next), steps->stop))
		return 0;
	if (nr_left > 1)
		return pcm_fail(im, node, "%u of its steps do not follow the %s", nr_left - 1,
				steps->start);
	*at = NULL;
	return 0;
}

/* Follows successors from Start to Stop. The caller frees *chain, also after an error. */
static int find_chain(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		      const xmlNode ***chain, uint32_t *nr)
{
	const char *const step = steps->element;
	const xmlNode *at, **slot;
	uint32_t nr_left = 0;
	int ret = find_start(im, node, steps, &at);

	*chain = NULL;
	*nr = 0;
	if (ret)
		return ret;
	for (const xmlNode *s = pcm_first(node, step); s; s = pcm_next(s, step))
		nr_left++;
	for (;;) {
		ret = follow_step(im, node, steps, --nr_left, &at);
		if (ret || !at)
			return ret;
		slot = ARCH_ADD(*chain, *nr);
		if (!slot)
			return pcm_out_of_memory(im);
		*slot = at;
	}
}

int pcm_read_steps(struct pcm_importer *im, const xmlNode *node, const struct pcm_steps *steps,
		   uint32_t *behaviour)
{
	const xmlNode **chain = NULL;
	uint32_t nr;
	int ret;

	*behaviour = im->m->nr_behaviours;
	if (!ARCH_ADD(im->m->behaviours, im->m->nr_behaviours))
		return pcm_out_of_memory(im);
	/*
	 * The index is set before the steps are read, so that a behaviour that calls itself is
	 * found as a cycle.
	 */
	pcm_set_index(node, *behaviour);
	if (im->depth++ == PCM_MAX_DEPTH)
		return pcm_fail(im, node, "behaviours nested too deep");
	ret = find_chain(im, node, steps, &chain, &nr);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < nr; i++) {
		ret = read_step(im, chain[i], steps, *behaviour);
		if (ret)
			goto out;
	}
out:
	free(chain);
	im->depth--;
	return ret;
}

static int read_role(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	const xmlNode *role;
	uint32_t *index = out;
	int ret = pcm_follow(im, node, name, NULL, &role);

	if (ret)
		return ret;
	*index = ARCH_NONE;
	if (pcm_is(role, "requiredRoles_InterfaceRequiringEntity") && role->parent == im->component)
		*index = pcm_index(role);
	if (*index == ARCH_NONE)
		return pcm_fail(im, node, "%s is no required role of %s", pcm_name(role),
				pcm_name(im->component));
	return 0;
}

/* Adds one of the demands of an internal action. */
static int add_demand(struct pcm_importer *im, const xmlNode *node, const char *attributes,
		      const char *children, const struct pcm_field *fields, uint32_t behaviour)
{
	struct arch_action *a = add_action(im, behaviour, node->parent, ARCH_DEMAND);
	int ret;

	if (!a)
		return -ENOMEM;
	a->at = pcm_place(im, node);
	ret = pcm_read(im, node, attributes, children, fields, a);
	return ret ? ret : pcm_storage_request(im, node->parent, a);
}

static int read_demand(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_CHILD("requiredResource_ParametricResourceDemand", pcm_resource_type,
			  AT(demand.type)),
		PCM_CHILD("specification_ParametericResourceDemand", pcm_expression,
			  AT(demand.amount)),
		{ 0 },
	};

	return add_demand(im, node, "", "", fields, *(uint32_t *)out);
}

static int read_resource_call(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_ATTRIBUTE("resourceRequiredRole__ResourceCall", pcm_resource_call, 0),
		PCM_CHILD("numberOfCalls__ResourceCall", pcm_expression, AT(demand.amount)),
		{ 0 },
	};
	const char *const signature = "signature__ResourceCall";

	return add_demand(im, node, signature, signature, fields, *(uint32_t *)out);
}

/* Reads the number of calls. The simulation truncates it to a whole number. */
static int read_turns(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	return pcm_expression_in(im, node, name, "Trunc(", ")", out);
}

/* Reads the call in the body of the loop that an infrastructure call becomes. */
static int read_turn(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	struct arch_action *a = out;
	int ret;

	a->loop.body = im->m->nr_behaviours;
	if (!ARCH_ADD(im->m->behaviours, im->m->nr_behaviours))
		return pcm_out_of_memory(im);
	a = add_action(im, a->loop.body, node, ARCH_CALL);
	if (!a)
		return -ENOMEM;
	ret = read_role(im, node, name, &a->call.role);
	if (ret)
		return ret;
	ret = pcm_signature(im, node, "signature__InfrastructureCall", &a->call.signature);
	if (ret)
		return ret;
	return pcm_variables(im, node, "inputVariableUsages__CallAction", &a->call.in);
}

static int read_infrastructure_call(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_CHILD("numberOfCalls__InfrastructureCall", read_turns, AT(loop.count)),
		PCM_REFERENCE("requiredRole__InfrastructureCall", read_turn, 0),
		{ 0 },
	};
	const char *const signature = "signature__InfrastructureCall";
	const char *const children =
		"signature__InfrastructureCall inputVariableUsages__CallAction";
	struct arch_action *a = add_action(im, *(uint32_t *)out, node, ARCH_LOOP);

	return a ? pcm_read(im, node, signature, children, fields, a) : -ENOMEM;
}

static int read_failure(struct pcm_importer *im, const xmlNode *node, void *out)
{
	return pcm_refuse_above_0(im, node, "failureProbability", out);
}

static const struct pcm_field internal_fields[] = {
	PCM_EACH("internalFailureOccurrenceDescriptions__InternalAction", read_failure, 0),
	PCM_EACH("resourceDemand_Action", read_demand, 0),
	PCM_EACH("resourceCall__Action", read_resource_call, 0),
	PCM_EACH("infrastructureCall__Action", read_infrastructure_call, 0),
	/* The hook of the last field sees the action when all of its demands have been read. */
	PCM_ATTRIBUTE("id", pcm_storage_check, 0),
	{ 0 },
};

static const struct pcm_field external_call_fields[] = {
	PCM_ATTRIBUTE("retryCount", pcm_refuse_above_0, 0),
	PCM_REFERENCE("role_ExternalService", read_role, AT(call.role)),
	PCM_REFERENCE("calledService_ExternalService", pcm_signature, AT(call.signature)),
	PCM_CHILD("inputVariableUsages__CallAction", pcm_variables, AT(call.in)),
	PCM_CHILD("returnVariableUsage__CallReturnAction", pcm_variables, AT(call.out)),
	{ 0 },
};

static const struct pcm_field loop_fields[] = {
	PCM_CHILD("iterationCount_LoopAction", pcm_expression, AT(loop.count)),
	PCM_ONE("bodyBehaviour_Loop", read_body, AT(loop.body)),
	{ 0 },
};

/* Reads the collection. The loop has as many turns as the collection has elements. */
static int read_collection(struct pcm_importer *im, const xmlNode *node, const char *reference,
			   void *out)
{
	struct arch_action *a = out;
	const xmlNode *parameter;
	const char *name;
	char count[512];
	struct err why = { 0 };
	int ret = pcm_follow(im, node, reference, NULL, &parameter);

	if (ret)
		return ret;
	name = pcm_attribute(parameter, "parameterName");
	if (!name || !*name || strlen(name) > 400)
		return pcm_fail(im, node, "its parameter has no name");
	snprintf(count, sizeof(count), "%s.NUMBER_OF_ELEMENTS", name);
	if (stoex_parse(&a->loop.count, count, STOEX_PALLADIO, &im->m->names, &why))
		return pcm_fail(im, node, "%s", why.line);
	a->loop.collection = stoex_name(&im->m->names, name, strlen(name));
	return a->loop.collection == UINT32_MAX ? pcm_out_of_memory(im) : 0;
}

static const struct pcm_field iterator_fields[] = {
	PCM_REFERENCE("parameter_CollectionIteratorAction", read_collection, 0),
	PCM_ONE("bodyBehaviour_Loop", read_body, AT(loop.body)),
	{ 0 },
};

static int read_case(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field guarded[] = {
		PCM_CHILD("branchCondition_GuardedBranchTransition", pcm_expression,
			  OF_CASE(guard)),
		PCM_ONE("branchBehaviour_BranchTransition", read_body, OF_CASE(body)),
		{ 0 },
	};
	static const struct pcm_field probable[] = {
		PCM_ATTRIBUTE("branchProbability", pcm_probability, OF_CASE(probability)),
		PCM_ONE("branchBehaviour_BranchTransition", read_body, OF_CASE(body)),
		{ 0 },
	};
	struct arch_action *a = out;
	struct arch_case *c;

	if (!a->branch.nr)
		a->branch.guarded = !strcmp(pcm_type(node), "GuardedBranchTransition");
	if (strcmp(pcm_type(node),
		   a->branch.guarded ? "GuardedBranchTransition" : "ProbabilisticBranchTransition"))
		return pcm_fail(im, node,
				"expected GuardedBranchTransition or "
				"ProbabilisticBranchTransition, the same in all of a branch, got "
				"%s",
				*pcm_type(node) ? pcm_type(node) : "no type");
	c = ARCH_ADD(a->branch.cases, a->branch.nr);
	return c ? pcm_read(im, node, "", "", a->branch.guarded ? guarded : probable, c)
		 : pcm_out_of_memory(im);
}

static const struct pcm_field branch_fields[] = {
	PCM_EACH("branches_Branch", read_case, 0),
	{ 0 },
};

/* Adds one body to a fork. */
static int read_forked(struct pcm_importer *im, const xmlNode *node, void *out)
{
	struct arch_action *a = out;
	uint32_t body, *slot;
	int ret = read_body(im, node, &body);

	if (ret)
		return ret;
	slot = ARCH_ADD(a->fork.bodies, a->fork.nr);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = body;
	return 0;
}

/* Reads the bodies that the fork waits for. */
static int read_joined(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("synchronousForkedBehaviours_SynchronisationPoint", read_forked, 0),
		{ 0 },
	};
	struct arch_action *a = out;
	const xmlNode *point = pcm_first(node, name);
	int ret;

	if (!point)
		return 0;
	if (pcm_next(point, name))
		return pcm_fail(im, node, "more than one synchronisation point");
	ret = pcm_read(im, point, "", "", fields, a);
	a->fork.nr_joined = a->fork.nr;
	return ret;
}

static const struct pcm_field fork_fields[] = {
	PCM_CHILD("synchronisingBehaviours_ForkAction", read_joined, 0),
	PCM_EACH("asynchronousForkedBehaviours_ForkAction", read_forked, 0),
	{ 0 },
};

static int refuse_timeout(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	const char *timeout = pcm_attribute(node, name);

	(void)out;
	if (timeout && strcmp(timeout, "false"))
		return pcm_fail(im, node, "a timeout is not supported");
	return 0;
}

static int read_passive(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	const xmlNode *passive;
	int ret = pcm_follow(im, node, name, "passiveResource_BasicComponent", &passive);

	if (ret)
		return ret;
	if (passive->parent != im->component)
		return pcm_fail(im, node, "%s is no passive resource of %s", pcm_name(passive),
				pcm_name(im->component));
	*(uint32_t *)out = pcm_index(passive);
	return 0;
}

static const struct pcm_field acquire_fields[] = {
	PCM_ATTRIBUTE("timeout", refuse_timeout, 0),
	PCM_ATTRIBUTE("timeoutValue", NULL, 0),
	PCM_REFERENCE("passiveresource_AcquireAction", read_passive, AT(passive)),
	{ 0 },
};

static const struct pcm_field release_fields[] = {
	PCM_REFERENCE("passiveResource_ReleaseAction", read_passive, AT(passive)),
	{ 0 },
};

static const struct pcm_field set_fields[] = {
	PCM_CHILD("localVariableUsages_SetVariableAction", pcm_variables, AT(set)),
	{ 0 },
};

static int read_internal_behaviour(struct pcm_importer *im, const xmlNode *node, const char *name,
				   void *out)
{
	const xmlNode *called;
	uint32_t *body = out;
	int ret = pcm_follow(im, node, name, "resourceDemandingInternalBehaviours", &called);

	if (ret)
		return ret;
	if (called->parent->parent != im->component)
		return pcm_fail(im, node, "calls a behaviour of another component");
	*body = pcm_index(called);
	return *body == ARCH_NONE ? read_body(im, called, body) : 0;
}

static const struct pcm_field internal_call_fields[] = {
	PCM_CHILD("inputVariableUsages__CallAction", pcm_variables, AT(inner.in)),
	PCM_REFERENCE("calledResourceDemandingInternalBehaviour", read_internal_behaviour,
		      AT(inner.body)),
	{ 0 },
};

static const struct pcm_step seff_steps[] = {
	{ "InternalAction", 0, true, internal_fields },
	{ "ExternalCallAction", ARCH_CALL, false, external_call_fields },
	{ "InternalCallAction", ARCH_BODY, false, internal_call_fields },
	{ "LoopAction", ARCH_LOOP, false, loop_fields },
	{ "CollectionIteratorAction", ARCH_LOOP, false, iterator_fields },
	{ "BranchAction", ARCH_BRANCH, false, branch_fields },
	{ "ForkAction", ARCH_FORK, false, fork_fields },
	{ "AcquireAction", ARCH_ACQUIRE, false, acquire_fields },
	{ "ReleaseAction", ARCH_RELEASE, false, release_fields },
	{ "SetVariableAction", ARCH_SET, false, set_fields },
	{ 0 },
};

const struct pcm_steps pcm_seff = {
	.element = "steps_Behaviour",
	.start = "StartAction",
	.stop = "StopAction",
	.successor = "successor_AbstractAction",
	.ignored = "predecessor_AbstractAction successor_AbstractAction",
	.known = seff_steps,
};

/* Reads a nested behaviour. */
static int read_body(struct pcm_importer *im, const xmlNode *node, void *out)
{
	int ret = pcm_allow(im, node, "", "steps_Behaviour");

	return ret ? ret : pcm_read_steps(im, node, &pcm_seff, out);
}
