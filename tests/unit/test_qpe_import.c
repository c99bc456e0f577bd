// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/qpn/qpe_import.h"
#include "analyzer/qpn/solve.h"
#include "tests/tap.h"

static struct err err;

/* Reads a net from a string by way of a file; the path in errors is cut off. */
static struct net *import(const char *text)
{
	char path[] = "/tmp/blkcast-qpe.XXXXXX";
	int fd = mkstemp(path);
	struct net *n = NULL;

	err = (struct err){ 0 };
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
	qpe_import(&n, path, &err);
	unlink(path);
	if (!strncmp(err.line, path, strlen(path)))
		memmove(err.line, err.line + strlen(path), strlen(err.line + strlen(path)) + 1);
	return n;
}

#define TOP                                                                                  \
	"<net xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' qpme-version='2.1.0'>\n" \
	"<colors><color id='c1' name='x' real-color='#fff'/></colors>\n"                     \
	"<queues><queue id='q1' name='Q' number-of-servers='2' strategy='PRIO'/></queues>\n"
#define PLACE(extra)                                                                    \
	"<places><place id='p1' name='P' departure-discipline='FIFO' queue-ref='q1' "   \
	"xsi:type='queueing-place'><color-refs>\n"                                      \
	"<color-ref id='r1' color-id='c1' initial-population='3' maximum-capacity='9' " \
	"priority='4' ranking='0' " extra " xsi:type='queueing-color-reference'/>\n"    \
	"</color-refs></place></places>\n"

static void every_element(void)
{
	struct net *n = import(TOP PLACE(
		"distribution-function='Gamma' alpha='2' lambda='4'") "<transitions><transition id='t1' name='T' priority='5' weight='2' "
								      "xsi:type='immediate-transition'><modes><mode id='m1' name='M' firing-weight='3' "
								      "real-color='#fff'/></modes><connections>\n"
								      "<connection id='k1' count='1' source-id='r1' target-id='m1'/>\n"
								      "<connection id='k2' count='1' source-id='m1' target-id='r1'/>\n"
								      "</connections></transition>\n"
								      "<transition id='t2' name='D' priority='0' xsi:type='timed-transition'><modes>"
								      "<mode id='m2' name='M' mean-firing-delay='7' real-color='#fff'/></modes>"
								      "<connections><connection id='k3' count='2' source-id='m2' target-id='r1'/>"
								      "</connections></transition></transitions>\n"
								      "<probes><probe id='b1' name='B' start-place-id='p1' start-trigger='entry' "
								      "end-place-id='p1' end-trigger='exit'><color-refs>"
								      "<color-ref id='r2' color-id='c1'/></color-refs></probe></probes>\n"
								      "<meta-attributes><meta-attribute anything='goes'/></meta-attributes></net>\n");

	if (!ok(n != NULL)) {
		tap_note("%s", err.line);
		return;
	}
	ok(n->queues[0].strategy == NET_PRIORITY && n->queues[0].servers == 2);
	ok(n->places[0].fifo && n->places[0].line == 4);
	ok(n->slots[0].tokens == 3 && n->slots[0].capacity == 9 && n->slots[0].priority == 4);
	ok_near(n->slots[0].service.mean, 0.5, 1e-15);
	ok_eq(n->transitions[0].priority, 5);
	ok_near(n->transitions[0].modes[0].weight, 3, 0);
	ok_str(n->transitions[1].name, "D/M");
	ok(n->transitions[1].timed && n->transitions[1].modes[0].put[0].count == 2);
	ok(n->nr_probes == 1 && n->probes[0].to_leave);
	net_free(n);
}

static void refuses(void)
{
	static const char *const cases[][2] = {
		{ "<net", ":1: not XML: " },
		{ "<model/>", ": expected a QPME net, the element \"net\"" },
		{ "<net>\n<extra/></net>", ":2: extra: unknown element in: net" },
		{ TOP PLACE("distribution-function='Beta'") "</net>",
		  ":5: color-ref: distribution-function that is not taken: Beta" },
		{ TOP PLACE("distribution-function='Exponential' lambda='0'") "</net>",
		  ":5: color-ref: no such distribution: exponential: mean: " },
		{ TOP "<places><place id='p' name='S' departure-discipline='NORMAL' "
		      "xsi:type='subnet-place'/></places></net>",
		  ":4: place: not taken: a place of the type: subnet-place" },
		{ TOP "<places><place id='p' name='S' departure-discipline='NORMAL' queue-ref='q9' "
		      "xsi:type='queueing-place'/></places></net>",
		  ":4: place: no queue of the id: q9" },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok(!import(cases[i][0]));
		if (strncmp(err.line, cases[i][1], strlen(cases[i][1])))
			ok_str(err.line, cases[i][1]);
	}
}

static struct net *data_net(const char *name)
{
	const char *dir = tap_data_dir();
	struct net *n = NULL;
	char path[4096];

	if (!dir)
		tap_skip(NULL, "no folder of data");
	snprintf(path, sizeof(path), "%s/qpe/%s.qpe", dir, name);
	if (!ok(!qpe_import(&n, path, &err)))
		tap_note("%s", err.line);
	return n;
}

static void ispass03(void)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = data_net("ispass03");
	const struct slot_estimate *e;
	struct solution s;

	if (!n)
		return;
	if (ok(!solve_net(&s, n, &o, &err))) {
		e = s.estimate.slots;
		/* Another simulator's run at 99 %: slots in the file's order. */
		ok_ratio(e[4].population.mean, 57.03, 0.02);
		ok_ratio(e[4].residence.mean.mean, 3981, 0.02);
		ok_ratio(e[6].population.mean, 3.142, 0.02);
		ok_ratio(e[7].population.mean, 0.2091, 0.02);
		ok_ratio(e[7].throughput.mean, 0.0142, 0.02);
		/* WLS-CPU is busy all the time: M/M/1 queues at its rate follow. */
		ok_near(e[6].population.mean, 3.1176, e[6].population.high - e[6].population.mean);
		ok_near(e[7].population.mean, 0.2069, e[7].population.high - e[7].population.mean);
		solution_release(&s);
	}
	net_free(n);
}

static void pepsy(void)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = data_net("pepsy-bcmp2");
	static const double residence[] = { 476.7228, 588.7912, 2054.5661, 2056.4949,
					    513.6054, 513.6318, 40856.80,  40941.14 };
	struct solution s;

	if (!n)
		return;
	if (ok(!solve_net(&s, n, &o, &err))) {
		/* Ten means at 95 %: 1.5 half-widths, as in test_qpn_sim.c. */
		for (int i = 0; i < 8; i++) {
			struct interval v = s.estimate.slots[i + 2].residence.mean;

			ok_near(v.mean, residence[i], 1.5 * (v.high - v.mean));
		}
		solution_release(&s);
	}
	net_free(n);
}

static const struct tap_test tests[] = {
	{ "every element that is taken is read", every_element },
	{ "what is not taken is refused with element and line", refuses },
	{ "ispass03 gives the known answers", ispass03 },
	{ "pepsy-bcmp2 gives the exact answers", pepsy },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
