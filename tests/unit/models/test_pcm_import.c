// SPDX-License-Identifier: Apache-2.0
/* Palladio's files: one model of every element, worked out by hand; published ones; broken ones. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/arch/pcm/pcm_import.h"
#include "analyzer/models/arch/sim_state.h"
#include "tests/support/tap.h"

#define SHOP "docs/examples/palladio-shop"

static const char *const shop_files[] = { "shop.repository", "shop.system", "shop.allocation",
					  "shop.resourceenvironment", "shop.usagemodel" };

static void need_shop(void)
{
	if (access(SHOP "/shop.system", R_OK))
		tap_skip("tree", "the example is not here: run from the top of the tree");
}

/* A published model; the test is skipped where they are not. */
static void published(struct arch_model *m, const char *name)
{
	const char *dir = tap_data_dir();
	struct err err = { 0 };
	char path[512];

	if (!dir)
		tap_skip("data", "the published models are not here: set BLKCAST_DATA");
	snprintf(path, sizeof(path), "%s/pcm/%s", dir, name);
	if (!ok_int(pcm_import(m, path, NULL, &err), 0))
		tap_note("%s", err.line);
}

struct log {
	double durations[64];
	uint32_t index, nr;
};

static void keep(void *ctx, uint32_t index, double begin, double end)
{
	struct log *l = ctx;

	if (index == l->index && l->nr < 64)
		l->durations[l->nr++] = end - begin;
}

static uint32_t find_time(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_scenarios + m->nr_measures + m->nr_passives; i++) {
		char *known = arch_time_name(m, i);
		bool same = known && !strcmp(known, name);

		free(known);
		if (same)
			return i;
	}
	tap_note("no time of the name %s", name);
	ok(false);
	return 0;
}

/* The first durations of a kind. */
static struct log watch(const struct arch_model *m, const char *name, double until)
{
	struct log l = { .index = find_time(m, name) };
	struct err err = { 0 };
	struct arch_sim *s;

	ok_int(arch_sim_new(&s, m, 1, &err), 0);
	if (!s)
		return l;
	s->watch = keep;
	s->watch_ctx = &l;
	if (!ok_int(arch_sim_run(s, until, UINT64_MAX, &err), 0))
		tap_note("%s", err.line);
	arch_sim_free(s);
	return l;
}

static struct arch_sample sample(const struct arch_model *m, double until)
{
	struct arch_sample x = { 0 };
	struct err err = { 0 };
	struct arch_sim *s;

	ok_int(arch_sim_new(&s, m, 1, &err), 0);
	if (!s)
		return x;
	if (!ok_int(arch_sim_run(s, until, UINT64_MAX, &err), 0))
		tap_note("%s", err.line);
	ok_int(arch_sim_collect(s, &x), 0);
	arch_sim_free(s);
	return x;
}

static void shop(struct arch_model *m)
{
	struct err err = { 0 };

	need_shop();
	if (!ok_int(pcm_import(m, SHOP, NULL, &err), 0))
		tap_note("%s", err.line);
}

/*
 * buy: cpu of rate 2: 6 by user data over configuration over component; two of 2.7 log lines of 1;
 * three turns of 1; over the link 4 * 5 bytes at 10 a second and 0.5; 4 times 5 bytes written at 10
 * a second; back 30 bytes; packing 3. In all 3 + 1 + 1.5 + 2.5 + 2 + 3.5 + 1.5 = 15; a visit is two
 * of these and a delay of 1, then 9 to think.
 */
static void every_element(void)
{
	struct arch_model m = { 0 };
	struct arch_sample x;

	shop(&m);
	x = sample(&m, 4000);
	if (x.times) {
		ok_near(x.times[0].sum / x.times[0].nr, 31, 1e-9);
		ok_eq(x.times[0].nr, 100);
		ok_near(x.times[find_time(&m, "desk/front.buy")].sum, 200 * 15, 1e-6);
		ok_near(x.times[find_time(&m, "desk/log.write")].sum, 400 * 0.5, 1e-6);
		ok_near(x.times[find_time(&m, "store/disk.put")].sum, 200 * 8, 1e-6);
		ok_eq(x.times[find_time(&m, "store/disk.lock")].nr, 200);
		/* Jobs of each: cpu 7 of 15, disk 2, link 6; twice in 40. */
		ok_near(x.levels[arch_level_jobs(0)] / 4000, 2 * 7 / 40., 1e-9);
		ok_near(x.levels[arch_level_jobs(1)] / 4000, 2 * 2 / 40., 1e-9);
		ok_near(x.levels[arch_level_jobs(2)] / 4000, 2 * 6 / 40., 1e-9);
	}
	arch_sample_release(&x);
	arch_release(&m);
}

static void flat(void)
{
	struct arch_model m = { 0 };
	uint32_t front, log, disk;

	shop(&m);
	front = arch_find_instance(&m, "desk/front");
	log = arch_find_instance(&m, "desk/log");
	disk = arch_find_instance(&m, "store/disk");
	ok_eq(m.nr_instances, 3);
	ok_eq(m.nr_components, 3);
	ok(front != ARCH_NONE && log != ARCH_NONE && disk != ARCH_NONE);
	if (front != ARCH_NONE) {
		ok_eq(m.instances[front].wires[0], disk);
		ok_eq(m.instances[front].wires[1], log);
		ok_str(m.containers[m.instances[front].container].name, "app");
		ok_str(m.containers[m.instances[disk].container].name, "rack");
	}
	ok_eq(m.resources[0].servers, 2);
	ok_eq(m.nr_links, 1);
	arch_release(&m);
}

static void named_files(void)
{
	struct arch_model a = { 0 }, b = { 0 };
	struct err err = { 0 };

	need_shop();
	ok(pcm_is_palladio(SHOP));
	ok(pcm_is_palladio(SHOP "/shop.allocation"));
	ok(!pcm_is_palladio(SHOP "/shop.system"));
	ok_int(pcm_import(&a, SHOP "/shop.allocation", NULL, &err), 0);
	ok_int(pcm_import(&b, SHOP "/shop.allocation,shop.usagemodel", NULL, &err), 0);
	ok_eq(a.nr_instances, b.nr_instances);
	arch_release(&a);
	arch_release(&b);
}

static void acquire(void)
{
	static const double waits[] = { 0, 10, 20, 30, 40 };
	struct arch_model m = { 0 };
	struct log l;
	struct arch_sample x;

	published(&m, "Acquire_Example");
	l = watch(&m, "defaultUsageScenario", 500);
	x = sample(&m, 500);
	ok(l.nr >= 40);
	for (uint32_t i = 0; i < l.nr; i++)
		ok_near(l.durations[i], i < 4 ? 10 * (i + 1) : 50, 1e-9);
	l = watch(&m, "Assembly_Impl <Impl>.lock", 500);
	for (uint32_t i = 0; i < l.nr; i++)
		ok_near(l.durations[i], waits[i < 4 ? i : 4], 1e-9);
	ok_near(x.levels[arch_level_busy(0)] / 500, 1, 1e-9);
	ok_near(x.levels[arch_level_jobs(0)] / 500, 1, 1e-9);
	arch_sample_release(&x);
	arch_release(&m);
}

/* One job of a round may meet that of the next: two at once, never three. */
static void fork_example(void)
{
	struct arch_model m = { 0 };
	struct arch_sample x;
	uint32_t cpu = 0;
	double busy, jobs;

	published(&m, "PCMFork_Example");
	x = sample(&m, 1e6);
	while (cpu + 1 < m.nr_resources && strcmp(m.types[m.resources[cpu].type].name, "cpu"))
		cpu++;
	if (x.times) {
		busy = x.levels[arch_level_busy(cpu)] / x.duration;
		jobs = x.levels[arch_level_jobs(cpu)] / x.duration;
		ok_near(busy, 1 / 1.1375, 0.0005);
		ok_near(1 - busy, 0.12088, 0.0005);
		ok_near(jobs - busy, 0.02942, 0.0005);
		/* .75 of 1.2 and .25 of .95 */
		ok_near(x.times[0].sum / x.times[0].nr, 1.1375, 0.0005);
		ok_near(x.times[0].squares / x.times[0].nr, 0.75 * 1.44 + 0.25 * 0.9025, 0.001);
	}
	arch_sample_release(&x);
	arch_release(&m);
}

static void set_variable(void)
{
	struct arch_model m = { 0 };
	struct log l;

	published(&m, "PCMSetVariable_Example");
	l = watch(&m, "SetVaribleUsage", 2000);
	ok_eq(l.nr, 40);
	for (uint32_t i = 0; i < l.nr; i++)
		ok_near(l.durations[i], 50, 1e-9);
	arch_release(&m);
}

static void minimum(void)
{
	struct arch_model m = { 0 };
	struct solve_options o = ARCH_SOLVE_DEFAULTS;
	double exact = 1.35 / 1.0810638521955225 + 1.0;
	struct arch_solution s = { 0 };
	struct err err = { 0 };

	published(&m, "Minimum_Project_Example");
	o.precision = 0.002;
	ok_int(arch_solve(&s, &m, &o, &err), 0);
	if (s.times) {
		ok(s.times[0].mean.low <= exact && exact <= s.times[0].mean.high);
		ok_near(s.times[0].mean.mean, exact, 0.002 * exact);
		/* busy share: demand over the whole cycle */
		ok_ratio(s.resources[0].utilization, (exact - 1) / (exact + 100), 0.01);
	}
	arch_solution_release(&s);
	arch_release(&m);
}

/* Copies the shop with one text of one file replaced; false: it is not there. */
static bool spoil(const char *dir, const char *file, const char *from, const char *to)
{
	bool done = !file;

	for (size_t i = 0; i < 5; i++) {
		static char text[65536];
		char path[256], *at = NULL;
		FILE *in, *out;
		size_t len;

		snprintf(path, sizeof(path), SHOP "/%s", shop_files[i]);
		in = fopen(path, "re");
		snprintf(path, sizeof(path), "%s/%s", dir, shop_files[i]);
		out = fopen(path, "we");
		if (!in || !out)
			return false;
		len = fread(text, 1, sizeof(text) - 1, in);
		text[len] = 0;
		if (file && !strcmp(file, shop_files[i]))
			at = strstr(text, from);
		if (at) {
			fwrite(text, 1, (size_t)(at - text), out);
			fputs(to, out);
			if (*from)
				fputs(at + strlen(from), out);
			done = true;
		} else {
			fputs(text, out);
		}
		fclose(in);
		fclose(out);
	}
	return done;
}

static void remove_all(const char *dir)
{
	char path[256];

	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, shop_files[i]);
		unlink(path);
	}
	rmdir(dir);
}

static const struct spoiled {
	const char *file, *from, *to, *want;
} spoiled[] = {
	/* Not XML, not safe, not there. */
	{ "shop.system", "</system:System>", "", "shop.system:2" },
	{ "shop.usagemodel", "<usagemodel:UsageModel",
	  "<!DOCTYPE a [<!ENTITY b \"c\"><!ENTITY d \"&b;&b;\">]>\n<usagemodel:UsageModel",
	  "shop.usagemodel:2: a document type declaration" },
	{ "shop.allocation", "shop.system#system", "other.system#system",
	  "shop.allocation:4: system_Allocation: refers to \"other.system\", which is not in" },
	{ "shop.allocation", "<allocation:Allocation", "<allocation:Other",
	  "shop.allocation:13: not XML" },
	/* References. */
	{ "shop.allocation", "shop.system#desk", "shop.system#nobody",
	  "shop.allocation:7: assemblyContext_AllocationContext: refers to \"nobody\", which" },
	{ "shop.allocation", "shop.system#desk", "shop.system#counter",
	  "expected a assemblyContexts" },
	{ "shop.allocation", "environment#rack", "environment#rackHdd", "is no container" },
	{ "shop.allocation", "shop.repository#storeDisk", "shop.system#desk",
	  "a second container for desk" },
	{ "shop.system", "shop.repository#Desk\"", "shop.repository#IShop\"",
	  "expected a components__Repository" },
	{ "shop.system", "shop.repository#Store\"", "shop.repository#Nothing\"",
	  "shop.system:7: encapsulatedComponent__AssemblyContext: refers to \"Nothing\"" },
	{ "shop.system", "shop.repository#StoreStore", "shop.repository#DiskStore",
	  "which is not connected" },
	{ "shop.repository", "calledService_ExternalService=\"put\"",
	  "calledService_ExternalService=\"buy\"", "has no such operation" },
	{ "shop.repository", "role_ExternalService=\"FrontStore\"",
	  "role_ExternalService=\"DeskStore\"", "is no required role of Front" },
	{ "shop.repository", "Palladio.resourcetype#_oro4gG3fEdy4YaaT-RYrLQ",
	  "Palladio.resourcetype#_unknown", "shop.repository:" },
	{ "shop.repository", "passiveResource_ReleaseAction=\"DiskLock\"",
	  "passiveResource_ReleaseAction=\"Disk\"", "expected a passiveResource" },
	{ "shop.repository", "id=\"DiskLock\"", "id=\"Disk\"", "a second element of the id Disk" },
	{ "shop.repository", "//@interfaces__Repository.1/", "//@interfaces__Repository.7/",
	  "refers to \"//@interfaces__Repository.7" },
	/* Order. */
	{ "shop.repository", "successor_AbstractAction=\"b4\"", "successor_AbstractAction=\"b1\"",
	  "its successors come back to it" },
	{ "shop.repository", "successor_AbstractAction=\"b4\"", "successor_AbstractAction=\"b5\"",
	  "1 of its steps do not follow the StartAction" },
	{ "shop.repository", "successor_AbstractAction=\"b4\"", "successor_AbstractAction=\"p1\"",
	  "its successor is in another behaviour" },
	{ "shop.repository", "xsi:type=\"seff:StartAction\" id=\"b0\"",
	  "xsi:type=\"seff:StopAction\" id=\"b0\"", "has no StartAction" },
	/* Values. */
	{ "shop.repository", "specification=\"effort.VALUE\"", "specification=\"effort.VALUE *\"",
	  "effort.VALUE *" },
	{ "shop.repository", "type=\"BYTESIZE\"", "type=\"WEIGHT\"",
	  "unknown type of characterisation" },
	{ "shop.usagemodel", "population=\"1\"", "population=\"0\"",
	  "shop.usagemodel:30: scenario customers: expected a population of 1" },
	{ "shop.usagemodel", "population=\"1\"", "population=\"many\"", "expected a number" },
	{ "shop.resourceenvironment", "numberOfReplicas=\"2\"", "numberOfReplicas=\"0\"",
	  "numberOfReplicas: expected 1 or more" },
	/* What is not supported. */
	{ "shop.resourceenvironment", "MTTF=\"0.0\"", "MTTF=\"5.0\"",
	  "shop.resourceenvironment:11: activeResourceSpecifications_ResourceContainer: MTTF above 0" },
	{ "shop.resourceenvironment", "failureProbability=\"0.0\"", "failureProbability=\"0.1\"",
	  "failureProbability above 0" },
	{ "shop.resourceenvironment", "resourcetype#FCFS", "resourcetype#EXACT",
	  "scheduling policy that is not supported: EXACT" },
	{ "shop.resourceenvironment", "\"app rack\"", "\"app\"", "no link joins app and rack" },
	{ "shop.repository", "seff:SetVariableAction\" id=\"d4\"",
	  "seff:EmitEventAction\" id=\"d4\"", "action that is not supported: EmitEventAction" },
	{ "shop.repository", "entityName=\"put\" predecessor", "retryCount=\"2\" predecessor",
	  "retryCount above 0" },
	{ "shop.repository", "id=\"d1\"", "id=\"d1\" timeout=\"true\"",
	  "a timeout is not supported" },
	{ "shop.repository", "id=\"d1\"", "id=\"d1\" speed=\"1\"",
	  "attribute that is not supported: speed" },
	{ "shop.repository", "seff:GuardedBranchTransition\" id=\"small\"",
	  "seff:ProbabilisticBranchTransition\" id=\"small\"",
	  "the same in all of a branch, got ProbabilisticBranchTransition" },
	{ "shop.system", "composition:AssemblyConnector", "composition:AssemblyEventConnector",
	  "connector that is not supported: AssemblyEventConnector" },
	{ "shop.usagemodel", "usagemodel:Delay", "usagemodel:Nap",
	  "action that is not supported: Nap" },
	/* Cycles. */
	{ "shop.repository", "entityName=\"disk\" encapsulatedComponent__AssemblyContext=\"Disk\"",
	  "entityName=\"disk\" encapsulatedComponent__AssemblyContext=\"Store\"",
	  "Store is a part of itself" },
	{ "shop.repository", "providedRole__AssemblyInfrastructureConnector=\"LogLog\"",
	  "providedRole__AssemblyInfrastructureConnector=\"FrontShop\"",
	  "is no role that desk/log" },
	{ "shop.repository", "<resourceDemandingInternalBehaviours id=\"packing\">",
	  "<resourceDemandingInternalBehaviours id=\"packing\">"
	  "<steps_Behaviour xsi:type=\"seff:InternalCallAction\" id=\"p9\" "
	  "successor_AbstractAction=\"p1\" calledResourceDemandingInternalBehaviour=\"packing\"/>",
	  "do not follow" },
	{ "shop.repository", "id=\"p0\" successor_AbstractAction=\"p1\"/>",
	  "id=\"p0\" successor_AbstractAction=\"p9\"/>"
	  "<steps_Behaviour xsi:type=\"seff:InternalCallAction\" id=\"p9\" "
	  "successor_AbstractAction=\"p1\" calledResourceDemandingInternalBehaviour=\"packing\"/>",
	  "a cycle of calls leads back to desk/front" },
};

static void bad_models(void)
{
	char dir[] = "/tmp/test_pcm_import.XXXXXX";

	need_shop();
	if (!mkdtemp(dir)) {
		ok(false);
		return;
	}
	for (size_t i = 0; i < sizeof(spoiled) / sizeof(*spoiled); i++) {
		const struct spoiled *b = &spoiled[i];
		struct arch_model m = { 0 };
		struct err err = { 0 };
		/* Failures can be left out: their code lets a command say how. */
		int code = strstr(b->want, " above 0") ? ENOTSUP : EINVAL;

		ok(spoil(dir, b->file, b->from, b->to));
		if (!ok_int(pcm_import(&m, dir, NULL, &err), -code) ||
		    !ok(strstr(err.line, b->want) != NULL))
			tap_note("%zu (%s): %s", i, b->to, err.line);
		arch_release(&m);
	}
	remove_all(dir);
}

/* Every file, cut off at many places: an error with a place, and nothing leaks. */
static void truncated(void)
{
	char dir[] = "/tmp/test_pcm_import.XXXXXX", path[256];

	need_shop();
	if (!mkdtemp(dir)) {
		ok(false);
		return;
	}
	for (size_t i = 0; i < 5; i++)
		for (int cut = 0; cut < 11; cut++) {
			struct arch_model m = { 0 };
			struct err err = { 0 };
			struct stat st;

			ok(spoil(dir, NULL, NULL, NULL));
			snprintf(path, sizeof(path), "%s/%s", dir, shop_files[i]);
			ok(!stat(path, &st) && !truncate(path, st.st_size * cut / 11));
			ok_int(pcm_import(&m, dir, NULL, &err), -EINVAL);
			ok(strstr(err.line, shop_files[i]) != NULL);
			arch_release(&m);
		}
	remove_all(dir);
}

static void missing(void)
{
	struct arch_model m = { 0 };
	struct err err = { 0 };

	ok_int(pcm_import(&m, "/nowhere", NULL, &err), -ENOENT);
	ok(strstr(err.line, "/nowhere") != NULL);
	arch_release(&m);
	ok_int(pcm_import(&m, "/nowhere/a.allocation,b.usagemodel", NULL, &err), -ENOENT);
	arch_release(&m);
	need_shop();
	ok_int(pcm_import(&m, "tests/golden", NULL, &err), -EINVAL);
	ok(strstr(err.line, "0 .allocation files: expected one") != NULL);
	arch_release(&m);
}

static const struct tap_test tests[] = {
	{ "a model of every element takes the time worked out by hand", every_element },
	{ "composites and subsystems are flattened to instances and wires", flat },
	{ "files can be named", named_files },
	{ "Acquire: 10, 20, 30, 40, then 50 for ever", acquire },
	{ "Fork: busy 87.912 %, two jobs 2.942 %, 1.2 in three of four", fork_example },
	{ "SetVariable: always 50", set_variable },
	{ "Minimum: the exact mean lies in the interval", minimum },
	{ "what is wrong or not supported is refused with file and line", bad_models },
	{ "files that are cut off are refused", truncated },
	{ "files that are not there are named", missing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
