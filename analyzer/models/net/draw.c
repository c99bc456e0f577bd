// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "analyzer/models/net/draw.h"
#include "base/text/graphviz.h"

static const char *strategy_name(const struct net_queue *q)
{
	static const char *const names[] = {
		"FCFS", "PS", "IS", "priority", "preemptive", "random"
	};

	return q->immediate ? "immediate" : names[q->strategy];
}

static void draw_place(const struct net *n, uint32_t index, FILE *out)
{
	const struct net_place *p = &n->places[index];

	fprintf(out, "  p%" PRIu32 " [shape=ellipse%s, label=\"", index,
		p->queue == NET_NONE ? "" : ", peripheries=2");
	graphviz_text(out, p->name);
	if (p->queue != NET_NONE) {
		const struct net_queue *q = &n->queues[p->queue];

		fprintf(out, "\\n%s", strategy_name(q));
		if (q->strategy != NET_IS && q->servers > 1)
			fprintf(out, " x %" PRIu32, q->servers);
	}
	for (uint32_t i = p->first_slot; i < p->first_slot + p->nr_slots; i++) {
		fputs("\\n", out);
		graphviz_text(out, n->colours[n->slots[i].colour]);
		if (n->slots[i].tokens)
			fprintf(out, ": %" PRIu64, n->slots[i].tokens);
		if (n->slots[i].service.kind != DIST_NONE)
			fprintf(out, " %s %.4g", dist_name(n->slots[i].service.kind),
				n->slots[i].service.mean);
	}
	graphviz_end_label(out);
}

static void draw_arc(const struct net *n, uint32_t transition, const struct net_arc *a, bool take,
		     FILE *out)
{
	uint32_t place = n->slots[a->slot].place;

	if (take)
		fprintf(out, "  p%" PRIu32 " -> t%" PRIu32 " [label=\"", place, transition);
	else
		fprintf(out, "  t%" PRIu32 " -> p%" PRIu32 " [label=\"", transition, place);
	if (a->count > 1)
		fprintf(out, "%" PRIu32 " ", a->count);
	graphviz_text(out, n->colours[n->slots[a->slot].colour]);
	graphviz_end_label(out);
}

static void draw_transition(const struct net *n, uint32_t index, FILE *out)
{
	const struct net_transition *t = &n->transitions[index];

	fprintf(out, "  t%" PRIu32 " [shape=box, height=0.2, %s, label=\"", index,
		t->timed ? "style=solid" : "style=filled, fillcolor=black, fontcolor=white");
	graphviz_text(out, t->name);
	if (t->timed)
		fprintf(out, "\\n%s %.4g", dist_name(t->time.kind), t->time.mean);
	graphviz_end_label(out);
	for (uint32_t m = 0; m < t->nr_modes; m++) {
		for (uint32_t i = 0; i < t->modes[m].nr_take; i++)
			draw_arc(n, index, &t->modes[m].take[i], true, out);
		for (uint32_t i = 0; i < t->modes[m].nr_put; i++)
			draw_arc(n, index, &t->modes[m].put[i], false, out);
	}
}

void net_draw(const struct net *n, FILE *out)
{
	graphviz_begin(out, "net", "rankdir=LR;");
	fputs("  label=\"", out);
	graphviz_text(out, n->name);
	fputs("\";\n", out);
	for (uint32_t i = 0; i < n->nr_places; i++)
		draw_place(n, i, out);
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		draw_transition(n, i, out);
	fputs("}\n", out);
}
