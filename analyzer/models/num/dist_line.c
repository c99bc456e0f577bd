// SPDX-License-Identifier: Apache-2.0
/*
 * This file holds distributions on the whole line, cut at 0 as QPME's simulator cuts them: a value
 * below 0 counts as 0. Their moments are those of max(0, X). They have a closed form where there is
 * one; otherwise they come from double exponential quadrature (Takahasi and Mori, Double
 * Exponential Formulas for Numerical Integration, 1974), which puts its points where an end or a
 * peak is.
 */
#include <errno.h>
#include <math.h>

#include "analyzer/models/num/dist.h"

/*
 * 1/64 is the step of the quadrature; from -T_MAX to T_MAX it is exact to some 1e-13 for these
 * functions.
 */
#define STEPS_PER_UNIT 64
#define T_MAX	       6

typedef double (*integrand)(const struct dist *d, double x);

/*
 * Integrates from `from` to infinity, or to minus infinity where sign is -1: x = from + exp(pi/2
 * sinh t).
 */
static double integrate_out(const struct dist *d, integrand f, double from, double sign)
{
	double sum = 0;

	for (int i = -T_MAX * STEPS_PER_UNIT; i <= T_MAX * STEPS_PER_UNIT; i++) {
		double t = (double)i / STEPS_PER_UNIT, y = exp(M_PI_2 * sinh(t));
		double v = isfinite(y) ? f(d, from + sign * y) : 0;

		sum += v > 0 ? v * y * M_PI_2 * cosh(t) : 0;
	}
	return sum / STEPS_PER_UNIT;
}

/* Integrates between two ends, with points as close to each end as doubles allow. */
static double dist_line_integrate(const struct dist *d, integrand f, double from, double to)
{
	double sum = 0, width = to - from;

	for (int i = -T_MAX * STEPS_PER_UNIT; i <= T_MAX * STEPS_PER_UNIT; i++) {
		double t = (double)i / STEPS_PER_UNIT, u = exp(-M_PI * fabs(sinh(t)));
		double near = width * u / (1 + u), x = t < 0 ? from + near : to - near;

		sum += f(d, x) * u / ((1 + u) * (1 + u)) * cosh(t);
	}
	return sum * width * M_PI / STEPS_PER_UNIT;
}

static int dist_line_finish(struct dist *d, double mean, double second, struct err *err)
{
	d->mean = mean;
	d->variance = fmax(0, second - mean * mean);
	return dist_finish(d, err);
}

/* The parameters are a: mean, b: sd, both of the distribution before the cut. */
int dist_cut_normal(struct dist *d, double mean, double sd, struct err *err)
{
	double above = 0.5 * erfc(-mean / sd / M_SQRT2);
	double density = exp(-mean / sd * (mean / sd) / 2) / sqrt(2 * M_PI);

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(sd, "cut_normal: sd", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_CUT_NORMAL, .a = mean, .b = sd };
	return dist_line_finish(d, mean * above + sd * density,
				(mean * mean + sd * sd) * above + mean * sd * density, err);
}

/*
 * The parameters are a: alpha, b: beta, c: mode, e: density at the mode. Returns the logarithm of
 * the density relative to e.
 */
static double hyperbolic_log(const struct dist *d, double x)
{
	return sqrt((d->a - d->b) * (d->a + d->b)) - d->a * hypot(1, x) + d->b * x;
}

static double dist_line_hyperbolic(const struct dist *d, double x)
{
	return exp(hyperbolic_log(d, x));
}

static double hyperbolic_1(const struct dist *d, double x)
{
	return x * dist_line_hyperbolic(d, x);
}

static double hyperbolic_2(const struct dist *d, double x)
{
	return x * x * dist_line_hyperbolic(d, x);
}

/* Integrates from 0 upwards, with points around the mode. */
static double above_0(const struct dist *d, integrand f)
{
	if (d->c > 0)
		return dist_line_integrate(d, f, 0, d->c) + integrate_out(d, f, d->c, 1);
	return integrate_out(d, f, 0, 1);
}

int dist_hyperbolic(struct dist *d, double alpha, double beta, struct err *err)
{
	double all;

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(alpha, "hyperbolic: alpha", err))
		return -EINVAL;
	if (!(fabs(beta) < alpha))
		return err_set(err, EINVAL,
			       "hyperbolic: beta: expected less than alpha in size, got %g", beta);
	*d = (struct dist){ .kind = DIST_HYPERBOLIC, .a = alpha, .b = beta };
	d->c = beta / sqrt((alpha - beta) * (alpha + beta));
	all = integrate_out(d, dist_line_hyperbolic, d->c, 1) +
	      integrate_out(d, dist_line_hyperbolic, d->c, -1);
	d->e = 1 / all;
	return dist_line_finish(d, above_0(d, hyperbolic_1) / all, above_0(d, hyperbolic_2) / all,
				err);
}

/*
 * Draws by rejection, where one try in four is taken. Any log-concave density f whose mode m is
 * known lies below f(m) min(1, exp(1 - f(m) |x - m|)) (Devroye, A Simple Algorithm for Generating
 * Random Variates with a Log-Concave Density, Computing 33, 1984).
 */
static double sample_hyperbolic(const struct dist *d, struct rng *r)
{
	for (;;) {
		double u = 4 * rng_open(r) - 2, y = fabs(u), hat = 0, x;

		if (y > 1) {
			y = 1 + rng_exponential(r);
			hat = 1 - y;
		}
		x = d->c + (u < 0 ? -y : y) / d->e;
		if (hat - rng_exponential(r) <= hyperbolic_log(d, x))
			return x;
	}
}

/* The parameter is a: 1 / tau. */
int dist_exponential_power(struct dist *d, double tau, struct err *err)
{
	*d = (struct dist){ 0 };
	if (!(tau >= 1) || !isfinite(tau))
		return err_set(err, EINVAL, "exponential_power: tau: expected 1 or more, got %g",
			       tau);
	*d = (struct dist){ .kind = DIST_EXPONENTIAL_POWER, .a = 1 / tau };
	return dist_line_finish(d, tgamma(2 / tau) / tgamma(1 / tau) / 2,
				tgamma(3 / tau) / tgamma(1 / tau) / 2, err);
}

/* The parameter is a: degrees of freedom. */
int dist_student_t(struct dist *d, double freedom, struct err *err)
{
	double size;
	int sign;

	*d = (struct dist){ 0 };
	if (!(freedom > 2) || !isfinite(freedom))
		return err_set(err, EINVAL,
			       "student_t: freedom: expected more than 2, where its variance is "
			       "finite, got %g",
			       freedom);
	*d = (struct dist){ .kind = DIST_STUDENT_T, .a = freedom };
	size = 2 * sqrt(freedom / M_PI) / (freedom - 1) *
	       exp(lgamma_r((freedom + 1) / 2, &sign) - lgamma_r(freedom / 2, &sign));
	return dist_line_finish(d, size / 2, freedom / (freedom - 2) / 2, err);
}

/*
 * The parameters are a: k, b: the r of Best and Fisher. Returns the density relative to that at 0.
 */
static double von_mises(const struct dist *d, double x)
{
	double s = sin(x / 2);

	return exp(-2 * d->a * s * s);
}

static double von_mises_1(const struct dist *d, double x)
{
	return x * von_mises(d, x);
}

static double von_mises_2(const struct dist *d, double x)
{
	return x * x * von_mises(d, x);
}

int dist_von_mises(struct dist *d, double k, struct err *err)
{
	double all, tau, rho;

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(k, "von_mises: k", err))
		return -EINVAL;
	/* rho is (tau - sqrt(2 tau)) / 2k, in a form without cancellation. */
	tau = 1 + hypot(1, 2 * k);
	rho = 2 * k / (tau + sqrt(2 * tau));
	*d = (struct dist){ .kind = DIST_VON_MISES, .a = k, .b = (1 + rho * rho) / (2 * rho) };
	all = 2 * dist_line_integrate(d, von_mises, 0, M_PI);
	return dist_line_finish(d, dist_line_integrate(d, von_mises_1, 0, M_PI) / all,
				dist_line_integrate(d, von_mises_2, 0, M_PI) / all, err);
}

/*
 * Draws by rejection from a wrapped Cauchy (Best and Fisher, Efficient Simulation of the von Mises
 * Distribution, Applied Statistics 28, 1979).
 */
static double sample_von_mises(const struct dist *d, struct rng *r)
{
	for (;;) {
		double z = cos(M_PI * rng_open(r)), f = (1 + d->b * z) / (d->b + z);
		double c = d->a * (d->b - f), u = rng_open(r);

		if (c * (2 - c) > u || log(c / u) + 1 >= c) {
			double x = acos(fmin(1, fmax(-1, f)));

			return rng_u64(r) >> 63 ? x : -x;
		}
	}
}

static int expect_cut(double gamma, double cut, const char *what, struct err *err)
{
	if (dist_expect_above_0(gamma, what, err))
		return -EINVAL;
	if (cut > 0 && isfinite(cut))
		return 0;
	return err_set(err, EINVAL,
		       "%s: cut: expected a number above 0, got %g: without a cut it has no "
		       "finite variance",
		       what, cut);
}

/* A value is X = a + b tan(theta), with theta uniform between -c and c. */
int dist_breit_wigner(struct dist *d, double mean, double gamma, double cut, struct err *err)
{
	double zero, width, tangent, square;

	*d = (struct dist){ 0 };
	if (expect_cut(gamma, cut, "breit_wigner: gamma", err))
		return -EINVAL;
	*d = (struct dist){
		.kind = DIST_BREIT_WIGNER, .a = mean, .b = gamma / 2, .c = atan(2 * cut / gamma)
	};
	/* The integrals of 1, tan and its square begin at the angle where X is 0. */
	zero = fmin(d->c, fmax(-d->c, atan(-mean / d->b)));
	width = d->c - zero;
	tangent = log(cos(zero)) - log(cos(d->c));
	square = tan(d->c) - tan(zero) - width;
	return dist_line_finish(
		d, (mean * width + d->b * tangent) / (2 * d->c),
		(mean * mean * width + 2 * mean * d->b * tangent + d->b * d->b * square) /
			(2 * d->c),
		err);
}

/* Returns the X with X^2 = a^2 + a b tan(theta); theta is uniform between c and e. */
static double dist_line_root(const struct dist *d, double theta)
{
	return sqrt(fmax(0, d->a * d->a + d->a * d->b * tan(theta)));
}

int dist_breit_wigner_mean_square(struct dist *d, double mean, double gamma, double cut,
				  struct err *err)
{
	double low = fmax(0, mean - cut), high = mean + cut, width;

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(mean, "breit_wigner_mean_square: mean", err) ||
	    expect_cut(gamma, cut, "breit_wigner_mean_square: gamma", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_BREIT_WIGNER_MEAN_SQUARE, .a = mean, .b = gamma };
	d->c = atan((low - mean) * (low + mean) / (mean * gamma));
	d->e = atan((high - mean) * (high + mean) / (mean * gamma));
	width = d->e - d->c;
	return dist_line_finish(
		d, dist_line_integrate(d, dist_line_root, d->c, d->e) / width,
		mean * mean + mean * gamma * (log(cos(d->c)) - log(cos(d->e))) / width, err);
}

double dist_sample_line(const struct dist *d, struct rng *r)
{
	double x;

	switch (d->kind) {
	case DIST_CUT_NORMAL:
		x = d->a + d->b * rng_normal(r);
		break;
	case DIST_HYPERBOLIC:
		x = sample_hyperbolic(d, r);
		break;
	case DIST_EXPONENTIAL_POWER:
		/*
		 * |X|^tau is gamma-distributed with shape 1 / tau; it is drawn from shape 1 + 1 /
		 * tau.
		 */
		x = rng_u64(r) >> 63 ? pow(rng_gamma(r, 1 + d->a), d->a) * rng_open(r) : 0;
		break;
	case DIST_STUDENT_T:
		x = rng_normal(r) * sqrt(d->a / 2 / rng_gamma(r, d->a / 2));
		break;
	case DIST_VON_MISES:
		x = sample_von_mises(d, r);
		break;
	case DIST_BREIT_WIGNER:
		x = d->a + d->b * tan(d->c * (2 * rng_open(r) - 1));
		break;
	default:
		x = dist_line_root(d, d->c + (d->e - d->c) * rng_open(r));
	}
	return x > 0 ? x : 0;
}
