// SPDX-License-Identifier: Apache-2.0
/* This file imports usage scenarios: who calls the system, how often, and in which order. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_parts.h"

#define AT(member)	    offsetof(struct arch_action, member)
#define OF_SCENARIO(member) offsetof(struct arch_scenario, member)

static int read_behaviour(struct pcm_importer *im, const xmlNode *node, void *out);

static const struct pcm_field call_fields[] = {
	PCM_ATTRIBUTE("priority", pcm_refuse_above_0, 0),
	PCM_REFERENCE("providedRole_EntryLevelSystemCall", pcm_provider, AT(call.role)),
	PCM_REFERENCE("operationSignature__EntryLevelSystemCall", pcm_signature,
		      AT(call.signature)),
	PCM_CHILD("inputParameterUsages_EntryLevelSystemCall", pcm_variables, AT(call.in)),
	PCM_CHILD("outputParameterUsages_EntryLevelSystemCall", pcm_variables, AT(call.out)),
	{ 0 },
};

static const struct pcm_field loop_fields[] = {
	PCM_CHILD("loopIteration_Loop", pcm_expression, AT(loop.count)),
	PCM_ONE("bodyBehaviour_Loop", read_behaviour, AT(loop.body)),
	{ 0 },
};

static int read_case(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_ATTRIBUTE("branchProbability", pcm_probability,
			      offsetof(struct arch_case, probability)),
		PCM_ONE("branchedBehaviour_BranchTransition", read_behaviour,
			offsetof(struct arch_case, body)),
		{ 0 },
	};
	struct arch_action *a = out;
	struct arch_case *c = ARCH_ADD(a->branch.cases, a->branch.nr);

	return c ? pcm_read(im, node, "", "", fields, c) : pcm_out_of_memory(im);
}

static const struct pcm_field branch_fields[] = {
	PCM_EACH("branchTransitions_Branch", read_case, 0),
	{ 0 },
};

static int read_delay(struct pcm_importer *im, const xmlNode *node, const char *name, void *out)
{
	struct arch_action *a = out;

	a->demand.type = arch_find_type(im->m, "delay");
	return pcm_expression(im, node, name, &a->demand.amount);
}

static const struct pcm_field delay_fields[] = {
	PCM_CHILD("timeSpecification_Delay", read_delay, 0),
	{ 0 },
};

static const struct pcm_step usage_steps[] = {
	{ "EntryLevelSystemCall", ARCH_CALL, false, call_fields },
	{ "Loop", ARCH_LOOP, false, loop_fields },
	{ "Branch", ARCH_BRANCH, false, branch_fields },
	{ "Delay", ARCH_DEMAND, false, delay_fields },
	{ 0 },
};

static int read_behaviour(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_steps steps = {
		.element = "actions_ScenarioBehaviour",
		.start = "Start",
		.stop = "Stop",
		.successor = "successor",
		.ignored = "predecessor successor",
		.known = usage_steps,
	};
	int ret = pcm_allow(im, node, "", "actions_ScenarioBehaviour");

	return ret ? ret : pcm_read_steps(im, node, &steps, out);
}

static int read_population(struct pcm_importer *im, const xmlNode *node, const char *name,
			   void *out)
{
	struct arch_scenario *s = out;
	double population;
	int ret = pcm_number(im, node, name, 0, &population);

	if (ret)
		return ret;
	s->population = stoex_number(population, &im->m->names);
	if (!s->population)
		return pcm_out_of_memory(im);
	s->at = pcm_place(im, node);
	return 0;
}

static int read_workload(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field open[] = {
		PCM_CHILD("interArrivalTime_OpenWorkload", pcm_expression, OF_SCENARIO(time)),
		{ 0 },
	}, closed[] = {
		PCM_ATTRIBUTE("population", read_population, 0),
		PCM_CHILD("thinkTime_ClosedWorkload", pcm_expression, OF_SCENARIO(time)),
		{ 0 },
	};
	struct arch_scenario *s = out;
	const char *type = pcm_type(node);

	s->open = !strcmp(type, "OpenWorkload");
	if (!s->open && strcmp(type, "ClosedWorkload"))
		return pcm_fail(im, node, "workload that is not supported: %s", type);
	return pcm_read(im, node, "", "", s->open ? open : closed, s);
}

static int read_scenario(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_ONE("workload_UsageScenario", read_workload, 0),
		PCM_ONE("scenarioBehaviour_UsageScenario", read_behaviour, OF_SCENARIO(behaviour)),
		{ 0 },
	};
	struct arch_scenario *s = ARCH_ADD(im->m->scenarios, im->m->nr_scenarios);

	(void)out;
	if (!s)
		return pcm_out_of_memory(im);
	s->at = pcm_place(im, node);
	s->name = strdup(pcm_name(node));
	return s->name ? pcm_read(im, node, "", "", fields, s) : pcm_out_of_memory(im);
}

/* Adds the parameters of one scenario to every instance of an assembly context. */
static int add_user_data(struct pcm_importer *im, const xmlNode *node, const xmlNode *context,
			 struct arch_scenario *s)
{
	bool any = false;
	int ret;

	if (!s->user)
		s->user = calloc((size_t)im->m->nr_instances + 1, sizeof(*s->user));
	if (!s->user)
		return pcm_out_of_memory(im);
	for (uint32_t i = 1; i < im->nr_parts; i++) {
		if (im->parts[i].context != context || im->parts[i].instance == ARCH_NONE)
			continue;
		any = true;
		ret = pcm_variables(im, node, "userDataParameterUsages_UserData",
				    &s->user[im->parts[i].instance]);
		if (ret)
			return ret;
	}
	return any ? 0
		   : pcm_fail(im, node, "%s is no basic component of the system",
			      pcm_name(context));
}

static int read_user_context(struct pcm_importer *im, const xmlNode *node, const char *name,
			     void *out)
{
	const xmlNode *context;
	int ret = pcm_follow(im, node, name, "assemblyContexts__ComposedStructure", &context);

	(void)out;
	if (ret)
		return ret;
	for (uint32_t i = 0; i < im->m->nr_scenarios; i++) {
		ret = add_user_data(im, node, context, &im->m->scenarios[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads the parameters that users provide to every instance of an assembly context. */
static int read_user_data(struct pcm_importer *im, const xmlNode *node, void *out)
{
	static const struct pcm_field fields[] = {
		PCM_REFERENCE("assemblyContext_userData", read_user_context, 0),
		{ 0 },
	};

	return pcm_read(im, node, "", "userDataParameterUsages_UserData", fields, out);
}

int pcm_read_usage(struct pcm_importer *im)
{
	static const struct pcm_field fields[] = {
		PCM_EACH("usageScenario_UsageModel", read_scenario, 0),
		PCM_EACH("userData_UsageModel", read_user_data, 0),
		{ 0 },
	};

	return pcm_read(im, im->usage, "", "", fields, im);
}
