// SPDX-License-Identifier: Apache-2.0
/* Algorithms 3, 4 and 5 against what they come to in closed form. */
#include <errno.h>
#include <math.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/storage/calibration/calibrate_weights.h"
#include "analyzer/models/storage/net/vm_weights.h"
#include "tests/support/tap.h"

#define CASES 5000
#define VMS   5

/* One server, always busy, a share phi / (1 + phi) of whose services are reads. */
struct busy_server {
	double readers, writers, read_s, write_s;
	double noise; /* relative, of each answer */
	struct rng rng;
	int fails_at; /* the solution that fails; 0: none */
	int nr;
};

static int solve(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		 struct err *err)
{
	struct busy_server *b = ctx;
	double p = alpha / (alpha + beta), mean = p * b->read_s + (1 - p) * b->write_s;

	if (++b->nr == b->fails_at)
		return err_set(err, ERANGE, "too hard");
	*read_time = b->readers * mean / p;
	*write_time = b->writers * mean / (1 - p);
	*read_time *= 1 + b->noise * (2 * rng_uniform(&b->rng) - 1);
	*write_time *= 1 + b->noise * (2 * rng_uniform(&b->rng) - 1);
	return 0;
}

static struct weights_search search(struct busy_server *b, double phi)
{
	struct weights_search s = {
		.phi_min = 1 / 16.0, .phi_max = 16, .digits = 4, .solve = solve, .ctx = b
	};

	b->nr = 0;
	solve(b, phi, 1, &s.read_time, &s.write_time, NULL);
	b->nr = 0;
	return s;
}

static void phi_is_found(void)
{
	struct busy_server b = { .readers = 20, .writers = 30, .read_s = 6e-5, .write_s = 9e-5 };
	struct weights_found f;

	for (double phi = 0.1; phi < 15; phi *= 1.3) {
		struct weights_search s = search(&b, phi);

		ok(!weights_search(&f, &s, NULL));
		ok_near(f.best.alpha / f.best.beta, phi, 2e-4);
		ok_near(f.best.error, 0, 2e-3);
		ok_eq(f.nr_steps, (size_t)b.nr);
		ok(f.nr_steps <= 20);
	}
}

/* Every answer is off by up to 2 %: the best seen is kept, and near. */
static void noise_does_not_end_the_search(void)
{
	struct busy_server b = { .readers = 20, .writers = 30, .read_s = 6e-5, .write_s = 9e-5 };
	struct weights_found f;

	rng_seed(&b.rng, 1);
	for (double phi = 0.2; phi < 10; phi *= 1.1) {
		struct weights_search s = search(&b, phi);

		b.noise = 0.02;
		ok(!weights_search(&f, &s, NULL));
		b.noise = 0;
		ok_ratio(f.best.alpha / f.best.beta, phi, 0.08);
		for (size_t i = 0; i < f.nr_steps; i++)
			ok(f.steps[i].error >= f.best.error);
	}
}

/* A net whose server is a fifth too fast: phi is that which misses both types alike. */
static void both_too_short(void)
{
	struct busy_server slow = { .readers = 20, .writers = 30, .read_s = 6e-5, .write_s = 9e-5 };
	struct busy_server fast = slow;
	struct weights_search s = search(&slow, 2);
	struct weights_found f;

	fast.read_s *= 0.8;
	fast.write_s *= 0.8;
	s.ctx = &fast;
	ok(!weights_search(&f, &s, NULL));
	ok_near(f.steps[f.nr_steps - 1].alpha / f.steps[f.nr_steps - 1].beta, 2, 2e-3);
	ok_ratio(f.best.alpha / f.best.beta, 2, 0.05);
	ok_near(f.best.error, 0.2, 2e-3);
}

static void ends_of_the_search(void)
{
	struct busy_server b = { .readers = 20, .writers = 30, .read_s = 6e-5, .write_s = 9e-5 };
	struct weights_search s = search(&b, 2);
	struct weights_found f;
	struct err err = { 0 };

	s.max_error = 10;
	ok(!weights_search(&f, &s, NULL));
	ok_eq(f.nr_steps, 1); /* good enough at once */
	s.max_error = 0;
	b.nr = 0;
	b.fails_at = 3;
	ok_int(weights_search(&f, &s, &err), -ERANGE);
	ok_str(err.line, "too hard");
	b.fails_at = 0;
	s = search(&b, 100); /* beyond the range: its end */
	ok(!weights_search(&f, &s, NULL));
	ok_near(f.best.alpha / f.best.beta, 16, 1e-3);
}

static size_t draw_vms(struct storage_vm vms[VMS], struct rng *r)
{
	size_t nr = 1 + (size_t)rng_below(r, VMS);

	for (size_t j = 0; j < nr; j++)
		vms[j] = (struct storage_vm){ .clients = { 1 + (double)rng_below(r, 6),
							   1 + (double)rng_below(r, 6) } };
	return nr;
}

/* How many different values there are in (low, high]. */
static double levels(const double *t, size_t nr, double low, double high)
{
	double n = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < i && t[k] != t[i])
			k++;
		n += k == i && t[i] > low && t[i] <= high;
	}
	return n;
}

static void hold_up(double *weight, size_t nr)
{
	double most = 0;

	for (size_t j = 0; j < nr; j++)
		most = fmax(most, weight[j]);
	for (size_t j = 0; j < nr; j++)
		weight[j] = fmax(weight[j], 0.01 * most);
}

/* Algorithm 4: below n different larger numbers of clients, v a - delta n (n + 1) / 2. */
static void ordered(void)
{
	struct rng r;

	rng_seed(&r, 4);
	for (int i = 0; i < CASES; i++) {
		struct storage_vm vms[VMS];
		size_t nr = draw_vms(vms, &r);
		double a = 1 + 4 * rng_uniform(&r), b = 1 + 4 * rng_uniform(&r), v = (double)nr;
		double delta[2] = { fmax(a - b, 0) / v, b / v };

		if (i % 3 == 0)
			a = b, delta[0] = delta[1] = 1;
		else if (a < b)
			delta[0] = a / v, delta[1] = (b - a) / v;
		vm_weights_ordered(vms, nr, (struct rw_weights){ a, b });
		for (int w = 0; w < 2; w++) {
			double t[VMS], want[VMS];

			for (size_t j = 0; j < nr; j++)
				t[j] = vms[j].clients[w];
			for (size_t j = 0; j < nr; j++) {
				double n = levels(t, nr, t[j], INFINITY);

				want[j] = v * (w ? b : a) - delta[w] * n * (n + 1) / 2;
			}
			hold_up(want, nr);
			for (size_t j = 0; j < nr; j++)
				if (!ok_near(vms[j].weight[w], want[j], 1e-9))
					return;
		}
	}
}

/*
 * The reads of algorithm 5: steps of delta away from the VMs whose local write weight is largest.
 */
static void adjusted_reads(const struct storage_vm *vms, size_t nr, const double *t,
			   const double *beta, double gamma, double *want)
{
	double most = 0, first = INFINITY, last = 0, readers[VMS], delta;

	for (size_t j = 0; j < nr; j++) {
		most = fmax(most, beta[j]);
		readers[j] = vms[j].clients[0];
	}
	delta = (gamma * most - most) / (2 * levels(readers, nr, 0, INFINITY));
	for (size_t j = 0; j < nr; j++)
		if (beta[j] == most) {
			first = fmin(first, t[j]);
			last = fmax(last, t[j]);
		}
	for (size_t j = 0; j < nr; j++) {
		want[j] = gamma * most;
		if (t[j] < first)
			want[j] += delta * (levels(t, nr, t[j], first));
		if (t[j] > last)
			want[j] -= delta * levels(t, nr, last, t[j]);
	}
	hold_up(want, nr);
}

static void adjusted_writes(size_t nr, const double *t, const double *beta, double *want)
{
	double kappa = levels(t, nr, 0, INFINITY), least = INFINITY, nr_least = 0;
	bool disordered = false;

	for (size_t i = 0; i < nr; i++) {
		least = fmin(least, t[i]);
		want[i] = beta[i];
		for (size_t j = 0; j < nr; j++)
			disordered |= t[i] < t[j] && beta[i] >= beta[j];
	}
	for (size_t j = 0; j < nr; j++)
		nr_least += t[j] == least;
	for (size_t j = 0; j < nr; j++) {
		double rank = levels(t, nr, t[j], INFINITY);

		if (kappa == (double)nr && disordered)
			want[j] *= 1 - 0.3 * pow((kappa - 2) / (kappa - 1), fmax(rank - 1, 0));
		else if (kappa == 2 && nr_least == 1 && t[j] == least)
			want[j] *= 1.3;
	}
	hold_up(want, nr);
}

static void adjusted(void)
{
	struct rng r;

	rng_seed(&r, 5);
	for (int i = 0; i < CASES; i++) {
		struct storage_vm vms[VMS];
		struct rw_weights local[VMS], all = { 0.5 + 3 * rng_uniform(&r), 1 };
		size_t nr = draw_vms(vms, &r);
		double t[VMS], beta[VMS], reads[VMS], writes[VMS];

		for (size_t j = 0; j < nr; j++) {
			t[j] = vms[j].clients[0] + vms[j].clients[1];
			beta[j] = 1 + (double)rng_below(&r, 3) * 0.37;
			local[j] = (struct rw_weights){ 1 + rng_uniform(&r), beta[j] };
		}
		adjusted_reads(vms, nr, t, beta, all.alpha, reads);
		adjusted_writes(nr, t, beta, writes);
		vm_weights_adjusted(vms, nr, all, local);
		for (size_t j = 0; j < nr; j++)
			if (!ok_near(vms[j].weight[0], reads[j], 1e-9) ||
			    !ok_near(vms[j].weight[1], writes[j], 1e-9))
				return;
	}
}

/* The first of the VMs with the fewest readers swaps, nobody else; twice is nothing. */
static void inverted(void)
{
	struct storage_vm vms[3] = { { { 20, 5 }, { 1, 2 } },
				     { { 0, 50 }, { 3, 4 } },
				     { { 10, 9 }, { 5, 6 } } };

	vm_weights_invert(vms, 3);
	ok(vms[0].weight[0] == 1 && vms[0].weight[1] == 2);
	ok(vms[1].weight[0] == 3 && vms[1].weight[1] == 4); /* has no readers */
	ok(vms[2].weight[0] == 6 && vms[2].weight[1] == 5);
	vm_weights_invert(vms, 3);
	ok(vms[2].weight[0] == 5 && vms[2].weight[1] == 6);
	vm_weights_invert(&vms[1], 1);
	ok(vms[1].weight[0] == 3 && vms[1].weight[1] == 4);
}

static const struct tap_test tests[] = {
	{ "algorithm 3 finds phi of a busy server to its digits", phi_is_found },
	{ "noise does not end algorithm 3, and the best seen is kept",
	  noise_does_not_end_the_search },
	{ "a net that is too fast is missed alike for reads and writes", both_too_short },
	{ "algorithm 3 ends where it is good enough, at an error and at the range",
	  ends_of_the_search },
	{ "algorithm 4 is its closed form", ordered },
	{ "algorithm 5 is its closed form", adjusted },
	{ "the priority inversion swaps the weights of the fewest readers", inverted },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
