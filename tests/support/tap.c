/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/tap.h"

static struct {
	unsigned int checks, failures;
	bool skipped, required;
	const char *feature, *why;
	jmp_buf out;
} now;

#define FEATURE(name, what) #name,
static const char *const features[] = {
#include "tests/support/features.h"
};
#undef FEATURE

/*
 * A test with a misspelled kind would always be skipped, so the test program ends where it finds
 * one.
 */
static void check_feature(const char *feature)
{
	for (size_t i = 0; i < TAP_NR(features); i++)
		if (feature && !strcmp(features[i], feature))
			return;
	fprintf(stderr, "tap_skip: tests/support/features.h does not list the kind \"%s\"\n",
		feature ? feature : "");
	abort();
}

/* Returns whether BLKCAST_REQUIRE, a list with commas, names the feature. */
static bool is_required(const char *feature)
{
	const char *list = getenv("BLKCAST_REQUIRE");
	size_t len = strlen(feature);

	while (list && *list) {
		size_t word = strcspn(list, ",");

		if (word == len && !strncmp(list, feature, len))
			return true;
		list += word + (list[word] == ',');
	}
	return false;
}

void tap_skip(const char *feature, const char *why)
{
	check_feature(feature);
	now.skipped = true;
	now.required = is_required(feature);
	now.feature = feature;
	now.why = why;
	longjmp(now.out, 1);
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

const char *tap_data_dir(void)
{
	const char *dir = getenv("BLKCAST_DATA");

	if (!dir)
		dir = "../shared/data";
	return access(dir, R_OK) ? NULL : dir;
}

static bool check(bool pass)
{
	now.checks++;
	if (!pass)
		now.failures++;
	return pass;
}

bool tap_ok(bool pass, const char *what, const char *file, int line)
{
	if (!pass)
		tap_note("%s:%d: not so: %s", file, line, what);
	return check(pass);
}

bool tap_eq_u64(uint64_t got, uint64_t want, const char *what, const char *file, int line)
{
	if (got != want)
		tap_note("%s:%d: %s: got %llu, expected %llu", file, line, what,
			 (unsigned long long)got, (unsigned long long)want);
	return check(got == want);
}

bool tap_eq_i64(int64_t got, int64_t want, const char *what, const char *file, int line)
{
	if (got != want)
		tap_note("%s:%d: %s: got %lld, expected %lld", file, line, what, (long long)got,
			 (long long)want);
	return check(got == want);
}

bool tap_eq_str(const char *got, const char *want, const char *what, const char *file, int line)
{
	bool same = got && want ? !strcmp(got, want) : got == want;

	if (!same)
		tap_note("%s:%d: %s: got \"%s\", expected \"%s\"", file, line, what,
			 got ? got : "(null)", want ? want : "(null)");
	return check(same);
}

bool tap_near(double got, double want, double tolerance, const char *what, const char *file,
	      int line)
{
	bool near = fabs(got - want) <= tolerance; /* false for NaN */

	if (!near)
		tap_note("%s:%d: %s: got %.17g, expected %.17g within %g", file, line, what, got,
			 want, tolerance);
	return check(near);
}

static bool run_one(const struct tap_test *test, size_t number)
{
	bool failed;

	memset(&now, 0, sizeof(now));
	if (!setjmp(now.out))
		test->run();
	if (now.skipped && !now.required && !now.failures) {
		printf("ok %zu - %s # SKIP %s\n", number, test->name, now.why);
		fflush(stdout);
		return true;
	}
	if (now.skipped && now.required)
		tap_note("skipped, though BLKCAST_REQUIRE names %s: %s", now.feature, now.why);
	if (!now.checks)
		tap_note("no check was made");
	failed = now.failures || !now.checks || now.skipped;
	printf("%sok %zu - %s\n", failed ? "not " : "", number, test->name);
	fflush(stdout);
	return !failed;
}

int tap_run(const struct tap_test *tests, size_t nr)
{
	bool good = true;

	printf("1..%zu\n", nr);
	for (size_t i = 0; i < nr; i++)
		good &= run_one(&tests[i], i + 1);
	return good ? 0 : 1;
}
