// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/agent_windows.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct seen { /* of one direction, read or write */
	double requests, bytes, timed, time_s;
};

struct sums {
	struct seen side[2];
	double lost;
	unsigned int nr;
};

static const char *const side_names[2] = { "read", "write" };

static double agent_windows_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : 0;
}

static void agent_windows_look(const json_t *profile, struct sums *s)
{
	memset(s, 0, sizeof(*s));
	s->lost = agent_windows_number(profile, "lost");
	for (int k = 0; k < 2; k++) {
		const json_t *total = json_object_get(
			json_object_get(json_object_get(profile, "response_time"), side_names[k]),
			"total");
		const json_t *size =
			json_object_get(json_object_get(profile, "request_size"), side_names[k]);
		struct seen *one = &s->side[k];

		one->requests =
			agent_windows_number(json_object_get(profile, "requests"), side_names[k]);
		one->bytes = one->requests * agent_windows_number(size, "mean_bytes");
		one->timed = agent_windows_number(total, "count");
		one->time_s = one->timed * agent_windows_number(total, "mean_s");
	}
}

static int put_sums(const struct sums *s, unsigned int interval, struct readings *r)
{
	char name[READING_NAME_BYTES];
	int ret = readings_put(r, interval, "agent_lost", s->lost);

	if (ret)
		return ret;
	for (int k = 0; k < 2; k++) {
		const struct seen *one = &s->side[k];

		snprintf(name, sizeof(name), "agent_%s_requests", side_names[k]);
		ret = readings_put(r, interval, name, one->requests);
		snprintf(name, sizeof(name), "agent_%s_bytes", side_names[k]);
		if (!ret)
			ret = readings_put(r, interval, name, one->bytes);
		snprintf(name, sizeof(name), "agent_%s_s", side_names[k]);
		if (ret)
			return ret;
		if (one->timed > 0)
			ret = readings_put(r, interval, name, one->time_s / one->timed);
		if (ret)
			return ret;
	}
	return 0;
}

static void agent_windows_add(struct sums *to, const struct sums *s)
{
	for (int k = 0; k < 2; k++) {
		to->side[k].requests += s->side[k].requests;
		to->side[k].bytes += s->side[k].bytes;
		to->side[k].timed += s->side[k].timed;
		to->side[k].time_s += s->side[k].time_s;
	}
	to->lost += s->lost;
	to->nr++;
}

int agent_windows_take(const char *text, size_t len, double begin_s, double end_s,
		       double interval_s, struct readings *r, struct err *err)
{
	struct sums whole = { 0 }, one;
	unsigned int nr = 0;
	int ret = 0;

	for (const char *at = text, *end = text + len; at && at < end && !ret;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));
		json_error_t why;
		json_t *profile;
		double middle_s, length_s;

		if (*at != '{') { /* Other lines come from the supervisor of the session. */
			at = eol ? eol + 1 : end;
			continue;
		}
		profile = json_loadb(at, (size_t)((eol ? eol : end) - at), 0, &why);
		if (!profile)
			return err_set(err, EINVAL, "agent: expected a profile, got '%.60s'", at);
		length_s = agent_windows_number(profile, "end_s") -
			   agent_windows_number(profile, "begin_s");
		middle_s = agent_windows_number(profile, "begin_s") + length_s / 2;
		agent_windows_look(profile, &one);
		json_decref(profile);
		at = eol ? eol + 1 : end;
		if (middle_s < begin_s || middle_s > end_s + interval_s)
			continue;
		agent_windows_add(&whole, &one);
		/*
		 * The agent's last window is shorter than the others and is no interval of its own.
		 */
		if (length_s > 0.9 * interval_s && middle_s < end_s)
			ret = put_sums(&one, ++nr, r);
	}
	if (!ret && !whole.nr)
		return err_set(err, EINVAL, "agent: expected profiles of the run, got none");
	return ret ? ret : put_sums(&whole, 0, r);
}
