// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "analyzer/models/arch/arch_draw.h"
#include "base/text/graphviz.h"

static const char *arch_draw_expression(const struct stoex *e)
{
	static char digits[32];
	double v;

	if (!e)
		return "1";
	if (!stoex_is_constant(e, &v))
		return stoex_text(e);
	snprintf(digits, sizeof(digits), "%.6g", v);
	return digits;
}

static const char *policy_name(enum arch_policy policy)
{
	return policy == ARCH_PS ? "PS" : policy == ARCH_FCFS ? "FCFS" : "delay";
}

static void draw_resource(const struct arch_model *m, uint32_t index, FILE *out)
{
	const struct arch_resource *r = &m->resources[index];

	fprintf(out, "    r%" PRIu32 " [shape=box, style=filled, fillcolor=\"#f0f0f0\", label=\"",
		index);
	graphviz_text(out, r->name);
	if (r->servers > 1)
		fprintf(out, " x %" PRIu32, r->servers);
	if (strcmp(r->name, "delay"))
		fprintf(out, "\\n%s", policy_name(r->policy));
	if (r->rate) {
		fputs(", rate ", out);
		graphviz_text(out, arch_draw_expression(r->rate));
	}
	graphviz_end_label(out);
}

static void draw_instance(const struct arch_model *m, uint32_t index, FILE *out)
{
	const struct arch_instance *x = &m->instances[index];
	const struct arch_component *c = &m->components[x->component];

	fprintf(out, "    i%" PRIu32 " [shape=component, label=\"", index);
	graphviz_text(out, x->name);
	if (strcmp(x->name, c->name)) {
		fputs("\\n: ", out);
		graphviz_text(out, c->name);
	}
	for (uint32_t i = 0; i < c->nr_passives; i++) {
		fputs("\\n", out);
		graphviz_text(out, c->passives[i].name);
		fputs(": ", out);
		graphviz_text(out, arch_draw_expression(c->passives[i].capacity));
	}
	graphviz_end_label(out);
}

/* Draws a container. The containers nested in it are drawn inside its box. */
static void draw_container(const struct arch_model *m, uint32_t index, FILE *out)
{
	fprintf(out, "  subgraph cluster_%" PRIu32 " {\n    label=\"", index);
	graphviz_text(out, m->containers[index].name);
	fputs("\"; style=rounded;\n", out);
	/* An edge can only end at a box if it ends at a node inside the box. */
	fprintf(out, "    c%" PRIu32 " [shape=point, style=invis];\n", index);
	for (uint32_t i = 0; i < m->nr_resources; i++)
		if (m->resources[i].container == index)
			draw_resource(m, i, out);
	for (uint32_t i = 0; i < m->nr_instances; i++)
		if (m->instances[i].container == index)
			draw_instance(m, i, out);
	for (uint32_t i = index + 1; i < m->nr_containers; i++)
		if (m->containers[i].parent == index)
			draw_container(m, i, out);
	fputs("  }\n", out);
}

static void draw_wire(const struct arch_model *m, uint32_t instance, uint32_t role, FILE *out)
{
	const struct arch_instance *x = &m->instances[instance];
	uint32_t target = x->wires[role], nr;

	if (target == ARCH_NONE)
		return;
	nr = m->instances[target].replicas > 1 ? m->instances[target].replicas : 1;
	for (uint32_t i = 0; i < nr; i++) {
		fprintf(out, "  i%" PRIu32 " -> i%" PRIu32 " [label=\"", instance, target + i);
		graphviz_text(out, m->components[x->component].roles[role].name);
		graphviz_end_label(out);
	}
}

static void draw_storage(const struct arch_model *m, uint32_t index, FILE *out)
{
	fprintf(out, "  s%" PRIu32 " [shape=cylinder, label=\"", index);
	graphviz_text(out, m->storages[index].name);
	graphviz_end_label(out);
	for (uint32_t i = 0; i < m->nr_containers; i++)
		if (m->containers[i].storage == index)
			fprintf(out,
				"  c%" PRIu32 " -> s%" PRIu32 " [ltail=cluster_%" PRIu32
				", style=dashed, arrowhead=none];\n",
				i, index, i);
}

static void draw_link(const struct arch_model *m, uint32_t index, FILE *out)
{
	const struct arch_link *l = &m->links[index];

	fprintf(out, "  l%" PRIu32 " [shape=hexagon, label=\"", index);
	graphviz_text(out, m->resources[l->resource].name);
	graphviz_end_label(out);
	for (uint32_t i = 0; i < l->nr; i++)
		fprintf(out,
			"  c%" PRIu32 " -> l%" PRIu32 " [ltail=cluster_%" PRIu32
			", style=dashed, arrowhead=none];\n",
			l->containers[i], index, l->containers[i]);
}

/* Draws an edge to each replica, because any of them may take the call. */
static void draw_call(const struct arch_model *m, uint32_t scenario, const struct arch_action *a,
		      FILE *out)
{
	uint32_t target = a->call.role, nr = m->instances[target].replicas;

	for (uint32_t i = 0; i < (nr > 1 ? nr : 1); i++) {
		fprintf(out, "  u%" PRIu32 " -> i%" PRIu32 " [label=\"", scenario, target + i);
		graphviz_text(out, m->signatures[a->call.signature].name);
		graphviz_end_label(out);
	}
}

/* Draws the calls of a scenario, including those in loops and branches. */
static void draw_calls(const struct arch_model *m, uint32_t scenario, uint32_t behaviour, FILE *out)
{
	const struct arch_behaviour *b = &m->behaviours[behaviour];

	for (uint32_t i = 0; i < b->nr; i++) {
		const struct arch_action *a = &b->actions[i];
		uint32_t body;

		if (a->kind == ARCH_CALL)
			draw_call(m, scenario, a, out);
		for (uint32_t k = 0; (body = arch_action_body(a, k)) != ARCH_NONE; k++)
			draw_calls(m, scenario, body, out);
	}
}

static void draw_scenario(const struct arch_model *m, uint32_t index, FILE *out)
{
	const struct arch_scenario *s = &m->scenarios[index];

	fprintf(out,
		"  u%" PRIu32
		" [shape=box, style=\"rounded,filled\", fillcolor=\"#dde8f5\", label=\"",
		index);
	graphviz_text(out, s->name);
	if (s->open) {
		fputs("\\none each ", out);
		graphviz_text(out, arch_draw_expression(s->time));
		fputs(" s", out);
	} else {
		fputs("\\n", out);
		graphviz_text(out, arch_draw_expression(s->population));
		fputs(" clients, think ", out);
		graphviz_text(out, arch_draw_expression(s->time));
		fputs(" s", out);
	}
	graphviz_end_label(out);
	draw_calls(m, index, s->behaviour, out);
}

void arch_draw(const struct arch_model *m, FILE *out)
{
	graphviz_begin(out, "architecture",
		       "compound=true;\n  rankdir=TB;\n  fontname=\"sans-serif\"; fontsize=12;");
	for (uint32_t i = 0; i < m->nr_scenarios; i++)
		draw_scenario(m, i, out);
	for (uint32_t i = 0; i < m->nr_containers; i++)
		if (m->containers[i].parent == ARCH_NONE)
			draw_container(m, i, out);
	for (uint32_t i = 0; i < m->nr_instances; i++)
		for (uint32_t k = 0; k < m->components[m->instances[i].component].nr_roles; k++)
			draw_wire(m, i, k, out);
	for (uint32_t i = 0; i < m->nr_storages; i++)
		draw_storage(m, i, out);
	for (uint32_t i = 0; i < m->nr_links; i++)
		draw_link(m, i, out);
	fputs("}\n", out);
}
