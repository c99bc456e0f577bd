// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/check.h"
#include "analyzer/models/storage/net/storage_net.h"
#include "analyzer/models/storage/net/vm_weights.h"
#include "tests/literal/slow_storage.h"
#include "tests/support/tap.h"

static const struct {
	const char *path;
	enum storage_template template;
	size_t nr_vms;
} examples[] = {
	{ "docs/examples/storage-cache.yaml", STORAGE_ONE_QUEUE, 0 },
	{ "docs/examples/storage-cache-raid.yaml", STORAGE_CACHE_RAID, 0 },
	{ "docs/examples/storage-cases.yaml", STORAGE_CASES, 0 },
	{ "docs/examples/storage-mixed.yaml", STORAGE_MIX, 1 },
	{ "docs/examples/storage-vms.yaml", STORAGE_MIX, 2 },
	{ "docs/examples/storage-parts.yaml", STORAGE_PARTS, 2 },
};

/* Sets the same example values as docs/examples. nr_vms is used by mix. */
static void storage_net_example(struct storage_net *n, enum storage_template template,
				size_t nr_vms)
{
	*n = (struct storage_net){
		.template = template,
		.think_s = 1e-9,
		.clients = 30,
		.first = { 0.1e-3, 0.05e-3 },
		.second = { 0.4e-3, 0.2e-3 },
		.miss = 0.4,
		.beyond = true,
		.nr_vms = nr_vms,
	};
	if (template >= STORAGE_MIX)
		n->second = (struct storage_server){ 0.18e-3, 0.1e-3 };
	if (template == STORAGE_PARTS) {
		n->depth = 16;
		n->latency_s[0] = n->latency_s[1] = 0.1e-3;
		n->nr_shared = 1;
		n->shared[0][0] = (struct storage_server){ 0.05e-3, 0.02e-3 };
		n->shared[0][1] = (struct storage_server){ 0.08e-3, 0.03e-3 };
	}
	for (size_t j = 0; j < nr_vms; j++)
		n->vms[j] = (struct storage_vm){ .clients = { 20, 10 }, .weight = { 3, 1 } };
}

static void on_finding(void *ctx, const struct finding *f)
{
	tap_note("line %u: %s", f->line, f->text);
	(*(size_t *)ctx)++;
}

/* Set BLKCAST_WRITE_EXAMPLES to write them anew. */
static void examples_are_the_templates(void)
{
	for (size_t i = 0; i < TAP_NR(examples); i++) {
		struct storage_net n;
		struct buf text;
		FILE *f = getenv("BLKCAST_WRITE_EXAMPLES") ? fopen(examples[i].path, "w") : NULL;
		static char shipped[16384];
		size_t len;

		storage_net_example(&n, examples[i].template, examples[i].nr_vms);
		buf_init(&text);
		storage_net_write(&text, &n);
		buf_put_u8(&text, 0);
		if (f) {
			fputs((const char *)text.data, f);
			fclose(f);
		}
		f = fopen(examples[i].path, "r");
		if (ok(f != NULL)) {
			len = fread(shipped, 1, sizeof(shipped) - 1, f);
			shipped[len] = 0;
			fclose(f);
			ok_str(shipped, (const char *)text.data);
		}
		buf_release(&text);
	}
}

static void examples_are_sound_and_solve(void)
{
	for (size_t i = 0; i < TAP_NR(examples); i++) {
		struct storage_times times;
		struct storage_net n;
		struct err err = { 0 };
		struct net *net;
		size_t findings = 0;

		if (!ok(!net_read(&net, examples[i].path, NULL, 0, &err))) {
			tap_note("%s", err.line);
			continue;
		}
		ok(!net_check(net, on_finding, &findings));
		/* the case that is not taken stands empty */
		ok(findings == 0 || examples[i].template == STORAGE_CASES);
		net_free(net);
		storage_net_example(&n, examples[i].template, examples[i].nr_vms);
		ok(!storage_net_solve(&times, &n, 0.02, 1, &err));
		ok(times.time[0][0].mean.mean > 0);
		ok(times.precision <= 0.02);
	}
}

static void one_queue_is_clients_times_service(void)
{
	struct storage_net n;
	struct storage_times times;
	struct err err = { 0 };

	storage_net_example(&n, STORAGE_ONE_QUEUE, 0);
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, 30 * 0.1e-3, 0.01);
	storage_net_example(&n, STORAGE_CASES, 0);
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, 30 * 0.4e-3, 0.01);
	n.beyond = false;
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, 30 * 0.1e-3, 0.01);
}

static void cache_and_raid_are_as_request_by_request(void)
{
	struct histogram h = { 0 };
	struct storage_net n;
	struct storage_times times;
	struct err err = { 0 };

	storage_net_example(&n, STORAGE_CACHE_RAID, 0);
	n.clients = 20;
	n.first = (struct storage_server){ 0.2e-3, 0.1e-3 };
	n.second = (struct storage_server){ 0.45e-3, 0.3e-3 };
	slow_tandem(&h, 20, (struct slow_server){ 0.2e-3, 0.1e-3 },
		    (struct slow_server){ 0.45e-3, 0.3e-3 }, n.miss, 1000000, 7);
	ok(!storage_net_solve(&times, &n, 0.005, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, histogram_mean_s(&h), 0.015);
	ok_ratio(times.time[0][0].p95.mean, histogram_quantile_s(&h, 0.95), 0.03);
	histogram_release(&h);
}

static void mix_is_as_request_by_request(void)
{
	struct slow_class classes[] = {
		{ 20, 3, { 0.1e-3, 0.05e-3 }, 0 },
		{ 10, 1, { 0.18e-3, 0.1e-3 }, 0 },
		{ 5, 2, { 0.1e-3, 0.05e-3 }, 0 },
		{ 30, 1.5, { 0.18e-3, 0.1e-3 }, 0 },
	};
	struct storage_net n;
	struct storage_times times;
	struct err err = { 0 };

	storage_net_example(&n, STORAGE_MIX, 2);
	n.vms[1] = (struct storage_vm){ { 5, 30 }, { 2, 1.5 } };
	slow_mix(classes, 4, 2000000, 5);
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, classes[0].mean_s, 0.02);
	ok_ratio(times.time[0][1].mean.mean, classes[1].mean_s, 0.02);
	ok_ratio(times.time[1][0].mean.mean, classes[2].mean_s, 0.02);
	ok_ratio(times.time[1][1].mean.mean, classes[3].mean_s, 0.02);
}

static void parts_are_as_request_by_request(void)
{
	static const struct slow_server shared[2] = { { 0.05e-3, 0.02e-3 }, { 0.08e-3, 0.03e-3 } };
	static const struct slow_server own[2] = { { 0.1e-3, 0.05e-3 }, { 0.18e-3, 0.1e-3 } };
	struct slow_part_class classes[4];
	struct storage_net n;
	struct storage_times times;
	struct err err = { 0 };

	storage_net_example(&n, STORAGE_PARTS, 2);
	n.vms[1] = (struct storage_vm){ { 5, 30 }, { 2, 1.5 } };
	for (size_t i = 0; i < 4; i++)
		classes[i] =
			(struct slow_part_class){ .vm = (unsigned)i / 2,
						  .clients = (unsigned)n.vms[i / 2].clients[i % 2],
						  .write = i % 2,
						  .weight = n.vms[i / 2].weight[i % 2],
						  .latency_s = 0.1e-3,
						  .shared = shared[i % 2],
						  .own = own[i % 2] };
	slow_parts(classes, 4, 16, 1000000, 5);
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	for (size_t i = 0; i < 4; i++)
		ok_ratio(times.time[i / 2][i % 2].mean.mean, classes[i].mean_s, 0.02);
}

/* VMs of one type each, nothing shared: either is as if alone. */
static void parts_of_their_own_do_not_meet(void)
{
	struct storage_net n;
	struct storage_times times;
	struct err err = { 0 };

	storage_net_example(&n, STORAGE_PARTS, 2);
	n.vms[0] = (struct storage_vm){ { 20, 0 }, { 1, 1 } };
	n.vms[1] = (struct storage_vm){ { 0, 30 }, { 1, 1 } };
	n.nr_shared = 0;
	ok(!storage_net_solve(&times, &n, 0.01, 1, &err));
	ok_ratio(times.time[0][0].mean.mean, 20 * n.first.mean_s, 0.01);
	ok_ratio(times.time[1][1].mean.mean, 30 * n.second.mean_s, 0.01);
}

/* Exponential servers are product form: what goes in comes out. */
static void raid_inversion_recovers_the_servers(void)
{
	static const double ts[] = { 1, 10, 100 }, shares[] = { 0.1, 0.5, 0.999 };

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++) {
			double t = ts[i], miss = shares[k], l = 0, r = 0, x, cache = 0.3,
			       raid = 0.5;
			double back_cache, back_raid, rho = cache / (miss * raid), p, sum = 0;

			for (int n = 0; n <= (int)t; n++) {
				p = pow(rho, n);
				sum += p;
				l += n * p;
			}
			l /= sum;
			x = (1 - 1 / sum) / cache;
			r = (t - l) / (x * miss);
			storage_raid_invert(t, miss, l / x, r, &back_cache, &back_raid);
			ok_ratio(back_cache, cache, 1e-6);
			ok_ratio(back_raid, raid, 1e-6);
			/* a cache that is always busy says nothing of what is behind it */
			storage_raid_behind(t, miss, cache, t / x, &back_raid);
			if (x * cache < 0.999)
				ok_ratio(back_raid, raid, 1e-6);
		}
}

static void ordered_weights_descend_with_clients(void)
{
	struct storage_vm vms[3] = { { { 10, 30 }, { 0, 0 } },
				     { { 30, 10 }, { 0, 0 } },
				     { { 10, 20 }, { 0, 0 } } };

	/* alpha 4, beta 1, v 3: from 12 by (4 - 1) / 3 = 1; from 3 by 1 / 3, then 2 / 3 */
	ok_eq(vm_weights_ordered(vms, 3, (struct rw_weights){ 4, 1 }), 0);
	ok_near(vms[1].weight[0], 12, 1e-12);
	ok_near(vms[0].weight[0], 11, 1e-12);
	ok_near(vms[2].weight[0], 11, 1e-12);
	ok_near(vms[0].weight[1], 3, 1e-12);
	ok_near(vms[2].weight[1], 3 - 1. / 3, 1e-12);
	ok_near(vms[1].weight[1], 2, 1e-12);
	/* alike: from v alpha down by 1, then 2 */
	vm_weights_ordered(vms, 3, (struct rw_weights){ 10, 10 });
	ok_near(vms[1].weight[0], 30, 1e-12);
	ok_near(vms[0].weight[0], 29, 1e-12);
	ok_near(vms[2].weight[1], 29, 1e-12);
	ok_near(vms[1].weight[1], 27, 1e-12);
	/* what would fall to 0 and below is held above it, and counted */
	ok_eq(vm_weights_ordered(vms, 3, (struct rw_weights){ .5, .5 }), 1);
	ok_near(vms[1].weight[1], 0.015, 1e-12);
}

static void adjusted_weights_follow_algorithm_5(void)
{
	struct storage_vm vms[3] = { { { 10, 10 }, { 0, 0 } },
				     { { 20, 10 }, { 0, 0 } },
				     { { 30, 30 }, { 0, 0 } } };
	const struct rw_weights local[3] = { { 1, 1 }, { 2, 3 }, { 1, 2 } };

	/*
	 * gamma = 2, beta max = 3 of the middle one, alpha max = 6, delta = (6 - 3) / (2 x 3) =
	 * 0.5; the smaller one gets delta more, the larger one less. Clients 20, 30, 60 are 3 of 3,
	 * and the middle one's write weight exceeds the largest's: times 0.7, then 0.7, then 1 -
	 * 0.3 x 1/2 in the order 60, 30, 20.
	 */
	ok_eq(vm_weights_adjusted(vms, 3, (struct rw_weights){ 2, 1 }, local), 0);
	ok_near(vms[1].weight[0], 6, 1e-12);
	ok_near(vms[0].weight[0], 6.5, 1e-12);
	ok_near(vms[2].weight[0], 5.5, 1e-12);
	ok_near(vms[2].weight[1], 2 * 0.7, 1e-12);
	ok_near(vms[1].weight[1], 3 * 0.7, 1e-12);
	ok_near(vms[0].weight[1], 1 * 0.85, 1e-12);
	vm_weights_invert(vms, 3);
	ok_near(vms[0].weight[0], 0.85, 1e-12);
	ok_near(vms[0].weight[1], 6.5, 1e-12);
}

static void one_vm_of_fewest_clients_writes_more(void)
{
	struct storage_vm vms[3] = { { { 10, 10 }, { 0, 0 } },
				     { { 30, 30 }, { 0, 0 } },
				     { { 30, 30 }, { 0, 0 } } };
	const struct rw_weights local[3] = { { 2, 1 }, { 2, 1 }, { 2, 1 } };

	vm_weights_adjusted(vms, 3, (struct rw_weights){ 2, 1 }, local);
	ok_near(vms[0].weight[1], 1.3, 1e-12);
	ok_near(vms[1].weight[1], 1, 1e-12);
	ok_near(vms[2].weight[1], 1, 1e-12);
	ok_near(vms[0].weight[0], 2, 1e-12);
	ok_near(vms[2].weight[0], 2, 1e-12);
}

static void shares_add_up(void)
{
	struct storage_vm vms[2] = { { { 10, 0 }, { 0, 0 } }, { { 40, 5 }, { 0, 0 } } };
	const double kappa[2] = { 0.5, 1 };

	vm_weights_shared(vms, 2, (struct rw_weights){ 3, 1 }, kappa);
	ok_near(vms[0].weight[0], 1, 1e-12);
	ok_near(vms[1].weight[0], 2, 1e-12);
	ok_near(vms[1].weight[1], 1, 1e-12);
}

static const struct tap_test tests[] = {
	{ "parts are as request by request", parts_are_as_request_by_request },
	{ "parts of their own do not meet", parts_of_their_own_do_not_meet },
	{ "the storage nets of docs/examples are the templates", examples_are_the_templates },
	{ "every template is sound and solves", examples_are_sound_and_solve },
	{ "one saturated queue answers in clients times service",
	  one_queue_is_clients_times_service },
	{ "cache and array answer as request by request",
	  cache_and_raid_are_as_request_by_request },
	{ "a mix of two vms answers as request by request", mix_is_as_request_by_request },
	{ "times at two exponential servers give their service times back",
	  raid_inversion_recovers_the_servers },
	{ "algorithm 4 lowers weights down the order of clients",
	  ordered_weights_descend_with_clients },
	{ "algorithm 5 adjusts reads and writes as worked by hand",
	  adjusted_weights_follow_algorithm_5 },
	{ "algorithm 5 lifts the writes of a lone smallest vm",
	  one_vm_of_fewest_clients_writes_more },
	{ "shares by clients add up to the whole", shares_add_up },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
