// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/verdict.h"

#include <math.h>

/* A relative change of a response time below this share is not noticeable. */
#define SAME_RATIO 0.05

enum verdict verdict_of(double before_s, double now_s, double low_s, double high_s)
{
	double change = now_s / before_s - 1;
	double low = isnan(low_s) ? change : low_s / before_s - 1;
	double high = isnan(high_s) ? change : high_s / before_s - 1;

	if (low >= -SAME_RATIO && high <= SAME_RATIO)
		return VERDICT_SAME;
	if (low <= 0 && high >= 0)
		return VERDICT_CANNOT_TELL;
	if (fabs(change) <= SAME_RATIO)
		return VERDICT_SAME;
	return low > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
}

const char *verdict_words(enum verdict v)
{
	static const char *const words[] = { "stay as they are", "become faster", "",
					     "become slower" };

	return words[v];
}
