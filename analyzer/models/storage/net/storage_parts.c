// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>

#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_parts.h"
#include "analyzer/models/storage/net/storage_predict.h"

#define LEAST_TIME 1e-9 /* smallest latency in seconds: a net refuses a time of zero */
#define PHI_BEYOND 4

static bool storage_parts_has(const struct storage_net *n, size_t vm, int write)
{
	return n->vms[vm].clients[write] > 0;
}

static bool has_type(const struct storage_net *n, int write)
{
	for (size_t j = 0; j < n->nr_vms; j++)
		if (storage_parts_has(n, j, write))
			return true;
	return false;
}

/* Writes "r1" and so on, separated by commas, of one type (-1: of both). */
static void put_colours(struct buf *out, const struct storage_net *n, int type)
{
	const char *parting = "";

	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++) {
			if (!storage_parts_has(n, j, w) || (type >= 0 && w != type))
				continue;
			buf_printf(out, "%s%c%zu", parting, "rw"[w], j + 1);
			parting = ", ";
		}
}

static void put_permits(struct buf *out, const struct storage_net *n, const char *tokens)
{
	for (size_t j = 0; j < n->nr_vms; j++)
		buf_printf(out, "%spermit%zu%s", j ? ", " : "", j + 1, tokens);
}

/*
 * Writes the services of one place for one type. The names of their parameters begin with prefix.
 */
static void put_services(struct buf *out, const struct storage_net *n, int type, const char *prefix)
{
	const char *word = type ? "write" : "read";

	for (size_t j = 0; j < n->nr_vms; j++)
		if (storage_parts_has(n, j, type))
			buf_printf(out, "      %c%zu: {gamma: {mean: %s%s, sd: %s%s_sd}}\n",
				   "rw"[type], j + 1, prefix, word, prefix, word);
}

static void put_latencies(struct buf *out, const struct storage_net *n, int type)
{
	for (size_t j = 0; j < n->nr_vms; j++)
		if (storage_parts_has(n, j, type))
			buf_printf(out, "      %c%zu: {deterministic: {value: %s_latency}}\n",
				   "rw"[type], j + 1, type ? "write" : "read");
}

static void put_clients(struct buf *out, const struct storage_net *n)
{
	static const char *const names[] = { "readers", "writers" };

	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++) {
			char c = "rw"[w];

			if (!storage_parts_has(n, j, w))
				continue;
			buf_printf(out,
				   "  %s %zu:\n    queue: is\n    tokens: {%c%zu: %s%zu}\n"
				   "    service: {%c%zu: {exponential: {mean: think}}}\n",
				   names[w], j + 1, c, j + 1, names[w], j + 1, c, j + 1);
		}
}

static bool storage_parts_passes(const struct storage_net *n, size_t k, int write)
{
	return n->shared[k][write].mean_s > 0;
}

static void put_shared(struct buf *out, const struct storage_net *n, size_t k)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "shared%zu_", k + 1);
	if (!(storage_parts_passes(n, k, 0) && has_type(n, 0)) &&
	    !(storage_parts_passes(n, k, 1) && has_type(n, 1)))
		return;
	buf_printf(out, "  shared %zu:\n    queue: fcfs\n    service:\n", k + 1);
	for (int w = 0; w < 2; w++)
		if (storage_parts_passes(n, k, w))
			put_services(out, n, w, prefix);
}

static void put_places(struct buf *out, const struct storage_net *n)
{
	static const char *const names[] = { "reads", "writes" };

	put_clients(out, n);
	buf_printf(out, "  waiting:\n    colours: [");
	put_colours(out, n, -1);
	buf_printf(out, "]\n  free:\n    tokens: {");
	put_permits(out, n, ": depth");
	buf_printf(out, "}\n  path:\n    queue: is\n    service:\n");
	for (int w = 0; w < 2; w++)
		put_latencies(out, n, w);
	for (size_t k = 0; k < n->nr_shared; k++)
		put_shared(out, n, k);
	for (int w = 0; w < 2; w++) {
		if (!has_type(n, w))
			continue;
		buf_printf(out, "  %s:\n    queue: fcfs\n    service:\n", names[w]);
		put_services(out, n, w, "");
	}
}

/* Writes the path from `from` through the stations of a class back to its clients. */
static void put_way(struct buf *out, const struct storage_net *n, size_t vm, int w)
{
	char c = "rw"[w], at[32] = "path", next[32];

	for (size_t k = 0; k <= n->nr_shared; k++) {
		if (k < n->nr_shared && !storage_parts_passes(n, k, w))
			continue;
		if (k < n->nr_shared)
			snprintf(next, sizeof(next), "shared %zu", k + 1);
		else
			snprintf(next, sizeof(next), "%s", w ? "writes" : "reads");
		buf_printf(out, "      %c%zu to %s: {take: {%s: %c%zu}, put: {%s: %c%zu}}\n", c, vm,
			   next, at, c, vm, next, c, vm);
		snprintf(at, sizeof(at), "%s", next);
	}
	buf_printf(out,
		   "      %c%zu answered: {take: {%s: %c%zu}, put: {%sers %zu: %c%zu, free: "
		   "permit%zu}}\n",
		   c, vm, at, c, vm, w ? "writ" : "read", vm, c, vm, vm);
}

static void put_transitions(struct buf *out, const struct storage_net *n)
{
	for (int part = 0; part < 3; part++) {
		static const char *const names[] = { "transitions:\n  submit", "  start",
						     "  serve" };

		buf_printf(out, "%s:\n    modes:\n", names[part]);
		for (size_t j = 0; j < n->nr_vms; j++)
			for (int w = 0; w < 2; w++) {
				char c = "rw"[w];

				if (!storage_parts_has(n, j, w))
					continue;
				if (part == 0)
					buf_printf(out,
						   "      %c%zu: {take: {%sers %zu: %c%zu}, put: "
						   "{waiting: %c%zu}}\n",
						   c, j + 1, w ? "writ" : "read", j + 1, c, j + 1,
						   c, j + 1);
				else if (part == 1)
					buf_printf(
						out,
						"      %c%zu:\n        weight: %s%zu\n"
						"        take: {waiting: %c%zu, free: permit%zu}\n"
						"        put: {path: %c%zu}\n",
						c, j + 1, w ? "beta" : "alpha", j + 1, c, j + 1,
						j + 1, c, j + 1);
				else
					put_way(out, n, j + 1, w);
			}
	}
}

void storage_parts_write(struct buf *out, const struct storage_net *n)
{
	buf_printf(out, "colours: [");
	put_permits(out, n, "");
	buf_printf(out, ", ");
	put_colours(out, n, -1);
	buf_printf(out, "]\nplaces:\n");
	put_places(out, n);
	put_transitions(out, n);
	buf_printf(out, "probes:\n");
	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++)
			if (storage_parts_has(n, j, w))
				buf_printf(out,
					   "  %s %zu:\n    from: {enter: waiting}\n    to: {leave: "
					   "%ss}\n    colour: %c%zu\n",
					   w ? "write" : "read", j + 1, w ? "write" : "read",
					   "rw"[w], j + 1);
}

double storage_parts_alone(const struct storage_parts *p, int write, double size_bytes)
{
	return storage_cases_at(&p->alone[write], 0, size_bytes, STORAGE_FIT_UNIT);
}

/*
 * Distributes the standard deviation of one client's response times over the services. Each
 * service has the same coefficient of variation, so that the variances add up to that of the
 * response time. No service varies more than an exponential one.
 */
static void storage_parts_spread(struct storage_net *n, int w, struct storage_server *own,
				 double sd_s)
{
	double squares = own->mean_s * own->mean_s, cv;

	for (size_t k = 0; k < n->nr_shared; k++)
		squares += n->shared[k][w].mean_s * n->shared[k][w].mean_s;
	cv = fmin(1, sd_s / sqrt(squares));
	own->sd_s = cv * own->mean_s;
	for (size_t k = 0; k < n->nr_shared; k++)
		n->shared[k][w].sd_s = cv * n->shared[k][w].mean_s;
}

void storage_parts_net(struct storage_net *n, const struct storage_mix *mix,
		       const struct storage_parts *p, const double sizes[2])
{
	n->template = STORAGE_PARTS;
	n->depth = p->depth;
	n->nr_shared = p->nr_shared;
	for (int w = 0; w < 2; w++) {
		const struct storage_service *s = &mix->service[w];
		struct storage_server *own = w ? &n->second : &n->first;
		double size = sizes[w] > 0 ? sizes[w] : sizes[!w], left;

		own->mean_s = storage_cases_at(&s->fit, 0, size, STORAGE_FIT_UNIT);
		left = storage_parts_alone(p, w, size) - own->mean_s;
		for (size_t k = 0; k < p->nr_shared; k++) {
			n->shared[k][w].mean_s = storage_shared_at(&p->shared[k], w, size);
			left -= n->shared[k][w].mean_s;
		}
		n->latency_s[w] = fmax(left, LEAST_TIME);
		storage_parts_spread(n, w, own, s->sd_s);
	}
}

void storage_parts_weigh(struct storage_net *n, const struct storage_parts *p,
			 const double sizes[2])
{
	for (size_t j = 0; j < n->nr_vms; j++) {
		struct storage_vm *vm = &n->vms[j];
		double x[MIX_NR_VARIABLES] = { vm->clients[0] / vm->clients[1], sizes[0] / sizes[1],
					       vm->clients[0] + vm->clients[1], sizes[0],
					       sizes[1] };

		vm->weight[0] = vm->weight[1] = 1;
		if (p->phi.technique && vm->clients[0] > 0 && vm->clients[1] > 0)
			vm->weight[0] = fmin(fmax(mix_at(&p->phi, x), p->phi_low / PHI_BEYOND),
					     p->phi_high * PHI_BEYOND);
	}
}
