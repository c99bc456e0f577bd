// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/profile_set.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/counted.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/characterize/short_profiles.h"
#include "formats/profile/profile_merge.h"

#define NR_WINDOWS 32
/*
 * The profile of a window takes some 5 KiB. Where many devices share MOST_WINDOWS, each has fewer
 * windows, but at least enough for a spread (COMPARE_MIN_WINDOWS).
 */
#define MOST_WINDOWS  4096
#define LEAST_WINDOWS 10
#define MIN_WINDOW_NS 100000000ull /* shorter windows hold too few requests for percentiles */
/* A window that is cut short by the beginning or the end of the trace is left out of the spread. */
#define FULL_RATIO 0.99

void profile_set_init(struct profile_set *s)
{
	*s = (struct profile_set){ 0 };
}

static void profile_group_release(struct profile_group *g)
{
	profile_release(&g->whole);
	for (size_t k = 0; g->windows && k < g->nr_windows; k++)
		profile_release(&g->windows[k]);
	free(g->windows);
	free(g->sums);
}

void profile_set_release(struct profile_set *s)
{
	for (size_t i = 0; i < s->nr_groups; i++)
		profile_group_release(&s->groups[i]);
	free(s->groups);
	profile_set_init(s);
}

static struct profile_group *group_of(struct profile_set *s, const struct profile *p)
{
	struct profile_group *groups;

	for (size_t i = 0; i < s->nr_groups; i++) {
		const struct profile *w = &s->groups[i].whole;

		if (strcmp(w->host, p->host) == 0 && strcmp(w->device, p->device) == 0 &&
		    strcmp(w->device_name, p->device_name) == 0)
			return &s->groups[i];
	}
	groups = realloc(s->groups, (s->nr_groups + 1) * sizeof(*groups));
	if (!groups)
		return NULL;
	s->groups = groups;
	memset(&groups[s->nr_groups], 0, sizeof(*groups));
	profile_init(&groups[s->nr_groups].whole);
	return &groups[s->nr_groups++];
}

/* Notes what the traces know of the devices, of which the last trace of a device counts. */
static void profile_set_describe(struct profile_set *s, const struct scan *scan)
{
	for (uint32_t i = 0; i < scan_nr_streams(scan); i++) {
		const struct scan_stream *stream = scan_stream(scan, i);
		char device[PROFILE_NAME_BYTES];

		snprintf(device, sizeof(device), "%u:%u", device_major(stream->device),
			 device_minor(stream->device));
		for (size_t k = 0; k < s->nr_groups; k++) {
			struct profile_group *g = &s->groups[k];

			if (strcmp(g->whole.host, stream->host) != 0 ||
			    strcmp(g->whole.device, device) != 0)
				continue;
			if (stream->file_system[0])
				snprintf(g->file_system, sizeof(g->file_system), "%s",
					 stream->file_system);
			if (stream->device_bytes)
				g->device_bytes = stream->device_bytes;
		}
	}
}

static int add_window(const struct profile_set *s, struct profile_group *g, const struct profile *p)
{
	struct profile *windows;
	int ret;

	if (s->sum) {
		g->nr_windows++;
		return s->sum(&g->sums, p);
	}
	windows = realloc(g->windows, (g->nr_windows + 1) * sizeof(*windows));
	if (!windows)
		return -ENOMEM;
	g->windows = windows;
	profile_init(&windows[g->nr_windows]);
	ret = profile_copy(&windows[g->nr_windows], p);
	if (ret == 0)
		g->nr_windows++;
	return ret;
}

static int take_whole(void *ctx, struct profile *p)
{
	struct profile_group *g = group_of(ctx, p);

	if (!g)
		return -ENOMEM;
	g->has_whole = true;
	return profile_copy(&g->whole, p);
}

struct window_taker {
	struct profile_set *set;
	uint64_t window_ns;
};

struct summary_taker {
	struct short_profiles *kept; /* NULL: nothing reads them again */
	struct retained *retained;
};

/* Returns the longest period that a profile of one window can have. */
static double longest_window_s(uint64_t window_ns)
{
	return (double)window_ns / 1e9 / FULL_RATIO;
}

static int take_window(void *ctx, struct profile *p)
{
	struct window_taker *t = ctx;
	struct profile_group *g;

	/* Intervals that retention left are left out too where they are longer than a window. */
	if (p->end_s - p->begin_s < FULL_RATIO * (double)t->window_ns / 1e9 ||
	    p->end_s - p->begin_s > longest_window_s(t->window_ns) ||
	    p->quality.coverage_ratio < FULL_RATIO)
		return 0;
	g = group_of(t->set, p);
	return g ? add_window(t->set, g, p) : -ENOMEM;
}

static void profile_set_told(void *ctx, uint64_t done, uint64_t total)
{
	const struct profile_set *s = ctx;

	s->progress(s->progress_ctx, done + (s->is_second ? total : 0), 2 * total);
}

/* Passes a summary on, and keeps its short profiles for the second reading. */
static int profile_set_take_summary(void *ctx, const struct summary *summary)
{
	struct summary_taker *t = ctx;
	int ret = 0;

	for (size_t i = 0; t->kept && i < summary->nr_profiles && ret == 0; i++)
		ret = short_profiles_add(t->kept, &summary->profiles[i]);
	return ret ? ret : retained_take(t->retained, summary);
}

/* Passes on what the first reading kept and a window can take. */
static int profile_set_take_kept(struct retained *retained, const struct short_profiles *kept,
				 double longest_s)
{
	int ret = 0;

	for (size_t i = 0; i < kept->nr && ret == 0; i++) {
		const struct profile *p = &kept->items[i];

		if (p->source == SOURCE_DISKSTATS || p->end_s - p->begin_s <= longest_s)
			ret = retained_take_profile(retained, p);
	}
	return ret;
}

/*
 * Reads the trace once, in windows where the configuration has a length of them. Reading a large
 * summary takes most of a second, so that the reading in windows takes what the first one kept of
 * summaries, unless that was too much to keep.
 */
static int replay_once(struct profile_set *s, const char *path, const struct selection *chosen,
		       struct replay_config *config, struct short_profiles *kept, struct err *err)
{
	double longest_s = longest_window_s(config->window_ns) + 2 * PROFILE_TOUCH_S;
	bool uses_kept = config->window_ns && short_profiles_has_all(kept, longest_s);
	struct summary_taker taker = { .kept = config->window_ns ? NULL : kept };
	struct selection sel = *chosen;
	struct replay_config joining = *config;
	struct counted *counted = NULL;
	struct retained *retained = NULL;
	struct scan *scan = NULL;
	int ret = counted_new(&counted, &sel, config->window_ns);
	struct scan_hooks hooks = { .profile = retained_take_window,
				    .summary = uses_kept ? NULL : profile_set_take_summary,
				    .summary_ctx = &taker };

	if (ret == 0)
		ret = retained_new(&retained, &sel, config->window_ns, counted, config->profile,
				   config->ctx);
	taker.retained = joining.ctx = hooks.ctx = retained;
	joining.profile = retained_join;
	if (ret == 0)
		ret = selection_open_path(&sel, path, &scan, &hooks, err);
	if (ret == 0)
		retained_set_scan(retained, scan);
	if (ret == 0 && uses_kept)
		ret = profile_set_take_kept(retained, kept, longest_s);
	if (ret == 0)
		ret = replay(scan, &joining, err);
	if (ret == 0)
		ret = retained_emit(retained);
	if (ret == 0)
		ret = counted_emit(counted, scan, config->profile, config->ctx);
	if (ret == 0)
		profile_set_describe(s, scan);
	retained_free(retained);
	counted_free(counted);
	scan_close(scan);
	selection_release(&sel);
	return ret;
}

static uint64_t profile_set_nr_windows(size_t nr_groups)
{
	uint64_t nr = MOST_WINDOWS / nr_groups;

	return nr > NR_WINDOWS ? NR_WINDOWS : nr < LEAST_WINDOWS ? LEAST_WINDOWS : nr;
}

static int load_trace(struct profile_set *s, const char *path, const struct selection *sel,
		      struct err *err)
{
	struct replay_config config = { .profile = take_whole,
					.ctx = s,
					.progress = s->progress ? profile_set_told : NULL,
					.progress_ctx = s };
	struct window_taker taker = { .set = s };
	struct short_profiles kept;
	double longest_s = 0;
	int ret;

	short_profiles_init(&kept, SUMMARY_MAX_PROFILE_BYTES);
	config.window.leave_out_regions = s->leave_out_regions;
	ret = replay_once(s, path, sel, &config, &kept, err);
	for (size_t i = 0; i < s->nr_groups; i++)
		if (s->groups[i].whole.end_s - s->groups[i].whole.begin_s > longest_s)
			longest_s = s->groups[i].whole.end_s - s->groups[i].whole.begin_s;
	if (ret < 0 || s->nr_groups == 0)
		goto out;
	config.window_ns =
		(uint64_t)(longest_s * 1e9 / (double)profile_set_nr_windows(s->nr_groups));
	if (config.window_ns < MIN_WINDOW_NS)
		config.window_ns = MIN_WINDOW_NS;
	taker.window_ns = config.window_ns;
	config.profile = take_window;
	config.ctx = &taker;
	s->is_second = true;
	/* Short windows are not compared by these values. */
	config.window.leave_out_regions = true;
	ret = replay_once(s, path, sel, &config, &kept, err);
out:
	short_profiles_release(&kept);
	return ret;
}

static int take_json(struct profile_set *s, const json_t *object, const char *path, size_t index,
		     struct err *err)
{
	struct profile_group *g;
	struct profile p;
	char *text = json_dumps(object, JSON_COMPACT);
	int ret;

	if (!text)
		return -ENOMEM;
	profile_init(&p);
	ret = profile_from_json(text, strlen(text), &p, err);
	free(text);
	if (ret < 0) {
		err_prefix(err, "%s: profile %zu", path, index);
		return ret;
	}
	g = group_of(s, &p);
	if (g)
		ret = g->nr_windows ? profile_merge(&g->whole, &p) : profile_copy(&g->whole, &p);
	if (g && ret == 0)
		ret = add_window(s, g, &p);
	profile_release(&p);
	return g ? ret : -ENOMEM;
}

/* A single profile of a device is its whole, and not a window. */
static void profile_set_settle(struct profile_set *s)
{
	for (size_t i = 0; i < s->nr_groups; i++) {
		struct profile_group *g = &s->groups[i];

		if (g->nr_windows != 1)
			continue;
		if (g->windows)
			profile_release(&g->windows[0]);
		free(g->sums);
		g->sums = NULL;
		g->has_whole = true;
		g->nr_windows = 0;
	}
}

static bool profile_set_is_selected(const struct selection *sel)
{
	return sel->hosts.nr || sel->devices.nr || sel->cgroups.nr || sel->processes.nr ||
	       sel->operations.nr || sel->begin_real_ns || sel->end_real_ns || sel->leave_out_own;
}

static bool profile_set_has_word(const struct word_list *list, const char *a, const char *b)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->items[i], a) == 0 || strcmp(list->items[i], b) == 0)
			return true;
	return list->nr == 0;
}

/* Drops the profiles of hosts and devices that were not chosen. */
static int profile_set_select(struct profile_set *s, const char *path, const struct selection *sel,
			      struct err *err)
{
	char devices[1024] = "";
	size_t kept = 0, len = 0;

	if (sel->cgroups.nr || sel->processes.nr || sel->operations.nr || sel->begin_real_ns ||
	    sel->end_real_ns || sel->leave_out_own)
		return err_set(err, EINVAL,
			       "%s: a profile holds no single requests: expected a selection by "
			       "host and device alone",
			       path);
	for (size_t i = 0; i < s->nr_groups; i++) {
		struct profile_group *g = &s->groups[i], here = *g;

		if (len < sizeof(devices))
			len += (size_t)snprintf(devices + len, sizeof(devices) - len, "%s%s of %s",
						i ? ", " : "", g->whole.device_name, g->whole.host);
		if (profile_set_has_word(&sel->hosts, g->whole.host, g->whole.host) &&
		    profile_set_has_word(&sel->devices, g->whole.device_name, g->whole.device)) {
			*g = s->groups[kept];
			s->groups[kept++] = here;
		}
	}
	while (s->nr_groups > kept)
		profile_group_release(&s->groups[--s->nr_groups]);
	if (kept == 0 && devices[0])
		return err_set(err, EINVAL, "%s: nothing is in the selection; the devices are: %s",
			       path, devices);
	return 0;
}

static int load_json(struct profile_set *s, const char *path, const struct selection *sel,
		     struct err *err)
{
	json_error_t where;
	json_t *top = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	int ret = 0;

	if (!top)
		return err_set(err, EINVAL, "%s:%d:%d: %s", path, where.line, where.column,
			       where.text);
	if (json_is_array(top)) {
		for (size_t i = 0; i < json_array_size(top) && ret == 0; i++)
			ret = take_json(s, json_array_get(top, i), path, i, err);
	} else {
		ret = take_json(s, top, path, 0, err);
	}
	json_decref(top);
	if (ret == 0)
		ret = profile_set_select(s, path, sel, err);
	if (ret == 0)
		profile_set_settle(s);
	return ret;
}

static bool looks_like_json(const char *path)
{
	FILE *f = fopen(path, "r");
	int c = ' ';

	while (f && c != EOF && isspace(c))
		c = getc(f);
	if (f)
		fclose(f);
	return c == '{' || c == '[';
}

void profile_set_names(const struct profile_set *s, char *text, size_t bytes)
{
	size_t len = 0;

	snprintf(text, bytes, "%s", s->nr_groups ? "" : "none");
	for (size_t i = 0; i < s->nr_groups && len < bytes; i++) {
		const struct profile *p = &s->groups[i].whole;

		len += (size_t)snprintf(text + len, bytes - len, "%s%s of %s", i ? ", " : "",
					*p->device_name ? p->device_name : p->device, p->host);
	}
	if (len >= bytes && bytes > 4)
		snprintf(text + bytes - 4, 4, "...");
}

int profile_set_load(struct profile_set *s, const char *path, const struct selection *sel,
		     struct err *err)
{
	int ret;

	ret = looks_like_json(path) ? load_json(s, path, sel, err) : load_trace(s, path, sel, err);
	if (ret == 0 && s->nr_groups == 0 && profile_set_is_selected(sel))
		return err_set(err, ENODATA, "%s: nothing is in the selection", path);
	if (ret == 0 && s->nr_groups == 0)
		ret = err_set(err, EINVAL, "%s: expected a profile or a trace, it has none", path);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "out of memory");
	return ret;
}
