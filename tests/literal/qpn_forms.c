// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "tests/literal/qpn_forms.h"

#define OPEN(queue, service, rate)                                                   \
	"colours: [c]\nplaces: {q: {queue: " queue ", service: {c: " service "}}}\n" \
	"transitions: {in: {time: {exponential: {rate: " rate                        \
	"}}, put: {q: c}}, out: {take: {q: c}}}\n"

#define EXPONENTIAL "{exponential: {mean: 1}}"

#define PRIORITIES(strategy)                                                        \
	"colours: [a, b]\n"                                                         \
	"places: {q: {queue: " strategy ", priority: {a: 2, b: 1},\n"               \
	"  service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: 1}}}}}\n" \
	"transitions:\n"                                                            \
	"  ia: {time: {exponential: {rate: .3}}, put: {q: a}}\n"                    \
	"  ib: {time: {exponential: {rate: .4}}, put: {q: b}}\n"                    \
	"  out: {modes: {a: {take: {q: a}}, b: {take: {q: b}}}}\n"

#define CAPACITY                                                                                 \
	"colours: [c]\n"                                                                         \
	"places: {q: {queue: fcfs, capacity: {c: 5}, service: {c: {exponential: {mean: 1}}}}}\n" \
	"transitions: {in: {time: {exponential: {rate: .8}}, put: {q: c}}, "                     \
	"out: {take: {q: c}}}\n"

/* This net has 20 machines with a mean up time of 4, and three repair shops one after the other. */
#define REPAIR                                                                         \
	"colours: [c]\n"                                                               \
	"places:\n"                                                                    \
	"  z: {queue: is, tokens: {c: 20}, service: {c: {erlang: {k: 3, mean: 4}}}}\n" \
	"  a: {queue: ps, service: {c: {gamma: {mean: .125, sd: .25}}}}\n"             \
	"  b: {queue: fcfs, service: {c: {exponential: {mean: .3}}}}\n"                \
	"  d: {queue: fcfs, service: {c: {exponential: {mean: .2}}}}\n"                \
	"transitions:\n"                                                               \
	"  1: {take: {z: c}, put: {a: c}}\n"                                           \
	"  2: {take: {a: c}, put: {b: c}}\n"                                           \
	"  3: {take: {b: c}, put: {d: c}}\n"                                           \
	"  4: {take: {d: c}, put: {z: c}}\n"

#define THREE                                                                          \
	"colours: [c]\n"                                                               \
	"places:\n"                                                                    \
	"  z: {queue: is, tokens: {c: 3}, service: {c: {erlang: {k: 2, mean: 15}}}}\n" \
	"  a: {queue: fcfs, service: {c: {exponential: {mean: 5}}}}\n"                 \
	"  b: {queue: ps, service: {c: {gamma: {mean: 4, sd: 8}}}}\n"                  \
	"  d: {queue: fcfs, service: {c: {exponential: {mean: 3}}}}\n"                 \
	"transitions:\n"                                                               \
	"  1: {take: {z: c}, put: {a: c}}\n"                                           \
	"  2: {take: {a: c}, put: {b: c}}\n"                                           \
	"  3: {take: {b: c}, put: {d: c}}\n"                                           \
	"  4: {take: {d: c}, put: {z: c}}\n"

#define TWO_CLASSES                                                                       \
	"colours: [a, b]\n"                                                               \
	"places:\n"                                                                       \
	"  cpu: {queue: ps, tokens: {a: 3, b: 2},\n"                                      \
	"        service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: .5}}}}\n" \
	"  disk: {queue: ps,\n"                                                           \
	"         service: {a: {exponential: {mean: 2}}, b: {exponential: {mean: 1}}}}\n" \
	"transitions:\n"                                                                  \
	"  x: {modes: {a: {take: {cpu: a}, put: {disk: a}},\n"                            \
	"              b: {take: {cpu: b}, put: {disk: b}}}}\n"                           \
	"  y: {modes: {a: {take: {disk: a}, put: {cpu: a}},\n"                            \
	"              b: {take: {disk: b}, put: {cpu: b}}}}\n"

/*
 * Three tokens think for 1 and are then served for .1 in one of two places, by the weights 1 to 4.
 */
#define WEIGHTS                                                                                        \
	"colours: [c]\n"                                                                               \
	"places:\n"                                                                                    \
	"  z: {queue: is, tokens: {c: 3}, service: {c: {exponential: {mean: 1}}}}\n"                   \
	"  p: {queue: is, service: {c: {exponential: {mean: .1}}}}\n"                                  \
	"  q: {queue: is, service: {c: {exponential: {mean: .1}}}}\n"                                  \
	"transitions:\n"                                                                               \
	"  go: {modes: {p: {take: {z: c}, put: {p: c}}, q: {weight: 4, take: {z: c}, put: {q: c}}}}\n" \
	"  a: {take: {p: c}, put: {z: c}}\n"                                                           \
	"  b: {take: {q: c}, put: {z: c}}\n"

#define CLOSED                                                                           \
	"colours: [c]\nplaces:\n"                                                        \
	"  a: {queue: fcfs, tokens: {c: 10}, service: {c: {exponential: {mean: .4}}}}\n" \
	"  b: {queue: ps, service: {c: {exponential: {mean: .25}}}}\n"                   \
	"transitions: {x: {take: {a: c}, put: {b: c}}, y: {take: {b: c}, put: {a: c}}}\n"

const struct qpn_form qpn_forms[] = {
	{ "M/M/1, load .8, residence", OPEN("fcfs", EXPONENTIAL, ".8"), FORM_RESIDENCE, 0, 5 },
	{ "M/M/1, population", OPEN("fcfs", EXPONENTIAL, ".8"), FORM_POPULATION, 0, 4 },
	{ "M/M/2, residence", OPEN("{strategy: fcfs, servers: 2}", EXPONENTIAL, "1.6"),
	  FORM_RESIDENCE, 0, 2.7777777778 },
	{ "M/M/3, residence", OPEN("{strategy: fcfs, servers: 3}", EXPONENTIAL, "2"),
	  FORM_RESIDENCE, 0, 13.0 / 9 },
	{ "M/M/10, residence", OPEN("{strategy: fcfs, servers: 10}", EXPONENTIAL, "8"),
	  FORM_RESIDENCE, 0, 1 + 1.6367206 / 8 },
	{ "M/M/1/5, throughput", CAPACITY, FORM_THROUGHPUT, 0, .8 * (1 - .0888194987) },
	{ "M/M/1/5, population", CAPACITY, FORM_POPULATION, 0, 1.8683320323 },
	{ "M/D/1, residence", OPEN("fcfs", "{deterministic: {value: 1}}", ".8"), FORM_RESIDENCE, 0,
	  3 },
	{ "M/E2/1, residence", OPEN("fcfs", "{erlang: {k: 2, mean: 1}}", ".8"), FORM_RESIDENCE, 0,
	  4 },
	{ "M/U/1, residence", OPEN("fcfs", "{uniform: {min: 0, max: 2}}", ".8"), FORM_RESIDENCE, 0,
	  11.0 / 3 },
	{ "M/G/1, squared variation 4, residence",
	  OPEN("fcfs", "{hyperexponential: {mean: 1, scv: 4}}", ".8"), FORM_RESIDENCE, 0, 11 },
	{ "M/D/1 processor sharing, residence", OPEN("ps", "{deterministic: {value: 1}}", ".8"),
	  FORM_RESIDENCE, 0, 5 },
	{ "M/G/1 processor sharing, squared variation 4, residence",
	  OPEN("ps", "{hyperexponential: {mean: 1, scv: 4}}", ".8"), FORM_RESIDENCE, 0, 5 },
	{ "M/G/infinity, population", OPEN("is", "{gamma: {mean: 5, sd: 10}}", ".8"),
	  FORM_POPULATION, 0, 4 },
	{ "priorities (Cobham), first class, residence", PRIORITIES("priority"), FORM_RESIDENCE, 0,
	  2 },
	{ "priorities (Cobham), second class, residence", PRIORITIES("priority"), FORM_RESIDENCE, 1,
	  13.0 / 3 },
	{ "preemptive priorities, second class, residence", PRIORITIES("preemptive"),
	  FORM_RESIDENCE, 1, 1 / .7 + .7 / .21 },
	{ "closed, two queues, 10 tokens, throughput", CLOSED, FORM_THROUGHPUT, 0, 2.4914247424 },
	{ "machine repair, 20 machines, throughput", REPAIR, FORM_THROUGHPUT, 0, 3.12751041 },
	{ "machine repair, population of the bottleneck", REPAIR, FORM_POPULATION, 2, 5.3349672 },
	{ "three queues, 3 tokens, throughput", THREE, FORM_THROUGHPUT, 0, .09671012 },
	{ "two classes (BCMP), first, throughput", TWO_CLASSES, FORM_THROUGHPUT, 0, .2952380952 },
	{ "two classes (BCMP), second, throughput", TWO_CLASSES, FORM_THROUGHPUT, 1, .3936507937 },
	{ "weighted modes, throughput of 4 in 5", WEIGHTS, FORM_THROUGHPUT, 2, 3 / 1.1 * .8 },
	{ "M/M/1, median residence", OPEN("fcfs", EXPONENTIAL, ".8"), FORM_P50, 0, 3.465736 },
	{ "M/M/1, 95 % quantile", OPEN("fcfs", EXPONENTIAL, ".8"), FORM_P95, 0, 14.978661 },
	{ "M/M/1, 99 % quantile", OPEN("fcfs", EXPONENTIAL, ".8"), FORM_P99, 0, 23.025851 },
};

const size_t nr_qpn_forms = sizeof(qpn_forms) / sizeof(*qpn_forms);

struct run {
	struct interval v[FORM_MAX_ANSWERS];
	uint64_t events;
};

struct runs {
	const struct qpn_form *forms;
	size_t nr_forms;
	const struct net *net;
	double precision;
	struct run *runs;
	struct err *errs;
};

static bool is_quantile(const struct qpn_form *f)
{
	return f->answer >= FORM_P50;
}

size_t qpn_form_group(const struct qpn_form *f, size_t nr)
{
	size_t n = 1;

	while (n < nr && n < FORM_MAX_ANSWERS && !strcmp(f[n].text, f->text) &&
	       is_quantile(&f[n]) == is_quantile(f))
		n++;
	return n;
}

static struct interval answer_of(const struct slot_estimate *s, enum form_answer a)
{
	switch (a) {
	case FORM_RESIDENCE:
		return s->residence.mean;
	case FORM_THROUGHPUT:
		return s->throughput;
	case FORM_POPULATION:
		return s->population;
	case FORM_P50:
		return s->residence.p50;
	case FORM_P95:
		return s->residence.p95;
	default:
		return s->residence.p99;
	}
}

static int one_seed(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct runs *r = ctx;
	struct solve_options o = SOLVE_DEFAULTS;
	struct solution s;
	int error;

	(void)chunk;
	(void)end;
	o.seed = begin + 1;
	o.precision = r->precision;
	o.quantiles = is_quantile(r->forms);
	error = solve_net(&s, r->net, &o, &r->errs[begin]);
	if (error)
		return error;
	for (size_t i = 0; i < r->nr_forms; i++)
		r->runs[begin].v[i] =
			answer_of(&s.estimate.slots[r->forms[i].slot], r->forms[i].answer);
	r->runs[begin].events = s.events;
	solution_release(&s);
	return 0;
}

static void add(struct form_coverage *c, struct interval v, uint64_t events, double want)
{
	double far = fmax(v.high - v.mean, v.mean - v.low);

	c->inside += v.low <= want && want <= v.high;
	c->runs++;
	c->widest = fmax(c->widest, far / v.mean);
	c->bias += v.mean / want - 1;
	c->events += events;
}

static void count(struct form_coverage *c, const struct runs *r, unsigned nr)
{
	for (size_t k = 0; k < r->nr_forms; k++) {
		for (unsigned i = 0; i < nr; i++)
			add(&c[k], r->runs[i].v[k], r->runs[i].events, r->forms[k].want);
		c[k].bias /= nr;
	}
}

int qpn_form_cover(struct form_coverage *c, const struct qpn_form *f, size_t nr_forms,
		   const struct net *net, unsigned nr, double precision, struct err *err)
{
	struct runs r = { .forms = f, .nr_forms = nr_forms, .precision = precision };
	struct parallel p = { .nr_items = nr, .work = one_seed, .ctx = &r };
	struct net *own = NULL;
	int error = net ? 0 : net_parse(&own, f->name, f->text, NULL, 0, err);

	memset(c, 0, nr_forms * sizeof(*c));
	r.net = net ? net : own;
	r.runs = calloc(nr, sizeof(*r.runs));
	r.errs = calloc(nr, sizeof(*r.errs));
	if (!error && (!r.runs || !r.errs))
		error = err_set(err, ENOMEM, "out of memory");
	if (!error)
		error = parallel_run(&p);
	for (unsigned i = 0; i < nr && r.errs && error; i++) {
		if (r.errs[i].code) {
			*err = r.errs[i];
			break;
		}
	}
	if (!error)
		count(c, &r, nr);
	free(r.runs);
	free(r.errs);
	net_free(own);
	return error;
}
