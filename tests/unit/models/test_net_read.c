// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "analyzer/models/net/net.h"
#include "tests/support/tap.h"

static struct err err;

static struct net *parse(const char *text)
{
	struct net *n = NULL;

	err = (struct err){ 0 };
	net_parse(&n, "t.yaml", text, NULL, 0, &err);
	return n;
}

static void reads_everything(void)
{
	struct net *n =
		parse("net: all of it\n"
		      "parameters: {k: 3, w: k * 2}\n"
		      "colours: [a, b]\n"
		      "queues: {shared: {strategy: priority, servers: k}}\n"
		      "places:\n"
		      "  p: {queue: shared, tokens: {a: w}, priority: {a: 7},\n"
		      "      service: {a: {exponential: {rate: 4}}}}\n"
		      "  q: {queue: shared, service: {b: {erlang: {k: 2, mean: 1}}},\n"
		      "      departure: fifo, capacity: {b: 9}, place_capacity: 10}\n"
		      "  s: {subnet: {places: {i: {colours: [a]}, o: {colours: [a]}},\n"
		      "      transitions: {t: {take: {i: a}, put: {o: a}}}, input: i, output: o}}\n"
		      "transitions:\n"
		      "  t: {priority: 2, weight: 3, modes: {\n"
		      "      m: {weight: .5, take: {p: a}, put: {q: {b: 2}, s: [a]}}}}\n"
		      "  u: {time: {deterministic: {value: 1}}, take: {s: a}}\n"
		      "probes: {r: {from: {enter: p}, to: {leave: q}, colour: [a, b]}}\n");

	if (!ok(n != NULL)) {
		tap_note("%s", err.line);
		return;
	}
	ok_str(n->name, "all of it");
	ok_eq(n->nr_places, 4);
	ok_eq(n->nr_slots, 4);
	ok_eq(n->queues[0].servers, 3);
	ok_eq(n->slots[0].tokens, 6);
	ok_eq(n->slots[0].priority, 7);
	ok_near(n->slots[0].service.mean, 0.25, 1e-15);
	ok(n->places[1].fifo && n->slots[1].capacity == 9 && n->places[1].capacity == 10);
	ok_str(n->places[2].name, "s/i");
	/* Inner transitions come first: t of the subnet, then the outer ones. */
	ok_str(n->transitions[0].name, "s/t");
	ok_eq(n->transitions[1].priority, 2);
	ok_eq(n->transitions[1].modes[0].put[0].count, 2);
	ok_eq(n->transitions[1].modes[0].put[1].slot, 2);
	ok_eq(n->transitions[2].modes[0].take[0].slot, 3);
	ok(n->transitions[2].timed);
	ok(n->probes[0].to_leave && !n->probes[0].from_leave && n->probes[0].to_colour == 1);
	net_free(n);
}

#define HEAD "colours: [a]\nplaces:\n  p: {queue: fcfs, tokens: {a: 1},\n      service: {a: "

static void refuses(void)
{
	static const char *const cases[][2] = {
		{ "colours: [a]\nplaces: {p: {tokens: {b: 1}}}\n", "t.yaml:2: no colour \"b\"" },
		{ HEAD "{exponential: {mean: 0}}}}\n",
		  "t.yaml:4: exponential: mean: expected a number above 0, got 0" },
		{ HEAD "{exponential: {mean: -2}}}}\n",
		  "t.yaml:4: exponential: mean: expected a number above 0, got -2" },
		{ HEAD "{uniform: {min: 2, max: 1}}}}\n",
		  "t.yaml:4: uniform: expected 0 <= min < max, got 2 and 1" },
		{ HEAD "{exponential: {mean: x}}}}\n",
		  "t.yaml:4: mean: \"x\": no parameter of this name at \"x\"" },
		{ HEAD "{exponential: {mean: 1}}}}\ntransitions:\n  t: {put: {p: a}}\n",
		  "t.yaml:6: transition \"t\", mode \"only\": consumes from nowhere: an immediate "
		  "transition would fire for ever; a source of tokens needs a time" },
		{ "colours: [a]\nplaces: {p: {tokens: {a: 1000000000}}}\n",
		  "t.yaml:2: place \"p\", colour \"a\": 1000000000 tokens: a net of up to 10000000 "
		  "in all is simulated" },
		{ "colours: [a]\nplaces: {p: {queue: fcfs, tokens: {a: 1}}}\n",
		  "t.yaml:2: place \"p\", colour \"a\": no service time: a queue needs one for "
		  "every colour" },
		{ "colours: [a, b]\nplaces: {p: {tokens: {a: 1}}}\ntransitions: {t: {take: {p: b}}}\n",
		  "t.yaml:3: place \"p\" knows no colour \"b\"" },
		{ "colours: [a]\nplaces: {p: {tokens: {a: 1.5}}}\n",
		  "t.yaml:2: a: expected a whole number from 0 to 4294967295, got '1.5'" },
		{ "parameters: {n: 3}\ncolours: [a]\nplaces: {p: {tokens: {a: n / 2}}}\n",
		  "t.yaml:3: a: expected a whole number from 0 to 4294967295, got 'n / 2', which is 1.5" },
		{ "colours: [a]\nplaces: {p: {token: {a: 1}}}\n",
		  "t.yaml:2: unknown key \"token\": expected one of queue, colours, tokens, "
		  "service, priority, capacity, place_capacity, departure; did you mean \"tokens\"?" },
		{ "colours: [a]\nplaces: {p: {queue: lifo, tokens: {a: 1}}}\n",
		  "t.yaml:2: queue: expected a strategy: fcfs, ps, is, priority, preemptive or "
		  "random, got 'lifo'" },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok(!parse(cases[i][0]));
		ok_str(err.line, cases[i][1]);
	}
}

static void settings(void)
{
	static const char text[] = "parameters: {n: 1, m: n + 1}\ncolours: [a]\n"
				   "places: {p: {tokens: {a: m}}}\n";
	struct net_setting set[] = { { "n", 5 } }, unknown[] = { { "nn", 5 } };
	struct net *n;

	ok_int(net_parse(&n, "t.yaml", text, set, 1, &err), 0);
	ok_eq(n->slots[0].tokens, 6);
	net_free(n);
	ok_int(net_parse(&n, "t.yaml", text, unknown, 1, &err), -EINVAL);
	ok_str(err.line, "t.yaml: no parameter \"nn\" to set");
}

static const struct tap_test tests[] = {
	{ "every part of a net is read", reads_everything },
	{ "what is no net is refused with file and line", refuses },
	{ "settings change parameters and what depends on them", settings },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
