// SPDX-License-Identifier: Apache-2.0
/*
 * Stored requests on a simulated device. An application is simulated on one device and recorded;
 * its record is then simulated on the same device, and on another one, where the application itself
 * is simulated, too.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/eventq.h"
#include "analyzer/whatif/mix/mix_answer.h"
#include "analyzer/whatif/simulate/device_study.h"
#include "analyzer/whatif/simulate/study_simulate.h"
#include "tests/support/tap.h"

#define BEGIN_NS 1000000000ull

/*
 * An application: threads that keep requests under way, think, and flush; or, with per_s, threads
 * that each send so many requests per second at random times and wait for none.
 */
struct app {
	unsigned int threads, depth, flush_every;
	double think_s, read_ratio, per_s;
	uint32_t bytes;
};

struct record {
	struct request *requests;
	size_t nr;
};

struct thread {
	unsigned int under_way, writes;
};

/* A request under way: it is again the device's turn, or it is complete. */
struct under_way {
	struct device_request request;
	size_t index; /* in the record */
	uint32_t thread;
	bool again;
};

struct play {
	const struct app *app;
	struct under_way *under_way; /* one per request of the record */
	struct device_sim device;
	struct eventq events;
	struct thread threads[64];
	struct rng rng;
	struct record *out;
	size_t most;
};

static void play_serve(struct play *p, double now_s, uint32_t index)
{
	struct under_way *u = &p->under_way[index];
	double end_s;

	u->request.at_s = now_s;
	u->again = !device_sim_submit(&p->device, &u->request, &end_s);
	p->out->requests[index].completion_ns = BEGIN_NS + (uint64_t)(end_s * 1e9);
	eventq_push(&p->events, end_s, 2 * index);
}

static void play_submit(struct play *p, double now_s, uint32_t thread, enum device_type type)
{
	uint32_t index = (uint32_t)p->out->nr;
	struct request *r = &p->out->requests[index];
	struct device_request q = { .type = type };

	if (p->out->nr == p->most)
		return;
	q.bytes = type == DEVICE_FLUSH ? 0 : p->app->bytes;
	q.offset = type == DEVICE_FLUSH ? 0 : rng_below(&p->rng, 1 << 16) * 65536;
	*r = (struct request){ .arrival_ns = BEGIN_NS + (uint64_t)(now_s * 1e9),
			       .sector = q.offset / SECTOR_BYTES,
			       .bytes = q.bytes,
			       .tid = 100 + thread,
			       .pid = 100,
			       .operation = type == DEVICE_FLUSH   ? OPERATION_FLUSH
					    : type == DEVICE_WRITE ? OPERATION_WRITE
								   : OPERATION_READ };
	r->dispatch_ns = r->arrival_ns;
	p->under_way[index] = (struct under_way){ .request = q, .thread = thread };
	p->out->nr++;
	p->threads[thread].under_way++;
	play_serve(p, now_s, index);
}

static void play_next(struct play *p, double now_s, uint32_t thread)
{
	struct thread *t = &p->threads[thread];

	if (p->app->flush_every && t->writes >= p->app->flush_every) {
		if (t->under_way)
			return;
		t->writes = 0;
		play_submit(p, now_s, thread, DEVICE_FLUSH);
		return;
	}
	while (t->under_way < p->app->depth && p->out->nr < p->most &&
	       !(p->app->flush_every && t->writes >= p->app->flush_every)) {
		enum device_type type =
			rng_uniform(&p->rng) < p->app->read_ratio ? DEVICE_READ : DEVICE_WRITE;

		t->writes += type == DEVICE_WRITE;
		play_submit(p, now_s, thread, type);
	}
}

/* A thread begins, has thought, or sends the next request of an open load. */
static void play_thread(struct play *p, double now_s, uint32_t thread)
{
	if (!(p->app->per_s > 0)) {
		play_next(p, now_s, thread);
		return;
	}
	if (p->out->nr == p->most)
		return;
	play_submit(p, now_s, thread,
		    rng_uniform(&p->rng) < p->app->read_ratio ? DEVICE_READ : DEVICE_WRITE);
	eventq_push(&p->events, now_s + rng_exponential(&p->rng) / p->app->per_s, 2 * thread + 1);
}

/* The application on a device: its requests as they were. */
static struct record play(const struct app *app, const struct device_model *m, size_t nr)
{
	struct record out = { calloc(nr + 1, sizeof(*out.requests)), 0 };
	struct play p = { .app = app, .out = &out, .most = nr };
	const struct event *e;

	p.under_way = calloc(nr + 1, sizeof(*p.under_way));
	device_sim_init(&p.device, m, 77);
	eventq_init(&p.events, 0);
	rng_seed(&p.rng, 5);
	for (uint32_t i = 0; i < app->threads; i++)
		eventq_push(&p.events, i * 1e-4, 2 * i + 1);
	while ((e = eventq_first(&p.events))) {
		uint32_t id = e->id, thread = id / 2;
		double now_s = e->time;

		eventq_pop(&p.events);
		if (id & 1) {
			play_thread(&p, now_s, thread);
			continue;
		}
		if (p.under_way[id / 2].again) {
			play_serve(&p, now_s, id / 2);
			continue;
		}
		thread = p.under_way[id / 2].thread;
		p.threads[thread].under_way--;
		if (app->per_s > 0)
			continue; /* nobody waits for it */
		if (app->think_s > 0)
			eventq_push(&p.events, now_s + app->think_s * rng_exponential(&p.rng),
				    2 * thread + 1);
		else
			play_next(&p, now_s, thread);
	}
	free(p.under_way);
	eventq_release(&p.events);
	device_sim_release(&p.device);
	return out;
}

static struct device_model device(unsigned int servers, double factor)
{
	struct device_model m;

	device_model_init(&m);
	m.servers = servers;
	m.base_s[0] = 0.001 * factor;
	m.base_s[1] = 0.0015 * factor;
	m.byte_s[0] = m.byte_s[1] = 1e-8 * factor;
	m.sigma[0] = m.sigma[1] = 0.3;
	m.flush_s = 0.004 * factor;
	m.domain = (struct device_domain){ .has = { true, true, true },
					   .has_random = { true, true },
					   .low_bytes = { 4096, 4096 },
					   .high_bytes = { 65536, 65536 },
					   .concurrency = 32 };
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			m.errors[t][p] = (struct device_error){ 50, 0.05, 0.1 };
	return m;
}

static const struct app apps[] = {
	{ .threads = 6, .depth = 1, .think_s = 0.004, .read_ratio = 0.7, .bytes = 8192 },
	{ .threads = 1, .depth = 16, .read_ratio = 0.5, .bytes = 16384 },
	{ .threads = 3, .depth = 1, .flush_every = 2, .read_ratio = 0.2, .bytes = 4096 },
	{ .threads = 5, .per_s = 100, .read_ratio = 0.7, .bytes = 8192 },
};

static double recorded_s(const struct record *r, unsigned int operation)
{
	double sum = 0, nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		if (r->requests[i].operation != operation)
			continue;
		sum += (double)(r->requests[i].completion_ns - r->requests[i].arrival_ns) / 1e9;
		nr++;
	}
	return sum / nr;
}

/* The record of an application on `from`, simulated on `to`, against the application on `to`. */
static void moved(const struct app *app, const struct device_model *from,
		  const struct device_model *to, double tolerance)
{
	static const unsigned int operations[] = { OPERATION_READ, OPERATION_WRITE,
						   OPERATION_FLUSH };
	struct record before = play(app, from, 20000), truth = play(app, to, 20000);
	struct causal_plan plan;
	const struct causal_plan *plans[] = { &plan };
	struct stored_result result;
	struct err err = { 0 };

	ok(causal_make(&plan, before.requests, before.nr, &err) == 0);
	ok(stored_sim_run(plans, 1, to, 3, &result, &err) == 0);
	for (int t = 0; t < DEVICE_NR_TYPES; t++) {
		double s = device_times_at(&result.times, (enum device_type)t, DEVICE_MEAN);

		if (t == DEVICE_FLUSH && !app->flush_every)
			continue;
		ok_ratio(s, recorded_s(&truth, operations[t]), tolerance);
	}
	ok(result.times.nr[0] + result.times.nr[1] + result.times.nr[2] == before.nr);
	stored_result_release(&result);
	causal_release(&plan);
	free(before.requests);
	free(truth.requests);
}

static void stays(void)
{
	struct device_model m = device(4, 1);

	for (size_t i = 0; i < TAP_NR(apps); i++)
		moved(&apps[i], &m, &m, 0.04);
}

static void moves(void)
{
	struct device_model m = device(4, 1), slow = device(2, 2), fast = device(8, 0.5);

	for (size_t i = 0; i < TAP_NR(apps); i++) {
		moved(&apps[i], &m, &slow, 0.06);
		moved(&apps[i], &m, &fast, 0.06);
	}
}

/* An answer about the first application. */
static void study(const struct device_model *target, const struct device_model *old,
		  struct device_study *s, struct causal_plan *plan)
{
	static struct device_study_load load;
	struct record r;
	struct device_model m = device(4, 1);
	struct err err = { 0 };

	r = play(&apps[0], &m, 20000);
	ok(causal_make(plan, r.requests, r.nr, &err) == 0);
	load = (struct device_study_load){ .name = "host disk",
					   .plan = plan,
					   .measured_s = { NAN, NAN } };
	*s = (struct device_study){
		.target = target, .old = old, .loads = &load, .nr = 1, .seed = 3
	};
	ok(device_study_solve(s, &err) == 0);
	free(r.requests);
}

static void identity(void)
{
	struct device_model m = device(4, 1);
	struct causal_plan plan;
	struct device_study s;

	study(&m, &m, &s, &plan);
	ok(s.nr_rows == 8);
	for (size_t i = 0; i < s.nr_rows; i++) {
		ok_ratio(s.rows[i].target_s, s.rows[i].before_s, 1e-12);
		ok(s.rows[i].low == s.rows[i].high);
	}
	ok(!s.cannot_tell && strstr(s.conclusion, "stay as they are"));
	device_study_release(&s);
	causal_release(&plan);
}

static void tells(void)
{
	struct device_model slow = device(1, 3);
	struct causal_plan plan;
	struct device_study s;

	study(&slow, NULL, &s, &plan);
	ok(!s.cannot_tell && strstr(s.conclusion, "become slower"));
	ok(strstr(s.conclusion, "gets less done"));
	ok(s.results[0].times.limit == DEVICE_PART_SERVERS);
	/* By chance, these requests add little to the error of the device. */
	ok_ratio(s.rows[0].high / s.rows[0].target_s, exp(0.1), 1e-3);
	device_study_release(&s);
	causal_release(&plan);
}

static void cannot_tell(void)
{
	struct device_model small = device(4, 1), narrow = device(4, 1), none = device(4, 1);
	struct causal_plan plan;
	struct device_study s;

	small.domain.high_bytes[1] = 4096;
	study(&small, NULL, &s, &plan);
	ok(s.cannot_tell && strstr(s.conclusion, "writes that are larger than 4 KiB"));
	device_study_release(&s);
	causal_release(&plan);

	narrow.domain.concurrency = 2;
	study(&narrow, NULL, &s, &plan);
	ok(s.cannot_tell && strstr(s.conclusion, "more requests under way than 2"));
	device_study_release(&s);
	causal_release(&plan);

	none.domain.has[DEVICE_READ] = false;
	study(&none, NULL, &s, &plan);
	ok(s.cannot_tell && strstr(s.conclusion, "the campaign measured no reads"));
	device_study_release(&s);
	causal_release(&plan);
}

/* Records an application on a device of its own, and makes a plan of it. */
static void record_plan(const struct app *app, const struct device_model *on, size_t nr,
			struct causal_plan *plan)
{
	struct record r = play(app, on, nr);
	struct err err = { 0 };

	ok_int(causal_make(plan, r.requests, r.nr, &err), 0);
	free(r.requests);
}

/* A client beside one that has a third of its requests still meets it until its own end. */
static void company(void)
{
	const struct app one = { .threads = 1, .depth = 1, .read_ratio = 1, .bytes = 4096 };
	struct device_model m = device(1, 1);
	struct causal_plan shorter, longer;
	const struct causal_plan *plans[] = { &longer, &shorter };
	struct stored_result results[2];
	struct err err = { 0 };

	record_plan(&one, &m, 1000, &shorter);
	record_plan(&one, &m, 3000, &longer);
	ok_int(stored_sim_run(plans, 2, &m, 3, results, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		ok_eq(results[i].times.nr[DEVICE_READ], i ? 1000 : 3000);
		ok_ratio(device_times_at(&results[i].times, DEVICE_READ, DEVICE_MEAN),
			 2 * plans[i]->mean_s[0], 0.04);
		ok_ratio(results[i].times.elapsed_s, 2 * plans[i]->window_s, 0.04);
		ok(!results[i].ended_early);
		stored_result_release(&results[i]);
	}
	causal_release(&shorter);
	causal_release(&longer);
}

/* Two equal applications on one device are one application with twice the threads. */
static void twice(void)
{
	static const size_t which[] = { 0, 1 };
	struct device_model m = device(4, 1), to = device(3, 1.5);
	struct err err = { 0 };

	for (size_t i = 0; i < TAP_NR(which); i++) {
		struct app all = apps[which[i]];
		struct causal_plan plan;
		const struct causal_plan *plans[] = { &plan, &plan };
		struct stored_result results[2];
		struct record truth;

		all.threads *= 2;
		truth = play(&all, &to, 20000);
		record_plan(&apps[which[i]], &m, 10000, &plan);
		ok_int(stored_sim_run(plans, 2, &to, 3, results, &err), 0);
		for (size_t k = 0; k < 2; k++) {
			for (int side = 0; side < 2; side++)
				ok_ratio(device_times_at(&results[k].times, (enum device_type)side,
							 DEVICE_MEAN),
					 recorded_s(&truth, (unsigned int)side), 0.05);
			stored_result_release(&results[k]);
		}
		causal_release(&plan);
		free(truth.requests);
	}
}

/* What study consolidate answers about two loads on a device. */
struct pair {
	struct study study;
	struct study_replay replay;
	struct study_simulate sim;
	struct study_case alone[2], both;
	struct profile_group groups[2];
};

static void pair_solve(struct pair *p, const struct device_model *m)
{
	struct err err = { 0 };

	p->study.nr = p->replay.nr = p->both.nr = 2;
	p->sim = (struct study_simulate){ .target = m, .replay = &p->replay, .seed = 1 };
	for (size_t i = 0; i < 2; i++) {
		const struct causal_plan *plan = &p->replay.plans[i];

		p->study.loads[i].group = &p->groups[i];
		p->study.loads[i].facts.rate_per_s = (double)plan->nr / plan->window_s;
		p->alone[i] = (struct study_case){ .loads = { i }, .nr = 1 };
		p->both.loads[i] = i;
		ok_int(study_simulate_case(&p->sim, &p->study, &p->alone[i], &err), 0);
	}
	ok_int(study_simulate_case(&p->sim, &p->study, &p->both, &err), 0);
}

static bool is_worse(const struct study_answer *both, const struct study_answer *alone)
{
	bool worse = both->rate_per_s <= alone->rate_per_s;

	for (int side = 0; side < 2; side++)
		worse &= !(both->s[side] < alone->s[side]);
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++)
			worse &= !(both->points[type][point].s < alone->points[type][point].s);
	return worse;
}

/*
 * For any two applications and any device: neither gets better by the other, and both together get
 * no more than the device serves. An application that does not get what it offers is refused.
 */
static void never_better(void)
{
	struct device_model from = device(4, 1);
	struct rng rng;
	size_t nr_refused = 0;

	rng_seed(&rng, 11);
	for (int k = 0; k < 24; k++) {
		struct pair *p = calloc(1, sizeof(*p));
		struct device_model m =
			device(1 + (unsigned int)rng_below(&rng, 6), 0.2 + 3 * rng_uniform(&rng));
		double busy = 0;

		for (size_t i = 0; i < 2; i++)
			record_plan(&apps[rng_below(&rng, TAP_NR(apps))], &from, 1500,
				    &p->replay.plans[i]);
		pair_solve(p, &m);
		for (size_t i = 0; i < 2; i++) {
			const struct study_answer *a = &p->both.answers[i];
			bool carried = load_facts_carried(&p->study.loads[i].facts, a->rate_per_s,
							  a->rate_high_per_s) == LOAD_CARRIED;

			ok(is_worse(a, &p->alone[i].answers[0]));
			ok(carried == (a->rate_per_s >=
				       LOAD_CARRIES_RATIO * p->study.loads[i].facts.rate_per_s));
			nr_refused += !carried;
			busy += a->rate_per_s * fmin(m.base_s[0], m.base_s[1]);
		}
		ok(busy <= m.servers);
		study_replay_release(&p->replay);
		free(p);
	}
	ok(nr_refused > 8 && nr_refused < 40);
}

/*
 * A mix with more requests than are simulated is neither said to fit nor not to fit. The loads as
 * they are stored are simulated, however many requests they have.
 */
static void too_many_for_a_mix(void)
{
	const struct app one = { .threads = 1, .depth = 1, .read_ratio = 1, .bytes = 4096 };
	struct device_model m = device(8, 1);
	struct pair *p = calloc(1, sizeof(*p));
	struct mix_result *r = calloc(1, sizeof(*r));
	struct mix_device d = { .target = &m,
				.study = &p->study,
				.replay = &p->replay,
				.seed = 1,
				.most_requests = 2500 };
	size_t counts[1] = { 0 };
	struct err err = { 0 };
	struct answer *a;

	record_plan(&one, &m, 1000, &p->replay.plans[0]);
	p->study.nr = p->replay.nr = r->mix.nr = r->mix.nr_objectives = 1;
	p->study.loads[0].group = &p->groups[0];
	p->study.loads[0].facts.rate_per_s = 1000 / p->replay.plans[0].window_s;
	p->study.loads[0].facts.read_ratio = 1;
	r->mix.loads[0].facts = p->study.loads[0].facts;
	r->mix.loads[0].free = true;
	r->mix.objective_text[0] = "read.mean=1s";
	ok_int(headroom_read_objective("read.mean=1s", &r->mix.objectives[0], &err), 0);
	r->mix.device = &d;
	r->mix.most = 8;
	r->nr_free = 1;
	ok_int(mix_largest(&r->mix, counts, 0, false, &r->most[0], &r->none, r->why, &err), 0);
	ok(r->most[0] == 2 && mix_is_fit(r) && !mix_cannot_tell(r));
	a = mix_answer(r);
	ok(!strncmp(answer_conclusion(a), "At least 2 of ", 14));
	answer_free(a);

	counts[0] = 3;
	r->nr_free = 0;
	ok_int(mix_fits(&r->mix, counts, false, &r->fits, r->why, &err), 0);
	ok(!r->fits && mix_cannot_tell(r));
	a = mix_answer(r);
	ok(!strncmp(answer_conclusion(a), "Cannot tell: the mix has more than ", 35));
	answer_free(a);

	d.most_requests = 10;
	r->mix.not_simulated = false;
	counts[0] = 1;
	mix_device_release(&d);
	ok_int(mix_fits(&r->mix, counts, false, &r->fits, r->why, &err), 0);
	ok(r->fits && !r->mix.not_simulated);
	mix_device_release(&d);
	study_replay_release(&p->replay);
	free(r);
	free(p);
}

/* For any two applications and any device, in whatever order mixes are asked for. */
static void more_is_never_faster(void)
{
	enum { MOST = 4 };
	struct device_model from = device(4, 1);
	struct err err = { 0 };
	struct rng rng;

	rng_seed(&rng, 12);
	for (int k = 0; k < 16; k++) {
		struct pair *p = calloc(1, sizeof(*p));
		struct device_model m =
			device(1 + (unsigned int)rng_below(&rng, 6), 0.2 + 2 * rng_uniform(&rng));
		struct mix_device d = {
			.target = &m, .study = &p->study, .replay = &p->replay, .seed = 1
		};
		struct study_case mixes[MOST];
		const struct study_case *out;
		size_t first = rng_below(&rng, MOST);

		p->study.nr = p->replay.nr = 2;
		for (size_t i = 0; i < 2; i++) {
			record_plan(&apps[rng_below(&rng, TAP_NR(apps))], &from, 400,
				    &p->replay.plans[i]);
			p->study.loads[i].group = &p->groups[i];
			p->study.loads[i].facts.rate_per_s = 1;
		}
		for (size_t n = 0; n < MOST; n++) {
			size_t at = (first + 3 * n) % MOST;

			ok_int(mix_device_solve(&d, (size_t[]){ at + 1, 1 }, &out, &err), 0);
			mixes[at] = *out;
			mixes[at].answers[0].rate_per_s /= (double)at + 1 + 1e-9 * (double)at;
		}
		for (size_t n = 1; n < MOST; n++)
			for (size_t l = 0; l < 2; l++)
				ok(is_worse(&mixes[n].answers[l], &mixes[n - 1].answers[l]));
		mix_device_release(&d);
		study_replay_release(&p->replay);
		free(p);
	}
}

static const struct tap_test tests[] = {
	{ "four loads that stay where they were recorded come out as they were", stays },
	{ "four loads that move come out as the applications do there", moves },
	{ "an answer relative to the same device is what was measured", identity },
	{ "a device that is too slow is told, with its limit and interval", tells },
	{ "what the campaign has not measured cannot be told", cannot_tell },
	{ "a short load keeps a long one company until its end", company },
	{ "two equal loads on one device are one of twice the threads", twice },
	{ "a mix with more requests than are simulated cannot be told", too_many_for_a_mix },
	{ "no load becomes better by another one, and too much is refused", never_better },
	{ "one more copy of a load makes no load of a mix faster", more_is_never_faster },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
