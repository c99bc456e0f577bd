// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/net/storage_net.h"
#include "analyzer/models/storage/net/storage_parts.h"

#define MAX_EVENTS 200000000

static const char one_queue_text[] =
	"colours: [request]\n"
	"places:\n"
	"  clients:\n"
	"    queue: is\n"
	"    tokens: {request: clients}\n"
	"    service: {request: {exponential: {mean: think}}}\n"
	"  storage:\n"
	"    queue: fcfs\n"
	"    service: {request: {gamma: {mean: mean, sd: sd}}}\n"
	"transitions:\n"
	"  submit: {take: {clients: request}, put: {storage: request}}\n"
	"  answer: {take: {storage: request}, put: {clients: request}}\n"
	"probes:\n"
	"  response:\n"
	"    from: {enter: storage}\n"
	"    to: {leave: storage}\n"
	"    colour: request\n";

static const char cache_raid_text[] =
	"colours: [request]\n"
	"places:\n"
	"  clients:\n"
	"    queue: is\n"
	"    tokens: {request: clients}\n"
	"    service: {request: {exponential: {mean: think}}}\n"
	"  cache:\n"
	"    queue: fcfs\n"
	"    service: {request: {gamma: {mean: cache, sd: cache_sd}}}\n"
	"  array:\n"
	"    queue: fcfs\n"
	"    service: {request: {gamma: {mean: array, sd: array_sd}}}\n"
	"  done:\n"
	"    colours: [request]\n"
	"transitions:\n"
	"  submit: {take: {clients: request}, put: {cache: request}}\n"
	"  look up:\n"
	"    modes:\n"
	"      hit: {weight: 1 - miss, take: {cache: request}, put: {done: request}}\n"
	"      miss: {weight: miss, take: {cache: request}, put: {array: request}}\n"
	"  stage: {take: {array: request}, put: {done: request}}\n"
	"  answer: {take: {done: request}, put: {clients: request}}\n"
	"probes:\n"
	"  response:\n"
	"    from: {enter: cache}\n"
	"    to: {leave: done}\n"
	"    colour: request\n";

static const char cases_text[] =
	"colours: [hit, other]\n"
	"places:\n"
	"  clients:\n"
	"    queue: is\n"
	"    tokens: {hit: clients * (1 - beyond), other: clients * beyond}\n"
	"    service:\n"
	"      hit: {exponential: {mean: think}}\n"
	"      other: {exponential: {mean: think}}\n"
	"  cached:\n"
	"    queue: fcfs\n"
	"    service: {hit: {gamma: {mean: cached, sd: cached_sd}}}\n"
	"  uncached:\n"
	"    queue: fcfs\n"
	"    service: {other: {gamma: {mean: uncached, sd: uncached_sd}}}\n"
	"transitions:\n"
	"  submit:\n"
	"    modes:\n"
	"      hit: {take: {clients: hit}, put: {cached: hit}}\n"
	"      other: {take: {clients: other}, put: {uncached: other}}\n"
	"  answer:\n"
	"    modes:\n"
	"      hit: {take: {cached: hit}, put: {clients: hit}}\n"
	"      other: {take: {uncached: other}, put: {clients: other}}\n"
	"probes:\n"
	"  cached response:\n"
	"    from: {enter: cached}\n"
	"    to: {leave: cached}\n"
	"    colour: hit\n"
	"  uncached response:\n"
	"    from: {enter: uncached}\n"
	"    to: {leave: uncached}\n"
	"    colour: other\n";

static void put_value(struct buf *out, const char *name, double value, const char *comment)
{
	char text[32];

	/* Uses as few digits as possible that still give the same number. */
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_printf(out, "  %s: %s%s\n", name, text, comment);
}

static bool storage_net_has(const struct storage_net *n, size_t vm, int write)
{
	return n->vms[vm].clients[write] > 0;
}

static bool is_mix(const struct storage_net *n)
{
	return n->template == STORAGE_MIX || n->template == STORAGE_PARTS;
}

static void parts_parameters(struct buf *out, const struct storage_net *n)
{
	static const char *const types[] = { "read", "write" };
	char name[32];

	put_value(out, "depth", n->depth, "   # requests of one VM under way");
	for (int w = 0; w < 2; w++) {
		snprintf(name, sizeof(name), "%s_latency", types[w]);
		put_value(out, name, n->latency_s[w], "");
	}
	for (size_t k = 0; k < n->nr_shared; k++)
		for (int w = 0; w < 2; w++) {
			if (!(n->shared[k][w].mean_s > 0))
				continue;
			snprintf(name, sizeof(name), "shared%zu_%s", k + 1, types[w]);
			put_value(out, name, n->shared[k][w].mean_s, "");
			snprintf(name, sizeof(name), "shared%zu_%s_sd", k + 1, types[w]);
			put_value(out, name, n->shared[k][w].sd_s, "");
		}
}

static void mix_parameters(struct buf *out, const struct storage_net *n)
{
	static const char *const weights[] = { "alpha", "beta" };
	static const char *const clients[] = { "readers", "writers" };
	char name[32];

	if (n->template == STORAGE_PARTS)
		parts_parameters(out, n);
	put_value(out, "read", n->first.mean_s, "");
	put_value(out, "read_sd", n->first.sd_s, "");
	put_value(out, "write", n->second.mean_s, "");
	put_value(out, "write_sd", n->second.sd_s, "");
	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++) {
			if (!storage_net_has(n, j, w))
				continue;
			snprintf(name, sizeof(name), "%s%zu", clients[w], j + 1);
			put_value(out, name, n->vms[j].clients[w], "");
			snprintf(name, sizeof(name), "%s%zu", weights[w], j + 1);
			put_value(out, name, n->vms[j].weight[w], "");
		}
}

/* Writes fmt with the letter and number of every class, as in "%c%zu". */
static void each_class(struct buf *out, const struct storage_net *n, const char *parting,
		       void (*put)(struct buf *out, char letter, size_t vm))
{
	bool first = true;

	for (size_t j = 0; j < n->nr_vms; j++)
		for (int w = 0; w < 2; w++) {
			if (!storage_net_has(n, j, w))
				continue;
			if (!first)
				buf_printf(out, "%s", parting);
			put(out, "rw"[w], j + 1);
			first = false;
		}
}

static void put_colour(struct buf *out, char c, size_t vm)
{
	buf_printf(out, "%c%zu", c, vm);
}

static const char *storage_net_word(char c)
{
	return c == 'r' ? "read" : "write";
}

static void put_clients(struct buf *out, char c, size_t vm)
{
	buf_printf(out,
		   "  %sers %zu:\n"
		   "    queue: is\n"
		   "    tokens: {%c%zu: %s%zu}\n"
		   "    service: {%c%zu: {exponential: {mean: think}}}\n",
		   c == 'r' ? "read" : "writ", vm, c, vm, c == 'r' ? "readers" : "writers", vm, c,
		   vm);
}

static void put_service(struct buf *out, char c, size_t vm)
{
	buf_printf(out, "      %c%zu: {gamma: {mean: %s, sd: %s_sd}}\n", c, vm, storage_net_word(c),
		   storage_net_word(c));
}

static void put_submit(struct buf *out, char c, size_t vm)
{
	buf_printf(out, "      %s %zu: {take: {%sers %zu: %c%zu}, put: {waiting: %c%zu}}\n",
		   storage_net_word(c), vm, c == 'r' ? "read" : "writ", vm, c, vm, c, vm);
}

static void put_start(struct buf *out, char c, size_t vm)
{
	buf_printf(out,
		   "      %s %zu:\n"
		   "        weight: %s%zu\n"
		   "        take: {waiting: %c%zu, free: permit}\n"
		   "        put: {storage: %c%zu}\n",
		   storage_net_word(c), vm, c == 'r' ? "alpha" : "beta", vm, c, vm, c, vm);
}

static void put_answer(struct buf *out, char c, size_t vm)
{
	buf_printf(
		out,
		"      %s %zu: {take: {storage: %c%zu}, put: {%sers %zu: %c%zu, free: permit}}\n",
		storage_net_word(c), vm, c, vm, c == 'r' ? "read" : "writ", vm, c, vm);
}

static void put_probe(struct buf *out, char c, size_t vm)
{
	buf_printf(out,
		   "  %s %zu:\n"
		   "    from: {enter: waiting}\n"
		   "    to: {leave: storage}\n"
		   "    colour: %c%zu\n",
		   storage_net_word(c), vm, c, vm);
}

static void write_mix(struct buf *out, const struct storage_net *n)
{
	buf_printf(out, "colours: [permit, ");
	each_class(out, n, ", ", put_colour);
	buf_printf(out, "]\nplaces:\n");
	each_class(out, n, "", put_clients);
	buf_printf(out, "  waiting:\n    colours: [");
	each_class(out, n, ", ", put_colour);
	buf_printf(out, "]\n  free:\n    tokens: {permit: 1}\n"
			"  storage:\n    queue: fcfs\n    service:\n");
	each_class(out, n, "", put_service);
	buf_printf(out, "transitions:\n  submit:\n    modes:\n");
	each_class(out, n, "", put_submit);
	buf_printf(out, "  start:\n    modes:\n");
	each_class(out, n, "", put_start);
	buf_printf(out, "  answer:\n    modes:\n");
	each_class(out, n, "", put_answer);
	buf_printf(out, "probes:\n");
	each_class(out, n, "", put_probe);
}

static void write_parameters(struct buf *out, const struct storage_net *n)
{
	static const char *const names[][4] = {
		[STORAGE_ONE_QUEUE] = { "mean", "sd", NULL, NULL },
		[STORAGE_CACHE_RAID] = { "cache", "cache_sd", "array", "array_sd" },
		[STORAGE_CASES] = { "cached", "cached_sd", "uncached", "uncached_sd" },
	};
	const char *const *name = names[n->template];
	const double values[] = { n->first.mean_s, n->first.sd_s, n->second.mean_s,
				  n->second.sd_s };

	put_value(out, "clients", n->clients, "");
	for (int i = 0; i < 4 && name[i]; i++)
		put_value(out, name[i], values[i], "");
	if (n->template == STORAGE_CACHE_RAID)
		put_value(out, "miss", n->miss, "   # share of requests that go on to the array");
	if (n->template == STORAGE_CASES)
		put_value(out, "beyond", n->beyond, "   # 1: the file set exceeds the cache");
}

void storage_net_write(struct buf *out, const struct storage_net *n)
{
	static const char *const heads[] = {
		[STORAGE_ONE_QUEUE] = "# A storage system whose requests all hit its cache.",
		[STORAGE_CACHE_RAID] =
			"# A storage system's cache, and the array that misses go on to.",
		[STORAGE_CASES] =
			"# A storage system in two cases: file sets within its cache, or beyond it.",
		[STORAGE_MIX] =
			"# Reads and writes of VMs that wait for one storage system, taken by weight.",
		[STORAGE_PARTS] =
			"# Reads and writes that wait in their VMs for a storage system's parts.",
	};
	static const char *const names[] = { "one queue", "cache and array", "cases", "mix",
					     "parts" };
	static const char *const texts[] = { one_queue_text, cache_raid_text, cases_text };

	buf_printf(out, "%s Times in seconds.\nnet: %s\nparameters:\n", heads[n->template],
		   names[n->template]);
	put_value(out, "think", n->think_s,
		  "   # of a client between an answer and its next request");
	if (is_mix(n)) {
		mix_parameters(out, n);
		if (n->template == STORAGE_PARTS)
			storage_parts_write(out, n);
		else
			write_mix(out, n);
	} else {
		write_parameters(out, n);
		buf_printf(out, "%s", texts[n->template]);
	}
}

/* Copies the results of the probes to the classes to which they belong. */
static void take_times(struct storage_times *out, const struct storage_net *n,
		       const struct net *net, const struct estimate *e)
{
	for (uint32_t i = 0; i < net->nr_probes; i++) {
		const char *name = net->probes[i].name;
		bool write = !strncmp(name, "write ", 6);
		size_t vm = 0;

		if (is_mix(n))
			sscanf(name + (write ? 6 : 5), "%zu", &vm);
		if (n->template == STORAGE_CASES && !strncmp(name, "un", 2) != n->beyond)
			continue;
		out->time[vm ? vm - 1 : 0][vm ? write : 0] = e->probes[i].time;
	}
}

int storage_net_solve(struct storage_times *out, const struct storage_net *n, double precision,
		      uint64_t seed, struct err *err)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct solution s = { 0 };
	const char *names[2 * STORAGE_VMS_MAX];
	struct net *net = NULL;
	struct buf text;
	int ret;

	buf_init(&text);
	storage_net_write(&text, n);
	buf_put_u8(&text, 0);
	ret = text.error ? err_set(err, -text.error, "out of memory")
			 : net_parse(&net, "storage model", (const char *)text.data, NULL, 0, err);
	buf_release(&text);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < net->nr_probes; i++) {
		const char *name = net->probes[i].name;

		if (n->template != STORAGE_CASES || !strncmp(name, "un", 2) == n->beyond)
			names[o.nr_wanted++] = name;
	}
	o.wanted = names;
	o.precision = precision;
	o.seed = seed;
	o.max_events = MAX_EVENTS;
	ret = solve_net(&s, net, &o, err);
	if (ret)
		goto out;
	*out = (struct storage_times){ .events = s.events, .precision = s.precision };
	take_times(out, n, net, &s.estimate);
out:
	solution_release(&s);
	net_free(net);
	return ret;
}

/*
 * Solves two exponential servers with t clients, where k clients at the first server have the
 * weight r^k.
 */
static void storage_net_geometric(double t, double ln_r, double *mean, double *empty, double *full)
{
	double sum = 0, first = 0, top = fmax(0, t * ln_r);

	for (double k = 0; k <= t; k++) {
		double p = exp(k * ln_r - top);

		sum += p;
		first += k * p;
	}
	*mean = first / sum;
	*empty = exp(-top) / sum;
	*full = exp(t * ln_r - top) / sum;
}

void storage_raid_invert(double t, double miss, double hit_s, double beyond_s, double *cache_s,
			 double *raid_s)
{
	double throughput = t / (hit_s + miss * beyond_s), wanted = throughput * hit_s;
	double low = -40, high = 40, mean, empty, full;

	for (int i = 0; i < 80; i++) {
		storage_net_geometric(t, (low + high) / 2, &mean, &empty, &full);
		if (mean < wanted)
			low = (low + high) / 2;
		else
			high = (low + high) / 2;
	}
	storage_net_geometric(t, (low + high) / 2, &mean, &empty, &full);
	*cache_s = (1 - empty) / throughput;
	*raid_s = (1 - full) / (throughput * miss);
}

void storage_raid_behind(double t, double miss, double cache_s, double response_s, double *raid_s)
{
	double throughput = t / response_s, wanted = fmin(throughput * cache_s, 0.999);
	double low = -40, high = 40, mean, empty, full;

	for (int i = 0; i < 80; i++) {
		storage_net_geometric(t, (low + high) / 2, &mean, &empty, &full);
		if (1 - empty < wanted)
			low = (low + high) / 2;
		else
			high = (low + high) / 2;
	}
	storage_net_geometric(t, (low + high) / 2, &mean, &empty, &full);
	*raid_s = (1 - full) / (throughput * miss);
}
