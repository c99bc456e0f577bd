/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/guest/machine_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/guest/identity.h"

/* The hardware clock has whole seconds, so a smaller difference may be rounding. */
#define AHEAD_MIN_S 2
/* When the reading took longer, the two clocks were not read together. */
#define READ_MAX_NS 500000000u
/* A hardware clock that was set to the system's time differs from it by at most this. */
#define SET_SPREAD_S 1.5

static bool read_hardware(const char *root, int64_t *seconds)
{
	char path[PATH_MAX], text[32], *end;
	ssize_t nr = -1;
	int fd;

	if (snprintf(path, sizeof(path), "%s/sys/class/rtc/rtc0/since_epoch", root ? root : "") >=
	    (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		nr = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (nr <= 0)
		return false;
	text[nr] = 0;
	*seconds = strtoll(text, &end, 10);
	return end != text;
}

static double to_s(uint64_t later_ns, uint64_t ns)
{
	return (double)(int64_t)(later_ns - ns) / 1e9;
}

/* Returns how long the guest stood still, by a hardware clock that went on. */
static uint64_t stopped_ns(const struct machine_watch *w, const struct clock_anchor *now,
			   int64_t hardware_s)
{
	double ahead_s =
		(double)(hardware_s - w->hardware_s) - to_s(now->boottime_ns, w->at.boottime_ns);
	double beyond_s = (double)hardware_s + 0.5 - (double)now->realtime_ns / 1e9;

	if (ahead_s < AHEAD_MIN_S || (beyond_s > -SET_SPREAD_S && beyond_s < SET_SPREAD_S))
		return 0;
	return (uint64_t)(ahead_s * 1e9);
}

void machine_watch_init(struct machine_watch *w, const char *root,
			struct clock_anchor (*clock)(void))
{
	*w = (struct machine_watch){ .root = root, .clock = clock };
	w->at = clock();
	w->looked_ns = w->at.monotonic_ns;
	w->has_hardware = read_hardware(root, &w->hardware_s);
	w->generation = identity_generation(root);
	w->generation_at_ns = w->at.monotonic_ns;
}

static bool is_another_life(struct machine_watch *w)
{
	uint64_t before = w->generation, now = identity_generation(w->root);

	if (now)
		w->generation = now;
	return before && now && before != now;
}

bool machine_watch_look(struct machine_watch *w, struct machine_news *news)
{
	struct clock_anchor before = w->clock(), now;
	int64_t hardware_s;

	*news = (struct machine_news){ 0 };
	if (before.monotonic_ns < w->looked_ns + MACHINE_LOOK_NS)
		return false;
	if (w->has_hardware && read_hardware(w->root, &hardware_s)) {
		now = w->clock();
		if (now.monotonic_ns - before.monotonic_ns > READ_MAX_NS)
			return false;
		news->stopped_ns = stopped_ns(w, &now, hardware_s);
		w->hardware_s = hardware_s;
		w->at = before;
	}
	w->looked_ns = before.monotonic_ns;
	if (w->generation && (news->stopped_ns ||
			      before.monotonic_ns >= w->generation_at_ns + MACHINE_GENERATION_NS)) {
		w->generation_at_ns = before.monotonic_ns;
		news->is_restored = is_another_life(w);
	}
	return news->stopped_ns || news->is_restored;
}
