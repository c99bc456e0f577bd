// SPDX-License-Identifier: Apache-2.0
/* Behaviours of components: the actions between a Start and a Stop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

#define ORDER "predecessor_AbstractAction successor_AbstractAction"

int pcm_add_behaviour(struct pcm_importer *im, uint32_t *behaviour)
{
	*behaviour = im->m->nr_behaviours;
	return ARCH_ADD(im->m->behaviours, im->m->nr_behaviours) ? 0 : pcm_out_of_memory(im);
}

struct arch_action *pcm_add_action(struct pcm_importer *im, uint32_t behaviour, const xmlNode *at,
				   enum arch_action_kind kind)
{
	struct arch_action *a = arch_add_action(&im->m->behaviours[behaviour]);
	const char *name = pcm_attribute(at, "entityName");

	if (!a) {
		pcm_out_of_memory(im);
		return NULL;
	}
	a->kind = kind;
	a->at = pcm_place(im, at);
	if (name && *name) {
		a->name = strdup(name);
		if (!a->name) {
			pcm_out_of_memory(im);
			return NULL;
		}
	}
	return a;
}

int pcm_probability(struct pcm_importer *im, const xmlNode *node, double *probability)
{
	int ret = pcm_number(im, node, "branchProbability", 0, probability);

	if (ret)
		return ret;
	if (!(*probability >= 0 && *probability <= 1))
		ret = pcm_fail(im, node, "branchProbability: expected 0 to 1, got %g",
			       *probability);
	return ret;
}

/* Finds the only step of a kind. */
static int find_start(struct pcm_importer *im, const xmlNode *node, const char *step,
		      const char *start, const xmlNode **out)
{
	*out = NULL;
	for (const xmlNode *s = pcm_first(node, step); s; s = pcm_next(s, step)) {
		if (strcmp(pcm_type(s), start))
			continue;
		if (*out)
			return pcm_fail(im, s, "a second %s", start);
		*out = s;
	}
	return *out ? 0 : pcm_fail(im, node, "has no %s", start);
}

int pcm_chain(struct pcm_importer *im, const xmlNode *node, const char *step, const char *start,
	      const char *stop, const char *successor, const xmlNode ***chain, uint32_t *nr)
{
	const xmlNode *at;
	uint32_t nr_steps = 0;
	int ret = find_start(im, node, step, start, &at);

	*chain = NULL;
	*nr = 0;
	for (const xmlNode *s = pcm_first(node, step); s; s = pcm_next(s, step))
		nr_steps++;
	for (uint32_t i = 1; !ret; i++) {
		const xmlNode *next, **slot;

		ret = pcm_follow(im, at, successor, step, &next);
		if (ret)
			break;
		if (next->parent != node)
			ret = pcm_fail(im, at, "its successor is in another behaviour");
		else if (i >= nr_steps)
			ret = pcm_fail(im, next, "its successors come back to it");
		if (ret || !strcmp(pcm_type(next), stop)) {
			if (!ret && i + 1 < nr_steps)
				ret = pcm_fail(im, node, "%u of its steps do not follow the %s",
					       nr_steps - i - 1, start);
			break;
		}
		slot = ARCH_ADD(*chain, *nr);
		if (!slot)
			ret = pcm_out_of_memory(im);
		else
			*slot = next;
		at = next;
	}
	if (ret) {
		free(*chain);
		*chain = NULL;
	}
	return ret;
}

static int read_demand(struct pcm_importer *im, const xmlNode *node, const xmlNode *owner,
		       uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, owner, ARCH_DEMAND);
	int ret;

	if (!a)
		return -ENOMEM;
	a->at = pcm_place(im, node);
	ret = pcm_allow(im, node, "",
			"specification_ParametericResourceDemand "
			"requiredResource_ParametricResourceDemand");
	if (!ret)
		ret = pcm_resource_type(im, node, "requiredResource_ParametricResourceDemand",
					&a->demand.type);
	return ret ? ret
		   : pcm_expression(im, node, "specification_ParametericResourceDemand",
				    &a->demand.amount);
}

static int read_resource_call(struct pcm_importer *im, const xmlNode *node, const xmlNode *owner,
			      uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, owner, ARCH_DEMAND);
	int ret;

	if (!a)
		return -ENOMEM;
	a->at = pcm_place(im, node);
	ret = pcm_allow(im, node, "resourceRequiredRole__ResourceCall signature__ResourceCall",
			"signature__ResourceCall numberOfCalls__ResourceCall");
	if (!ret)
		ret = pcm_resource_call(im, node, &a->demand.type, &a->demand.direction);
	return ret ? ret
		   : pcm_expression(im, node, "numberOfCalls__ResourceCall", &a->demand.amount);
}

/* Reads the role and the signature of a call from the references of these names. */
static int read_target(struct pcm_importer *im, const xmlNode *node, const char *role_name,
		       const char *signature_name, struct arch_action *a)
{
	const xmlNode *role, *signature;
	int ret = pcm_follow(im, node, role_name, NULL, &role);

	if (ret)
		return ret;
	a->call.role = pcm_role(im, role);
	if (a->call.role == ARCH_NONE)
		return pcm_fail(im, node, "%s is no required role of %s", pcm_name(role),
				pcm_name(im->component));
	ret = pcm_follow(im, node, signature_name, NULL, &signature);
	return ret ? ret : pcm_signature(im, signature, &a->call.signature);
}

/*
 * Reads an infrastructure call as the body of a loop. The number of turns is truncated to a whole
 * number.
 */
static int read_infrastructure_call(struct pcm_importer *im, const xmlNode *node,
				    uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_LOOP);
	int ret;

	if (!a)
		return -ENOMEM;
	a->loop.collection = ARCH_NONE;
	ret = pcm_allow(im, node, "signature__InfrastructureCall requiredRole__InfrastructureCall",
			"signature__InfrastructureCall requiredRole__InfrastructureCall "
			"numberOfCalls__InfrastructureCall inputVariableUsages__CallAction");
	if (!ret)
		ret = pcm_expression_in(im, node, "numberOfCalls__InfrastructureCall", "Trunc(",
					")", &a->loop.count);
	if (!ret)
		ret = pcm_add_behaviour(im, &a->loop.body);
	if (ret)
		return ret;
	a = pcm_add_action(im, a->loop.body, node, ARCH_CALL);
	if (!a)
		return -ENOMEM;
	ret = read_target(im, node, "requiredRole__InfrastructureCall",
			  "signature__InfrastructureCall", a);
	return ret ? ret : pcm_variables(im, node, "inputVariableUsages__CallAction", &a->call.in);
}

static int refuse_failures(struct pcm_importer *im, const xmlNode *node)
{
	const char *const failure = "internalFailureOccurrenceDescriptions__InternalAction";
	int ret = 0;

	for (const xmlNode *f = pcm_first(node, failure); f; f = pcm_next(f, failure)) {
		ret = pcm_refuse_above_0(im, f, "failureProbability");
		if (ret)
			return ret;
	}
	return 0;
}

static int read_internal(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const demand = "resourceDemand_Action", *const call = "resourceCall__Action";
	const char *const infrastructure = "infrastructureCall__Action";
	int ret = pcm_allow(im, node, ORDER,
			    "resourceDemand_Action resourceCall__Action "
			    "infrastructureCall__Action "
			    "internalFailureOccurrenceDescriptions__InternalAction");

	if (ret)
		return ret;
	ret = refuse_failures(im, node);
	if (ret)
		return ret;
	for (const xmlNode *n = pcm_first(node, demand); n; n = pcm_next(n, demand)) {
		ret = read_demand(im, n, node, behaviour);
		if (ret)
			return ret;
	}
	for (const xmlNode *n = pcm_first(node, call); n; n = pcm_next(n, call)) {
		ret = read_resource_call(im, n, node, behaviour);
		if (ret)
			return ret;
	}
	for (const xmlNode *n = pcm_first(node, infrastructure); n;
	     n = pcm_next(n, infrastructure)) {
		ret = read_infrastructure_call(im, n, behaviour);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_external_call(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_CALL);
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node,
			ORDER " calledService_ExternalService role_ExternalService retryCount",
			"calledService_ExternalService role_ExternalService "
			"inputVariableUsages__CallAction returnVariableUsage__CallReturnAction");
	if (!ret)
		ret = pcm_refuse_above_0(im, node, "retryCount");
	if (!ret)
		ret = read_target(im, node, "role_ExternalService", "calledService_ExternalService",
				  a);
	if (!ret)
		ret = pcm_variables(im, node, "inputVariableUsages__CallAction", &a->call.in);
	return ret ? ret
		   : pcm_variables(im, node, "returnVariableUsage__CallReturnAction", &a->call.out);
}

/* Reads the behaviour in a child element; *behaviour becomes its index. */
static int read_body(struct pcm_importer *im, const xmlNode *node, const char *child,
		     uint32_t *behaviour)
{
	const xmlNode *body;
	int ret = pcm_need(im, node, child, &body);

	if (!ret)
		ret = pcm_allow(im, body, "", "steps_Behaviour");
	return ret ? ret : pcm_read_steps(im, body, behaviour);
}

static int read_loop(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_LOOP);
	int ret;

	if (!a)
		return -ENOMEM;
	a->loop.collection = ARCH_NONE;
	ret = pcm_allow(im, node, ORDER, "iterationCount_LoopAction bodyBehaviour_Loop");
	if (!ret)
		ret = pcm_expression(im, node, "iterationCount_LoopAction", &a->loop.count);
	return ret ? ret : read_body(im, node, "bodyBehaviour_Loop", &a->loop.body);
}

static int read_iterator(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_LOOP);
	const xmlNode *parameter;
	const char *name;
	char count[512];
	struct err why = { 0 };
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node, ORDER " parameter_CollectionIteratorAction",
			"parameter_CollectionIteratorAction bodyBehaviour_Loop");
	if (!ret)
		ret = pcm_follow(im, node, "parameter_CollectionIteratorAction", NULL, &parameter);
	if (ret)
		return ret;
	name = pcm_attribute(parameter, "parameterName");
	if (!name || !*name || strlen(name) > 400)
		return pcm_fail(im, node, "its parameter has no name");
	snprintf(count, sizeof(count), "%s.NUMBER_OF_ELEMENTS", name);
	if (stoex_parse(&a->loop.count, count, STOEX_PALLADIO, &im->m->names, &why))
		return pcm_fail(im, node, "%s", why.line);
	a->loop.collection = stoex_name(&im->m->names, name, strlen(name));
	if (a->loop.collection == UINT32_MAX)
		return pcm_out_of_memory(im);
	return read_body(im, node, "bodyBehaviour_Loop", &a->loop.body);
}

static int read_case(struct pcm_importer *im, const xmlNode *node, bool guarded,
		     struct arch_case *c)
{
	int ret = pcm_allow(im, node, guarded ? "" : "branchProbability",
			    guarded ? "branchBehaviour_BranchTransition "
				      "branchCondition_GuardedBranchTransition"
				    : "branchBehaviour_BranchTransition");

	if (!ret && guarded)
		ret = pcm_expression(im, node, "branchCondition_GuardedBranchTransition",
				     &c->guard);
	if (!ret && !guarded)
		ret = pcm_probability(im, node, &c->probability);
	return ret ? ret : read_body(im, node, "branchBehaviour_BranchTransition", &c->body);
}

static int read_branch(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const item = "branches_Branch";
	const xmlNode *first = pcm_first(node, item);
	bool guarded = first && !strcmp(pcm_type(first), "GuardedBranchTransition");
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_BRANCH);
	int ret;

	if (!a)
		return -ENOMEM;
	a->branch.guarded = guarded;
	ret = pcm_allow(im, node, ORDER, "branches_Branch");
	if (ret)
		return ret;
	for (const xmlNode *n = first; n; n = pcm_next(n, item)) {
		struct arch_case c = { 0 }, *slot;

		if (strcmp(pcm_type(n),
			   guarded ? "GuardedBranchTransition" : "ProbabilisticBranchTransition"))
			return pcm_fail(im, n, "not supported among the first: %s", pcm_type(n));
		ret = read_case(im, n, guarded, &c);
		slot = ARCH_ADD(a->branch.cases, a->branch.nr);
		if (slot) {
			*slot = c;
		} else {
			stoex_free(c.guard);
			return pcm_out_of_memory(im);
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* Adds one body to a fork. */
static int read_forked(struct pcm_importer *im, const xmlNode *node, struct arch_action *a)
{
	uint32_t body, *slot;
	int ret = pcm_allow(im, node, "", "steps_Behaviour");

	if (!ret)
		ret = pcm_read_steps(im, node, &body);
	if (ret)
		return ret;
	slot = ARCH_ADD(a->fork.bodies, a->fork.nr);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = body;
	return 0;
}

static int read_fork(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const free_one = "asynchronousForkedBehaviours_ForkAction";
	const char *const joined = "synchronousForkedBehaviours_SynchronisationPoint";
	const xmlNode *point = pcm_first(node, "synchronisingBehaviours_ForkAction");
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_FORK);
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node, ORDER,
			"asynchronousForkedBehaviours_ForkAction "
			"synchronisingBehaviours_ForkAction");
	if (!ret && point && pcm_next(point, "synchronisingBehaviours_ForkAction"))
		ret = pcm_fail(im, node, "more than one synchronisation point");
	if (!ret && point)
		ret = pcm_allow(im, point, "", "synchronousForkedBehaviours_SynchronisationPoint");
	for (const xmlNode *n = point ? pcm_first(point, joined) : NULL; !ret && n;
	     n = pcm_next(n, joined))
		ret = read_forked(im, n, a);
	a->fork.nr_joined = a->fork.nr;
	if (ret)
		return ret;
	for (const xmlNode *n = pcm_first(node, free_one); n; n = pcm_next(n, free_one)) {
		ret = read_forked(im, n, a);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_lock(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour, bool acquire)
{
	const char *reference =
		acquire ? "passiveresource_AcquireAction" : "passiveResource_ReleaseAction";
	struct arch_action *a =
		pcm_add_action(im, behaviour, node, acquire ? ARCH_ACQUIRE : ARCH_RELEASE);
	const char *timeout = pcm_attribute(node, "timeout");
	const xmlNode *passive;
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node,
			acquire ? ORDER " passiveresource_AcquireAction timeout timeoutValue"
				: ORDER " passiveResource_ReleaseAction",
			reference);
	if (ret)
		return ret;
	if (timeout && strcmp(timeout, "false"))
		ret = pcm_fail(im, node, "a timeout is not supported");
	if (ret)
		return ret;
	ret = pcm_follow(im, node, reference, "passiveResource_BasicComponent", &passive);
	if (ret)
		return ret;
	if (passive->parent != im->component)
		ret = pcm_fail(im, node, "%s is no passive resource of %s", pcm_name(passive),
			       pcm_name(im->component));
	if (ret)
		return ret;
	a->passive = pcm_index(passive);
	return 0;
}

static int read_set_variable(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_SET);
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node, ORDER, "localVariableUsages_SetVariableAction");
	return ret ? ret
		   : pcm_variables(im, node, "localVariableUsages_SetVariableAction", &a->set);
}

static int read_internal_call(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const reference = "calledResourceDemandingInternalBehaviour";
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_BODY);
	const xmlNode *called;
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node, ORDER " calledResourceDemandingInternalBehaviour",
			"calledResourceDemandingInternalBehaviour "
			"inputVariableUsages__CallAction");
	if (!ret)
		ret = pcm_variables(im, node, "inputVariableUsages__CallAction", &a->inner.in);
	if (!ret)
		ret = pcm_follow(im, node, reference, "resourceDemandingInternalBehaviours",
				 &called);
	if (!ret && called->parent->parent != im->component)
		ret = pcm_fail(im, node, "calls a behaviour of another component");
	if (ret)
		return ret;
	a->inner.body = pcm_index(called);
	if (a->inner.body != ARCH_NONE)
		return 0;
	ret = pcm_allow(im, called, "", "steps_Behaviour");
	return ret ? ret : pcm_read_steps(im, called, &a->inner.body);
}

static int read_action(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *type = pcm_type(node);

	if (!strcmp(type, "InternalAction"))
		return read_internal(im, node, behaviour);
	if (!strcmp(type, "ExternalCallAction"))
		return read_external_call(im, node, behaviour);
	if (!strcmp(type, "InternalCallAction"))
		return read_internal_call(im, node, behaviour);
	if (!strcmp(type, "LoopAction"))
		return read_loop(im, node, behaviour);
	if (!strcmp(type, "CollectionIteratorAction"))
		return read_iterator(im, node, behaviour);
	if (!strcmp(type, "BranchAction"))
		return read_branch(im, node, behaviour);
	if (!strcmp(type, "ForkAction"))
		return read_fork(im, node, behaviour);
	if (!strcmp(type, "AcquireAction") || !strcmp(type, "ReleaseAction"))
		return read_lock(im, node, behaviour, *type == 'A');
	if (!strcmp(type, "SetVariableAction"))
		return read_set_variable(im, node, behaviour);
	return pcm_fail(im, node, "action that is not supported: %s", *type ? type : "of no type");
}

int pcm_read_steps(struct pcm_importer *im, const xmlNode *node, uint32_t *behaviour)
{
	const xmlNode **chain;
	uint32_t nr;
	int ret = pcm_add_behaviour(im, behaviour);

	/*
	 * The index is set before the steps are read, so that a behaviour that calls itself is
	 * found as a cycle.
	 */
	pcm_set_index(node, *behaviour);
	if (!ret && im->depth++ == PCM_MAX_DEPTH)
		return pcm_fail(im, node, "behaviours nested too deep");
	if (!ret)
		ret = pcm_chain(im, node, "steps_Behaviour", "StartAction", "StopAction",
				"successor_AbstractAction", &chain, &nr);
	if (ret)
		return ret;
	for (uint32_t i = 0; !ret && i < nr; i++)
		ret = read_action(im, chain[i], *behaviour);
	free(chain);
	im->depth--;
	return ret;
}
