/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict: what the conclusion of a study may say of a response time that changes, by its interval.
 */
#ifndef ANALYZER_WHATIF_PREDICT_VERDICT_H
#define ANALYZER_WHATIF_PREDICT_VERDICT_H

/* By ascending importance. */
enum verdict {
	VERDICT_SAME,
	VERDICT_FASTER,
	VERDICT_CANNOT_TELL,
	VERDICT_SLOWER,
};

/*
 * All times are in seconds; low_s and high_s are the ends of the 90 % interval of now_s, or NaN.
 * "Slower" and "faster" need an interval without "no change" and a change above 5 %; an interval
 * that goes beyond 5 % and has "no change" in it leaves the direction open.
 */
enum verdict verdict_of(double before_s, double now_s, double low_s, double high_s);
/* Returns what requests do by a verdict: "become slower"; "" for VERDICT_CANNOT_TELL. */
const char *verdict_words(enum verdict v);

#endif
