// SPDX-License-Identifier: Apache-2.0
/* Usage scenarios: who calls the system, how often, and in what order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

#define ORDER "predecessor successor"

static int read_behaviour(struct pcm_importer *im, const xmlNode *node, uint32_t *behaviour);

static int read_call(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const to = "providedRole_EntryLevelSystemCall";
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_CALL);
	const xmlNode *role, *signature;
	int error;

	if (!a)
		return -ENOMEM;
	error = pcm_allow(im, node,
			  ORDER " priority providedRole_EntryLevelSystemCall "
				"operationSignature__EntryLevelSystemCall",
			  "providedRole_EntryLevelSystemCall "
			  "operationSignature__EntryLevelSystemCall "
			  "inputParameterUsages_EntryLevelSystemCall "
			  "outputParameterUsages_EntryLevelSystemCall");
	if (!error)
		error = pcm_refuse_above_0(im, node, "priority");
	if (!error)
		error = pcm_follow(im, node, to, "providedRoles_InterfaceProvidingEntity", &role);
	if (!error)
		error = pcm_provider(im, node, role, &a->call.role);
	if (!error)
		error = pcm_follow(im, node, "operationSignature__EntryLevelSystemCall", NULL,
				   &signature);
	if (!error)
		error = pcm_signature(im, signature, &a->call.signature);
	if (!error)
		error = pcm_variables(im, node, "inputParameterUsages_EntryLevelSystemCall",
				      &a->call.in);
	return error ? error
		     : pcm_variables(im, node, "outputParameterUsages_EntryLevelSystemCall",
				     &a->call.out);
}

static int read_loop(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_LOOP);
	const xmlNode *body;
	int error;

	if (!a)
		return -ENOMEM;
	a->loop.collection = ARCH_NONE;
	error = pcm_allow(im, node, ORDER, "loopIteration_Loop bodyBehaviour_Loop");
	if (!error)
		error = pcm_expression(im, node, "loopIteration_Loop", &a->loop.count);
	if (!error)
		error = pcm_need(im, node, "bodyBehaviour_Loop", &body);
	return error ? error : read_behaviour(im, body, &a->loop.body);
}

static int read_branch(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const item = "branchTransitions_Branch";
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_BRANCH);
	int error;

	if (!a)
		return -ENOMEM;
	error = pcm_allow(im, node, ORDER, "branchTransitions_Branch");
	for (const xmlNode *n = pcm_first(node, item); !error && n; n = pcm_next(n, item)) {
		struct arch_case *c = ARCH_ADD(a->branch.cases, a->branch.nr);
		const xmlNode *body;

		if (!c)
			return pcm_out_of_memory(im);
		error = pcm_allow(im, n, "branchProbability", "branchedBehaviour_BranchTransition");
		if (!error)
			error = pcm_probability(im, n, &c->probability);
		if (!error)
			error = pcm_need(im, n, "branchedBehaviour_BranchTransition", &body);
		if (!error)
			error = read_behaviour(im, body, &c->body);
	}
	return error;
}

static int read_delay(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_DEMAND);
	int error;

	if (!a)
		return -ENOMEM;
	a->demand.type = arch_find_type(im->m, "delay");
	error = pcm_allow(im, node, ORDER, "timeSpecification_Delay");
	return error ? error
		     : pcm_expression(im, node, "timeSpecification_Delay", &a->demand.amount);
}

static int read_action(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *type = pcm_type(node);

	if (!strcmp(type, "EntryLevelSystemCall"))
		return read_call(im, node, behaviour);
	if (!strcmp(type, "Loop"))
		return read_loop(im, node, behaviour);
	if (!strcmp(type, "Branch"))
		return read_branch(im, node, behaviour);
	if (!strcmp(type, "Delay"))
		return read_delay(im, node, behaviour);
	return pcm_fail(im, node, "action that is not supported: %s", *type ? type : "of no type");
}

static int read_behaviour(struct pcm_importer *im, const xmlNode *node, uint32_t *behaviour)
{
	const xmlNode **chain;
	uint32_t nr;
	int error = pcm_add_behaviour(im, behaviour);

	if (!error)
		error = pcm_allow(im, node, "", "actions_ScenarioBehaviour");
	if (!error && im->depth++ == PCM_MAX_DEPTH)
		error = pcm_fail(im, node, "behaviours nested too deep");
	if (!error)
		error = pcm_chain(im, node, "actions_ScenarioBehaviour", "Start", "Stop",
				  "successor", &chain, &nr);
	if (error)
		return error;
	for (uint32_t i = 0; !error && i < nr; i++)
		error = read_action(im, chain[i], *behaviour);
	free(chain);
	im->depth--;
	return error;
}

static int read_workload(struct pcm_importer *im, const xmlNode *node, struct arch_scenario *s)
{
	const char *type = pcm_type(node);
	double population;
	int error;

	if (!strcmp(type, "OpenWorkload")) {
		s->open = true;
		error = pcm_allow(im, node, "", "interArrivalTime_OpenWorkload");
		return error ? error
			     : pcm_expression(im, node, "interArrivalTime_OpenWorkload", &s->time);
	}
	if (strcmp(type, "ClosedWorkload"))
		return pcm_fail(im, node, "workload that is not supported: %s", type);
	error = pcm_allow(im, node, "population", "thinkTime_ClosedWorkload");
	if (!error)
		error = pcm_number(im, node, "population", 0, &population);
	if (error)
		return error;
	s->population = stoex_number(population, &im->m->names);
	if (!s->population)
		return pcm_out_of_memory(im);
	s->at = pcm_place(im, node);
	return pcm_expression(im, node, "thinkTime_ClosedWorkload", &s->time);
}

static int read_scenario(struct pcm_importer *im, const xmlNode *node)
{
	struct arch_scenario *s = ARCH_ADD(im->m->scenarios, im->m->nr_scenarios);
	const xmlNode *behaviour, *workload;
	int error;

	if (!s)
		return pcm_out_of_memory(im);
	s->at = pcm_place(im, node);
	s->name = strdup(pcm_name(node));
	error = s->name ? 0 : pcm_out_of_memory(im);
	if (!error)
		error = pcm_allow(im, node, "",
				  "scenarioBehaviour_UsageScenario workload_UsageScenario");
	if (!error)
		error = pcm_need(im, node, "workload_UsageScenario", &workload);
	if (!error)
		error = read_workload(im, workload, s);
	if (!error)
		error = pcm_need(im, node, "scenarioBehaviour_UsageScenario", &behaviour);
	return error ? error : read_behaviour(im, behaviour, &s->behaviour);
}

/* Parameters that users bring to every instance of an assembly context. */
static int read_user_data(struct pcm_importer *im, const xmlNode *node, struct arch_scenario *s)
{
	const xmlNode *context;
	bool any = false;
	int error = pcm_allow(im, node, "assemblyContext_userData",
			      "assemblyContext_userData userDataParameterUsages_UserData");

	if (!error)
		error = pcm_follow(im, node, "assemblyContext_userData",
				   "assemblyContexts__ComposedStructure", &context);
	if (!error && !s->user) {
		s->user = calloc((size_t)im->m->nr_instances + 1, sizeof(*s->user));
		error = s->user ? 0 : pcm_out_of_memory(im);
	}
	for (uint32_t i = 1; !error && i < im->nr_parts; i++) {
		if (im->parts[i].context != context || im->parts[i].instance == ARCH_NONE)
			continue;
		any = true;
		error = pcm_variables(im, node, "userDataParameterUsages_UserData",
				      &s->user[im->parts[i].instance]);
	}
	if (!error && !any)
		error = pcm_fail(im, node, "%s is no basic component of the system",
				 pcm_name(context));
	return error;
}

int pcm_read_usage(struct pcm_importer *im)
{
	const char *const scenario = "usageScenario_UsageModel";
	const char *const data = "userData_UsageModel";
	int error = pcm_allow(im, im->usage, "", "usageScenario_UsageModel userData_UsageModel");

	for (const xmlNode *n = pcm_first(im->usage, scenario); !error && n;
	     n = pcm_next(n, scenario))
		error = read_scenario(im, n);
	for (const xmlNode *n = pcm_first(im->usage, data); !error && n; n = pcm_next(n, data))
		for (uint32_t i = 0; !error && i < im->m->nr_scenarios; i++)
			error = read_user_data(im, n, &im->m->scenarios[i]);
	return error;
}
