// SPDX-License-Identifier: Apache-2.0
/*
 * sus: measures scenarios on the system under study and prints them as a measurement table
 * (docs/qpn-tables.md) with one more column, disk_utilization.
 *
 *   sus SCENARIO [SEED [SHARE SHARES]]     of a scenario, configurations SHARE, SHARE + SHARES, ...
 *   sus run read|write random|sequential CLIENTS SIZE_BYTES FILE_SET_GB [VMS]
 *   sus                                    lists the scenarios
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "tests/system-under-study/scenarios.h"
#include "tests/system-under-study/sus.h"

static const struct sus_params params = SUS_PARAMS;

struct job {
	unsigned long number, share, shares;
	uint64_t seed;
	int error;
};

static void print_histogram(const struct histogram *h)
{
	const char *space = "";

	for (int b = HISTOGRAM_BUCKET_MIN; b <= HISTOGRAM_BUCKET_MAX; b++) {
		uint64_t nr = histogram_count(h, b);

		if (nr)
			printf("%s%d:%llu", space, b, (unsigned long long)nr), space = " ";
	}
}

static void print_head(void)
{
	puts("configuration,vm,type,pattern,clients,size_bytes,file_set_bytes,response_time_s,"
	     "response_sd_s,throughput_per_s,histogram,disk_utilization");
}

static void print_result(unsigned long number, const struct load *l, const struct sus_result *r)
{
	for (unsigned i = 0; i < l->nr_classes; i++) {
		const struct load_class *k = &l->classes[i];
		const struct sus_class_result *c = &r->classes[i];

		char sd[32] = "";

		/* None where a saturated link makes all alike, to the last digits. */
		if (c->sd_s > 0)
			snprintf(sd, sizeof(sd), "%.6g", c->sd_s);
		printf("%lu,vm%u,%s,%s,%u,%u,%llu,%.6g,%s,%.6g,", number, k->vm + 1,
		       k->write ? "write" : "read", k->sequential ? "sequential" : "random",
		       k->clients, k->size_bytes, (unsigned long long)l->files[k->vm] * SUS_FILE,
		       c->mean_s, sd, c->throughput);
		print_histogram(&c->histogram);
		printf(",%.3f\n", r->disk_utilization);
	}
	fflush(stdout);
}

static int measure(void *ctx, const struct load *l)
{
	struct job *j = ctx;
	struct sus_options o = SUS_OPTIONS;
	struct sus_result r;
	unsigned long number = ++j->number;

	if (j->error || (number - 1) % j->shares != j->share)
		return 0;
	o.seed = j->seed * 1000003 + number;
	j->error = sus_run(&r, &params, l, &o);
	if (!j->error) {
		print_result(number, l, &r);
		sus_result_release(&r);
	}
	return j->error;
}

static int list(void)
{
	for (unsigned i = 0; i < nr_scenarios; i++)
		printf("%-18s %s\n", scenarios[i].name, scenarios[i].what);
	return 0;
}

/* A whole number; 0 or -EINVAL. */
static int count_read(const char *text, uint64_t max, uint32_t *out)
{
	const char *expected;
	uint64_t count;

	if (units_parse_count(text, &count, &expected) || !count || count > max)
		return -EINVAL;
	*out = (uint32_t)count;
	return 0;
}

static int run_one(char **args, int nr)
{
	struct load l = { .nr_vms = 1 };
	struct job j = { .shares = 1, .seed = 1 };
	uint32_t clients, size_bytes, nr_vms = 1;
	double file_set_gb;
	char *end;

	if (nr < 5 || count_read(args[2], UINT32_MAX, &clients) ||
	    count_read(args[3], SUS_FILE / 2, &size_bytes) ||
	    (nr > 5 && count_read(args[5], LOAD_VMS, &nr_vms)))
		return -EINVAL;
	file_set_gb = strtod(args[4], &end);
	if (end == args[4] || *end || !(file_set_gb > 0))
		return -EINVAL;
	l.nr_vms = nr_vms;
	l.nr_classes = l.nr_vms;
	for (unsigned v = 0; v < l.nr_vms; v++) {
		l.files[v] = scenario_files(file_set_gb / l.nr_vms);
		l.classes[v] = (struct load_class){ .vm = v,
						    .write = !strcmp(args[0], "write"),
						    .sequential = !strcmp(args[1], "sequential"),
						    .clients = clients,
						    .size_bytes = size_bytes };
	}
	print_head();
	return measure(&j, &l);
}

static int run_scenario(char **args, int nr)
{
	struct job j = { .shares = 1, .seed = nr > 1 ? strtoull(args[1], NULL, 10) : 1 };
	struct rng r;

	if (nr > 3) {
		j.share = strtoul(args[2], NULL, 10);
		j.shares = strtoul(args[3], NULL, 10);
	}
	if (!j.shares)
		return -EINVAL;
	for (unsigned i = 0; i < nr_scenarios; i++) {
		if (strcmp(args[0], scenarios[i].name))
			continue;
		rng_stream(&r, j.seed, i);
		print_head();
		scenarios[i].make(&r, measure, &j);
		return j.error;
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	int error;

	if (argc < 2)
		return list();
	error = strcmp(argv[1], "run") ? run_scenario(argv + 1, argc - 1)
				       : run_one(argv + 2, argc - 2);
	if (error)
		fprintf(stderr, "sus: %s\n", strerror(-error));
	return error ? 1 : 0;
}
