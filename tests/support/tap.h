/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tap: the tests' own reporting, in the Test Anything Protocol.
 *
 * A test program is a list of tests, each a sentence and a function:
 *
 *	static void poisson_is_one(void) { ... ok_near(idc, 1.0, 0.05); ... }
 *	static const struct tap_test tests[] = {
 *		{ "idc of a poisson stream is one at every window", poisson_is_one },
 *	};
 *	int main(void) { return tap_run(tests, TAP_NR(tests)); }
 *
 * A test fails when a check in it fails, and when it made no check at all. tap_skip() ends it as
 * skipped, or as failed where BLKCAST_REQUIRE names the feature.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

#define TAP_NR(a) (sizeof(a) / sizeof((a)[0]))

/* Runs all tests and prints the plan. Returns main's exit code: 0, or 1 where a test failed. */
int tap_run(const struct tap_test *tests, size_t nr);

/*
 * Ends the running test as skipped, and does not return. feature is a kind of
 * tests/support/features.h.
 */
void tap_skip(const char *feature, const char *why) __attribute__((noreturn));
/* Prints a line for the reader of the log. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Returns the folder with the real traces: BLKCAST_DATA, or ../shared/data. Returns NULL where
 * there is none.
 */
const char *tap_data_dir(void);

bool tap_ok(bool pass, const char *what, const char *file, int line);
bool tap_eq_u64(uint64_t got, uint64_t want, const char *what, const char *file, int line);
bool tap_eq_i64(int64_t got, int64_t want, const char *what, const char *file, int line);
bool tap_eq_str(const char *got, const char *want, const char *what, const char *file, int line);
bool tap_near(double got, double want, double tolerance, const char *what, const char *file,
	      int line);

/* Each check returns whether it passed, so that a test can end early. */
#define ok(cond)		      tap_ok((cond), #cond, __FILE__, __LINE__)
#define ok_eq(got, want)	      tap_eq_u64((got), (want), #got, __FILE__, __LINE__)
#define ok_int(got, want)	      tap_eq_i64((got), (want), #got, __FILE__, __LINE__)
#define ok_str(got, want)	      tap_eq_str((got), (want), #got, __FILE__, __LINE__)
#define ok_near(got, want, tolerance) tap_near((got), (want), (tolerance), #got, __FILE__, __LINE__)
#define ok_ratio(got, want, tolerance) \
	tap_near((double)(got) / (double)(want), 1.0, (tolerance), #got, __FILE__, __LINE__)

#endif
