// SPDX-License-Identifier: Apache-2.0
#include "formats/policy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define POLICY_VERSION 1
#define NR_NUMBERS     6

void policy_print(const struct policy *p, char out[POLICY_FIELD_BYTES])
{
	snprintf(out, POLICY_FIELD_BYTES, "%d %u %u %u %u %u", POLICY_VERSION, p->sample_ppm,
		 p->window_s, p->around_s, p->p99_us, p->rise_percent);
}

/* Reads one number of digits alone and goes behind it. Returns false where there is none. */
static bool policy_number(const char **text, uint32_t *out)
{
	uint64_t value = 0;
	const char *at = *text;

	for (; *at >= '0' && *at <= '9' && at - *text < 10; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (at == *text || (*at >= '0' && *at <= '9') || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	*text = at;
	return true;
}

static const char *policy_wrong(const struct policy *p)
{
	if (p->sample_ppm > POLICY_ALL_PPM)
		return "sample: expected 0 to 1000000";
	if (p->window_s < 1 || p->window_s > POLICY_MAX_WINDOW_S)
		return "window: expected 1 to 3600 s";
	if (p->around_s > POLICY_MAX_AROUND_S)
		return "around: expected 0 to 3600 s";
	if (p->p99_us > POLICY_MAX_P99_US)
		return "p99: expected 0 to 1000000000 us";
	if (p->rise_percent &&
	    (p->rise_percent < POLICY_MIN_RISE || p->rise_percent > POLICY_MAX_RISE))
		return "rise: expected 0, or 110 to 100000 percent";
	return NULL;
}

int policy_parse(struct policy *out, const char *text, struct err *err)
{
	uint32_t n[NR_NUMBERS];
	const char *wrong;
	struct policy p;

	for (int i = 0; i < NR_NUMBERS; i++)
		if (!policy_number(&text, &n[i]) || *text++ != (i < NR_NUMBERS - 1 ? ' ' : '\0'))
			return err_set(err, EINVAL, "policy: expected %d whole numbers",
				       NR_NUMBERS);
	if (n[0] != POLICY_VERSION)
		return err_set(err, EINVAL, "policy: expected version %d, got %u", POLICY_VERSION,
			       n[0]);
	p = (struct policy){ n[1], n[2], n[3], n[4], n[5] };
	wrong = policy_wrong(&p);
	if (wrong)
		return err_set(err, EINVAL, "policy: %s", wrong);
	*out = p;
	return 0;
}

/* The product is rounded, because 0.7 % times a million is a little less than 7000 in a double. */
uint32_t policy_ppm(double ratio)
{
	return (uint32_t)lround(ratio * POLICY_ALL_PPM);
}

bool policy_chooses(const struct policy *p, const char *host, uint64_t begin_real_ns)
{
	uint64_t window = begin_real_ns / 1000000000u / p->window_s;
	uint64_t hash = XXH64(host, strlen(host), window);

	return (hash >> 32) * POLICY_ALL_PPM < (uint64_t)p->sample_ppm << 32;
}
