// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/net/qpe_import.h"
#include "analyzer/models/solve/solve.h"
#include "tests/support/tap.h"

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
	qpe_import(&n, path, NULL, 0, &err);
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

/* A subnet S of the places given, its colour's reference s1, then END_PLACES. */
#define SUBNET(direction, extra, places)                                             \
	"<places><place id='s' name='S' departure-discipline='NORMAL' "              \
	"xsi:type='subnet-place'>\n<subnet><colors/><places>\n" places "\n</places>" \
	"<transitions/></subnet><color-refs>\n<color-ref id='s1' color-id='c1' "     \
	"direction='" direction "' " extra " xsi:type='subnet-color-reference'/>\n"  \
	"</color-refs></place>\n"
#define ORDINARY(id, name, colour)                                                        \
	"<place id='" id "' name='" name "' departure-discipline='NORMAL' "               \
	"xsi:type='ordinary-place'><color-refs><color-ref id='" id "r' color-id='" colour \
	"' xsi:type='ordinary-color-reference'/></color-refs></place>"
#define ENDS(in, out) ORDINARY("i", "input-place", in) "\n" ORDINARY("o", "output-place", out)

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
		{ TOP PLACE("distribution-function='WEKA'") "</net>",
		  ":5: color-ref: distribution-function that is not taken: WEKA" },
		{ TOP PLACE("distribution-function='Beta' alpha='2'") "</net>",
		  ":5: color-ref: missing attribute: beta" },
		{ TOP PLACE("distribution-function='StudentT' freedom='1'") "</net>",
		  ":5: color-ref: no such distribution: student_t: freedom: expected more than 2" },
		{ TOP PLACE("distribution-function='BreitWigner' mean='1' gamma='1' "
			    "cut='-1'") "</net>",
		  ":5: color-ref: no such distribution: breit_wigner: gamma: cut: expected" },
		{ TOP PLACE("distribution-function='Empirical' scale='1' "
			    "pdf_filename='no-such-file'") "</net>",
		  ":5: color-ref: its file of shares: /tmp/no-such-file: No such file" },
		{ TOP PLACE("distribution-function='Empirical' scale='0' pdf_filename='x'") "</net>",
		  ":5: color-ref: expected a scale above 0 and an offset at or above 0" },
		{ TOP PLACE("distribution-function='Exponential' lambda='0'") "</net>",
		  ":5: color-ref: no such distribution: exponential: mean: " },
		{ TOP "<places><place id='p' name='S' departure-discipline='NORMAL' "
		      "xsi:type='subnet-place'/></places></net>",
		  ":4: place: expected the element: subnet" },
		{ TOP "<places><place id='p' name='S' departure-discipline='NORMAL' "
		      "xsi:type='magic-place'/></places></net>",
		  ":4: place: unknown place type: magic-place" },
		{ TOP SUBNET("in", "",
			     "<place id='i' name='input' departure-discipline='NORMAL' "
			     "xsi:type='ordinary-place'/>") "</places></net>",
		  ":5: subnet: a subnet without the place: input-place" },
		{ TOP SUBNET("both", "initial-population='1'", ENDS("c1", "c1")) "</places></net>",
		  ":9: color-ref: not taken: tokens of a subnet" },
		{ TOP SUBNET("both", "maximum-capacity='1'", ENDS("c1", "c1")) "</places></net>",
		  ":9: color-ref: not taken: attribute of a subnet: maximum-capacity" },
		{ TOP SUBNET("away", "", ENDS("c1", "c1")) "</places></net>",
		  ":9: color-ref: expected in, out or both in attribute: direction" },
		{ TOP SUBNET("both", "", ENDS("c9", "c1")) "</places></net>",
		  ":6: color-ref: no color of the id: c9" },
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

/* One color-ref of a queueing place with the distribution; its mean and variance. */
static void law_near(const char *text, double mean, double variance, double within)
{
	char file[2000];
	struct net *n;

	snprintf(file, sizeof(file),
		 TOP "<places><place id='p1' name='P' departure-discipline='NORMAL' queue-ref='q1' "
		     "xsi:type='queueing-place'><color-refs><color-ref id='r1' color-id='c1' "
		     "priority='0' ranking='0' distribution-function=%s "
		     "xsi:type='queueing-color-reference'/></color-refs></place></places></net>",
		 text);
	n = import(file);
	if (!ok(n != NULL)) {
		tap_note("%s", err.line);
		return;
	}
	ok_ratio(n->slots[0].service.mean, mean, within);
	ok_near(n->slots[0].service.variance, variance, within * variance);
	net_free(n);
}

static void law(const char *text, double mean, double variance)
{
	law_near(text, mean, variance, 1e-9);
}

/* Moments from the literature; test_dist.c holds the variates against their laws. */
static void every_distribution(void)
{
	char path[] = "/tmp/blkcast-pdf.XXXXXX", text[200];
	double half = .5 / sqrt(M_PI), f = exp(-.5) / sqrt(2 * M_PI);
	double p = 1 - .5 * erfc(1 / sqrt(2));
	int fd = mkstemp(path);

	law("'Deterministic' p1='3'", 3, 0);
	law("'Exponential' lambda='4'", .25, .0625);
	law("'Gamma' alpha='2' lambda='4'", .5, .125);
	law("'Uniform' min='1' max='3'", 2, 1.0 / 3);
	law("'Beta' alpha='1' beta='3'", .25, 3.0 / 80);
	law("'ChiSquare' freedom='6'", 6, 12);
	law("'Logarithmic' p='.5'", 1 / M_LN2, 2 / M_LN2 - 1 / (M_LN2 * M_LN2));
	/* What reaches below 0 is cut there. */
	law("'Normal' mean='1' stdDev='1'", p + f, 2 * p + f - (p + f) * (p + f));
	law("'ExponentialPower' tau='2'", half, .25 - half * half);
	law("'StudentT' freedom='3'", sqrt(3) / M_PI, 1.5 - 3 / (M_PI * M_PI));
	law("'BreitWigner' mean='5' gamma='2' cut='4'", 5, (4 - atan(4)) / atan(4));
	/* A peak as narrow as this is a normal of variance 1 / k about 0, cut. */
	law_near("'VonMises' freedom='1e6'", 1e-3 / sqrt(2 * M_PI), 1e-6 * (.5 - .5 / M_PI), 1e-6);
	/* Far from 0 a hyperbolic is symmetric about 0 but for beta; wide, it is a Laplace. */
	law_near("'Hyperbolic' alpha='1e-4' beta='1e-12'", .5e4, .75e8, 1e-3);
	/* A peak at 1000 so narrow that it is a Cauchy of X, cut at 10 widths to either side. */
	law_near("'BreitWignerMeanSquare' mean='1000' gamma='.002' cut='.02'", 1000,
		 1e-6 * (20 - atan(20)) / atan(20), 1e-3);
	if (fd < 0 || write(fd, "1;3\n\n0\n", 7) != 7)
		abort();
	close(fd);
	/* Thirds of 2 .. 5, the last of them empty. */
	snprintf(text, sizeof(text), "'Empirical' scale='3' offset='2' pdf_filename='%s'", path);
	law(text, 3.25, 13.0 / 48);
	unlink(path);
}

#define QUEUEING(id, name, queue, tokens, mean_rate)                                         \
	"<place id='" id "' name='" name "' departure-discipline='NORMAL' queue-ref='" queue \
	"' xsi:type='queueing-place'><color-refs><color-ref id='" id "r' color-id='c1' "     \
	"initial-population='" tokens "' priority='0' ranking='0' "                          \
	"distribution-function='Exponential' lambda='" mean_rate "' "                        \
	"xsi:type='queueing-color-reference'/></color-refs></place>\n"
#define MOVE(id, from, to)                                                                      \
	"<transition id='" id "' name='" id "' priority='0' weight='1' "                        \
	"xsi:type='immediate-transition'><modes><mode id='m" id "' name='m' firing-weight='1' " \
	"real-color='#fff'/></modes><connections><connection id='" id                           \
	"1' count='1' source-id='" from "' target-id='m" id "'/><connection id='" id            \
	"2' count='1' source-id='m" id "' target-id='" to "'/></connections></transition>\n"
#define NET                                                                                  \
	"<net xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' qpme-version='2.1.0'>\n" \
	"<colors><color id='c1' name='x' real-color='#fff'/></colors>\n"                     \
	"<queues><queue id='z' name='Z' number-of-servers='1' strategy='IS'/>"               \
	"<queue id='q' name='Q' number-of-servers='1' strategy='FCFS'/></queues>\n"

/* S holds T, which holds the queue; what enters S arrives at its input-place, and so on inward. */
static const char nested[] = NET "<places>\n" QUEUEING(
	"think", "think", "z", "10",
	".1") "<place id='s' name='S' departure-discipline='NORMAL' xsi:type='subnet-place'>"
	      "<color-refs><color-ref id='sr' color-id='c1' direction='both' "
	      "xsi:type='subnet-color-reference'/></color-refs><subnet><places>\n" ORDINARY(
		      "si", "input-place", "c1") ORDINARY("sa", "actual population", "c1")
		      ORDINARY(
			      "so", "output-place",
			      "c1") "<place id='t' name='T' departure-discipline='NORMAL' xsi:type='subnet-place'>"
				    "<subnet><places>" ORDINARY("ti", "input-place", "c1") ORDINARY(
					    "to", "output-place",
					    "c1") QUEUEING("queue", "queue", "q", "0",
							   "1") "</places><transitions>" MOVE("t1",
											      "tir",
											      "queuer")
					    MOVE("t2", "queuer",
						 "tor") "</transitions></subnet>"
							"<color-refs><color-ref id='tr' color-id='c1' direction='both' "
							"xsi:type='subnet-color-reference'/></color-refs></place></places><transitions>\n"
							"<transition id='in' name='input-transition' priority='0' weight='1' "
							"xsi:type='immediate-transition'><modes><mode id='mi' name='m' firing-weight='1' "
							"real-color='#fff'/></modes><connections>"
							"<connection id='i1' count='1' source-id='sir' target-id='mi'/>"
							"<connection id='i2' count='1' source-id='mi' target-id='sar'/>"
							"<connection id='i3' count='1' source-id='mi' target-id='tr'/></connections></transition>"
							"<transition id='out' name='output-transition' priority='0' weight='1' "
							"xsi:type='immediate-transition'><modes><mode id='mo' name='m' firing-weight='1' "
							"real-color='#fff'/></modes><connections>"
							"<connection id='o1' count='1' source-id='tr' target-id='mo'/>"
							"<connection id='o2' count='1' source-id='sar' target-id='mo'/>"
							"<connection id='o3' count='1' source-id='mo' target-id='sor'/></connections></transition>"
							"</transitions></subnet></place></places>\n<transitions>" MOVE(
								"go", "thinkr", "sr")
								MOVE("back", "sr",
								     "thinkr") "</transitions>\n"
									       "<probes><probe id='b' name='B' start-place-id='s' start-trigger='entry' end-place-id='s' "
									       "end-trigger='exit'><color-refs><color-ref id='br' color-id='c1' "
									       "xsi:type='probe-color-reference'/></color-refs></probe></probes></net>";

/* Ten clients that think 10 and are served 1: the machine repair model, in closed form. */
static void subnets(void)
{
	double sum = 0, term = 1, rate, response;
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = import(nested);
	struct solution s;
	uint32_t queue, all;

	for (int k = 0; k <= 10; k++, term *= (11 - k) / 10.0)
		sum += term;
	rate = 1 - 1 / sum;
	response = 10 / rate - 10;
	if (!ok(n != NULL)) {
		tap_note("%s", err.line);
		return;
	}
	queue = net_find_place(n, "S/T/queue");
	all = net_find_place(n, "S/actual population");
	if (!ok(queue != NET_NONE && all != NET_NONE))
		return;
	o.model_time = 2e6;
	if (ok(!solve_net(&s, n, &o, &err))) {
		const struct slot_estimate *e = s.estimate.slots;
		struct interval x = e[n->places[queue].first_slot].throughput;
		struct interval l = e[n->places[all].first_slot].population;
		struct interval w = s.estimate.probes[0].time.mean;

		ok_near(x.mean, rate, 1.5 * (x.high - x.mean));
		ok_near(l.mean, rate * response, 1.5 * (l.high - l.mean));
		ok_near(w.mean, response, 1.5 * (w.high - w.mean));
		ok_near(x.high - x.mean, 0, .01 * rate);
		solution_release(&s);
	}
	net_free(n);
}

/* The direction of a color-ref decides which arcs may use it. */
static void directions(void)
{
	static const char format[] =
		"%s%s" MOVE("t1", "p1r", "s1") MOVE("t2", "s1", "p1r") "</transitions></net>";
	char text[4000];

	snprintf(text, sizeof(text), format, TOP SUBNET("in", "", ENDS("c1", "c1")),
		 ORDINARY("p1", "P", "c1") "</places>\n<transitions>\n");
	ok(!import(text));
	ok_str(err.line, ":14: connection: against the direction of the color-ref: s1");
	snprintf(text, sizeof(text), format, TOP SUBNET("out", "", ENDS("c1", "c1")),
		 ORDINARY("p1", "P", "c1") "</places>\n<transitions>\n");
	ok(!import(text));
	ok_str(err.line, ":13: connection: against the direction of the color-ref: s1");
}

static struct net *data_net(const char *name)
{
	const char *dir = tap_data_dir();
	struct net *n = NULL;
	char path[4096];

	if (!dir)
		tap_skip("data", "no folder of data");
	snprintf(path, sizeof(path), "%s/qpe/%s.qpe", dir, name);
	if (!ok(!qpe_import(&n, path, NULL, 0, &err)))
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

/* QPME before version 2.1 wrote type= where it is xsi:type= since. */
static void old_files(void)
{
	char text[] =
		"<net>\n<colors><color id='c1' name='x' real-color='#fff'/></colors>\n"
		"<queues><queue id='q1' name='Q' number-of-servers='1' strategy='FCFS'/></queues>\n"
		"<places><place id='p1' name='P' departure-discipline='NORMAL' queue-ref='q1' "
		"type='queueing-place'><color-refs><color-ref id='r1' color-id='c1' "
		"initial-population='3' distribution-function='Exponential' lambda='2' "
		"type='queueing-color-reference'/></color-refs></place></places>\n"
		"<transitions><transition id='t1' name='T' priority='0' weight='1' "
		"type='immediate-transition'><modes><mode id='m1' name='M' firing-weight='1'/></modes>"
		"<connections><connection id='k1' count='1' source-id='r1' target-id='m1'/>"
		"<connection id='k2' count='1' source-id='m1' target-id='r1'/></connections>"
		"</transition></transitions></net>\n";
	struct net *n = import(text);

	ok_str(err.line, "");
	if (ok(n != NULL)) {
		ok_int(n->nr_places, 1);
		ok_near(n->slots[0].service.mean, 0.5, 1e-12);
		ok_int(n->nr_transitions, 1);
	}
	net_free(n);
}

static const struct tap_test tests[] = {
	{ "files of QPME before 2.1 are read", old_files },
	{ "every element that is taken is read", every_element },
	{ "every distribution of the schema has its moments", every_distribution },
	{ "subnets inside subnets answer as the flat net does", subnets },
	{ "arcs go with the direction of a subnet's colour", directions },
	{ "what is not taken is refused with element and line", refuses },
	{ "ispass03 gives the known answers", ispass03 },
	{ "pepsy-bcmp2 gives the exact answers", pepsy },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
