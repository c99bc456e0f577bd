// SPDX-License-Identifier: Apache-2.0
/* Usage scenarios: who calls the system, how often, and in which order. */
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
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node,
			ORDER " priority providedRole_EntryLevelSystemCall "
			      "operationSignature__EntryLevelSystemCall",
			"providedRole_EntryLevelSystemCall "
			"operationSignature__EntryLevelSystemCall "
			"inputParameterUsages_EntryLevelSystemCall "
			"outputParameterUsages_EntryLevelSystemCall");
	if (!ret)
		ret = pcm_refuse_above_0(im, node, "priority");
	if (!ret)
		ret = pcm_follow(im, node, to, "providedRoles_InterfaceProvidingEntity", &role);
	if (!ret)
		ret = pcm_provider(im, node, role, &a->call.role);
	if (!ret)
		ret = pcm_follow(im, node, "operationSignature__EntryLevelSystemCall", NULL,
				 &signature);
	if (!ret)
		ret = pcm_signature(im, signature, &a->call.signature);
	if (!ret)
		ret = pcm_variables(im, node, "inputParameterUsages_EntryLevelSystemCall",
				    &a->call.in);
	return ret ? ret
		   : pcm_variables(im, node, "outputParameterUsages_EntryLevelSystemCall",
				   &a->call.out);
}

static int read_loop(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_LOOP);
	const xmlNode *body;
	int ret;

	if (!a)
		return -ENOMEM;
	a->loop.collection = ARCH_NONE;
	ret = pcm_allow(im, node, ORDER, "loopIteration_Loop bodyBehaviour_Loop");
	if (!ret)
		ret = pcm_expression(im, node, "loopIteration_Loop", &a->loop.count);
	if (!ret)
		ret = pcm_need(im, node, "bodyBehaviour_Loop", &body);
	return ret ? ret : read_behaviour(im, body, &a->loop.body);
}

static int read_branch(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	const char *const item = "branchTransitions_Branch";
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_BRANCH);
	int ret;

	if (!a)
		return -ENOMEM;
	ret = pcm_allow(im, node, ORDER, "branchTransitions_Branch");
	if (ret)
		return ret;
	for (const xmlNode *n = pcm_first(node, item); n; n = pcm_next(n, item)) {
		struct arch_case *c = ARCH_ADD(a->branch.cases, a->branch.nr);
		const xmlNode *body;

		if (!c)
			return pcm_out_of_memory(im);
		ret = pcm_allow(im, n, "branchProbability", "branchedBehaviour_BranchTransition");
		if (ret)
			return ret;
		ret = pcm_probability(im, n, &c->probability);
		if (ret)
			return ret;
		ret = pcm_need(im, n, "branchedBehaviour_BranchTransition", &body);
		if (ret)
			return ret;
		ret = read_behaviour(im, body, &c->body);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_delay(struct pcm_importer *im, const xmlNode *node, uint32_t behaviour)
{
	struct arch_action *a = pcm_add_action(im, behaviour, node, ARCH_DEMAND);
	int ret;

	if (!a)
		return -ENOMEM;
	a->demand.type = arch_find_type(im->m, "delay");
	ret = pcm_allow(im, node, ORDER, "timeSpecification_Delay");
	return ret ? ret : pcm_expression(im, node, "timeSpecification_Delay", &a->demand.amount);
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
	int ret = pcm_add_behaviour(im, behaviour);

	if (!ret)
		ret = pcm_allow(im, node, "", "actions_ScenarioBehaviour");
	if (!ret && im->depth++ == PCM_MAX_DEPTH)
		ret = pcm_fail(im, node, "behaviours nested too deep");
	if (!ret)
		ret = pcm_chain(im, node, "actions_ScenarioBehaviour", "Start", "Stop", "successor",
				&chain, &nr);
	if (ret)
		return ret;
	for (uint32_t i = 0; !ret && i < nr; i++)
		ret = read_action(im, chain[i], *behaviour);
	free(chain);
	im->depth--;
	return ret;
}

static int read_workload(struct pcm_importer *im, const xmlNode *node, struct arch_scenario *s)
{
	const char *type = pcm_type(node);
	double population;
	int ret;

	if (!strcmp(type, "OpenWorkload")) {
		s->open = true;
		ret = pcm_allow(im, node, "", "interArrivalTime_OpenWorkload");
		return ret ? ret
			   : pcm_expression(im, node, "interArrivalTime_OpenWorkload", &s->time);
	}
	if (strcmp(type, "ClosedWorkload"))
		return pcm_fail(im, node, "workload that is not supported: %s", type);
	ret = pcm_allow(im, node, "population", "thinkTime_ClosedWorkload");
	if (!ret)
		ret = pcm_number(im, node, "population", 0, &population);
	if (ret)
		return ret;
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
	int ret;

	if (!s)
		return pcm_out_of_memory(im);
	s->at = pcm_place(im, node);
	s->name = strdup(pcm_name(node));
	ret = s->name ? 0 : pcm_out_of_memory(im);
	if (!ret)
		ret = pcm_allow(im, node, "",
				"scenarioBehaviour_UsageScenario workload_UsageScenario");
	if (!ret)
		ret = pcm_need(im, node, "workload_UsageScenario", &workload);
	if (!ret)
		ret = read_workload(im, workload, s);
	if (!ret)
		ret = pcm_need(im, node, "scenarioBehaviour_UsageScenario", &behaviour);
	return ret ? ret : read_behaviour(im, behaviour, &s->behaviour);
}

/* Reads the parameters that users provide to every instance of an assembly context. */
static int read_user_data(struct pcm_importer *im, const xmlNode *node, struct arch_scenario *s)
{
	const xmlNode *context;
	bool any = false;
	int ret = pcm_allow(im, node, "assemblyContext_userData",
			    "assemblyContext_userData userDataParameterUsages_UserData");

	if (!ret)
		ret = pcm_follow(im, node, "assemblyContext_userData",
				 "assemblyContexts__ComposedStructure", &context);
	if (!ret && !s->user) {
		s->user = calloc((size_t)im->m->nr_instances + 1, sizeof(*s->user));
		ret = s->user ? 0 : pcm_out_of_memory(im);
	}
	for (uint32_t i = 1; !ret && i < im->nr_parts; i++) {
		if (im->parts[i].context != context || im->parts[i].instance == ARCH_NONE)
			continue;
		any = true;
		ret = pcm_variables(im, node, "userDataParameterUsages_UserData",
				    &s->user[im->parts[i].instance]);
	}
	if (ret)
		return ret;
	if (!any)
		ret = pcm_fail(im, node, "%s is no basic component of the system",
			       pcm_name(context));
	return ret;
}

int pcm_read_usage(struct pcm_importer *im)
{
	const char *const scenario = "usageScenario_UsageModel";
	const char *const data = "userData_UsageModel";
	int ret = pcm_allow(im, im->usage, "", "usageScenario_UsageModel userData_UsageModel");

	if (ret)
		return ret;
	for (const xmlNode *n = pcm_first(im->usage, scenario); n; n = pcm_next(n, scenario)) {
		ret = read_scenario(im, n);
		if (ret)
			return ret;
	}
	for (const xmlNode *n = pcm_first(im->usage, data); n; n = pcm_next(n, data)) {
		for (uint32_t i = 0; !ret && i < im->m->nr_scenarios; i++)
			ret = read_user_data(im, n, &im->m->scenarios[i]);
		if (ret)
			return ret;
	}
	return 0;
}
