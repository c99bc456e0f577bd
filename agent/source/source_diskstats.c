/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_diskstats: no single requests, but the kernel's counters of each disk in /proc/diskstats,
 * and which processes and cgroups moved the most bytes meanwhile. It works wherever /proc is
 * mounted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "agent/guest/busiest.h"
#include "agent/guest/device.h"
#include "agent/source/disk_counters.h"
#include "agent/confine/privileges.h"
#include "agent/source/source.h"

#define DISKSTATS   "/proc/diskstats"
#define SECONDS_MIN 1e-3 /* Readings closer together than this give no meaningful rate. */

struct disk {
	struct disk_counters counters;
	bool is_partition;
};

struct source {
	uint32_t *devices; /* owned; the disks that the user named; none: all disks */
	size_t nr_devices;
	struct disk *disks; /* owned; the counters at the last reading */
	size_t nr_disks;
	uint64_t read_ns; /* time of that reading, CLOCK_MONOTONIC */
	struct busiest *busiest;
};

static uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct disk *disk_of(struct disk *disks, size_t nr, uint32_t device)
{
	for (size_t i = 0; i < nr; i++)
		if (disks[i].counters.device == device)
			return &disks[i];
	return NULL;
}

/*
 * Returns whether the device is a partition. The answer is kept for a device that was seen before
 * under the same name.
 */
static bool is_partition(const struct source *s, const struct disk_counters *c)
{
	const struct disk *was = disk_of(s->disks, s->nr_disks, c->device);
	struct device_info info;

	if (was && !strcmp(was->counters.name, c->name))
		return was->is_partition;
	return !device_read(c->device, &info) && info.partition;
}

/*
 * Reads the counters of all disks, partitions included. Returns 0 or -errno; *out belongs to the
 * caller.
 */
static int disks_read(const struct source *s, struct disk **out, size_t *out_nr, uint64_t *at_ns)
{
	FILE *f = fopen(DISKSTATS, "re");
	struct disk *disks = NULL, *more;
	size_t nr = 0, cap = 0, line_bytes = 0;
	char *line = NULL;
	int ret = 0;

	if (!f)
		return -errno;
	*at_ns = clock_read_ns(CLOCK_MONOTONIC);
	while (getline(&line, &line_bytes, f) >= 0) {
		struct disk_counters c;

		if (disk_counters_parse(&c, line))
			continue;
		if (nr == cap) {
			cap = cap ? 2 * cap : 64;
			more = realloc(disks, cap * sizeof(*disks));
			ret = more ? 0 : -ENOMEM;
			if (ret)
				goto out;
			disks = more;
		}
		disks[nr++] = (struct disk){ .counters = c, .is_partition = is_partition(s, &c) };
	}
	ret = nr ? 0 : -ENODATA;
out:
	free(line);
	fclose(f);
	if (ret) {
		free(disks);
		return ret;
	}
	*out = disks;
	*out_nr = nr;
	return 0;
}

static void source_diskstats_close(struct source *s, const struct source_sink *sink)
{
	(void)sink;
	if (!s)
		return;
	busiest_free(s->busiest);
	free(s->disks);
	free(s->devices);
	free(s);
}

static int read_failed(int ret, struct err *err)
{
	return err_set(err, -ret, "diskstats: " DISKSTATS ": %s",
		       ret == -ENODATA ? "no disk with 14 columns or more is in it"
				       : strerror(-ret));
}

static int config_check(const struct source_config *config, struct err *err)
{
	if (config->layer != LAYER_DEVICE)
		return err_set(err, EOPNOTSUPP,
			       "diskstats: the kernel counts requests, not bios: expected layer "
			       "device");
	if (config->nr_cgroups)
		return err_set(err, EOPNOTSUPP,
			       "diskstats: the kernel counts for a disk as a whole: expected no "
			       "cgroup");
	for (size_t i = 0; i < config->nr_devices; i++)
		if (device_queue_flag(config->devices[i], "iostats") == 0)
			return err_set(err, ENODATA,
				       "diskstats: %u:%u keeps no statistics: its queue/iostats is "
				       "0, expected 1",
				       device_major(config->devices[i]),
				       device_minor(config->devices[i]));
	return 0;
}

static int source_diskstats_open(struct source **out, const struct source_config *config,
				 struct err *err)
{
	int ret = config_check(config, err);
	struct source *s = ret ? NULL : calloc(1, sizeof(*s));

	if (ret)
		return ret;
	if (s && config->nr_devices)
		s->devices = calloc(config->nr_devices, sizeof(*s->devices));
	if (!s || (config->nr_devices && !s->devices) || busiest_new(&s->busiest, NULL, NULL)) {
		source_diskstats_close(s, NULL);
		return err_set(err, ENOMEM, "diskstats: out of memory");
	}
	for (size_t i = 0; i < config->nr_devices; i++)
		s->devices[s->nr_devices++] = config->devices[i];
	ret = disks_read(s, &s->disks, &s->nr_disks, &s->read_ns);
	if (ret) {
		source_diskstats_close(s, NULL);
		return read_failed(ret, err);
	}
	*out = s;
	return 0;
}

static int source_diskstats_probe(char *what, size_t what_bytes, struct err *err)
{
	struct source nothing = { 0 };
	struct disk *disks;
	size_t nr;
	uint64_t at_ns;
	int ret = disks_read(&nothing, &disks, &nr, &at_ns);

	if (ret)
		return read_failed(ret, err);
	if (what)
		snprintf(what, what_bytes,
			 "counters of each disk, %u columns: rates, means and mean in flight; no "
			 "single request",
			 disks[0].counters.nr_columns);
	free(disks);
	return 0;
}

static int64_t source_diskstats_poll(struct source *s, const struct source_sink *sink)
{
	(void)s;
	(void)sink;
	return 0;
}

static int source_diskstats_fd(const struct source *s)
{
	(void)s;
	return -1;
}

static bool is_wanted(const struct source *s, uint32_t device)
{
	for (size_t i = 0; i < s->nr_devices; i++)
		if (s->devices[i] == device)
			return true;
	return !s->nr_devices && device_queue_flag(device, "iostats") != 0;
}

static int detail_fill(const struct source *s, const struct disk_counters *change, double seconds,
		       struct profile *p)
{
	double busy = (double)change->busy_ms / 1e3 / seconds;
	json_t *detail = json_pack("{s:i,s:f,s:I,s:{s:f,s:f},s:o,s:o}", "columns",
				   (int)change->nr_columns, "busy_ratio", busy < 1 ? busy : 1,
				   "in_flight_end", (json_int_t)change->in_flight, "merged_per_s",
				   "read", (double)change->merged[OPERATION_READ] / seconds,
				   "write", (double)change->merged[OPERATION_WRITE] / seconds,
				   "processes", busiest_processes(s->busiest), "cgroups",
				   busiest_cgroups(s->busiest, change->device));
	char *text = detail ? json_dumps(detail, JSON_COMPACT) : NULL;
	int ret = text ? profile_set_detail(p, "diskstats", text) : -ENOMEM;

	free(text);
	json_decref(detail);
	return ret;
}

static int disk_tell(const struct source *s, const struct disk_counters *change, double seconds,
		     double end_s, const struct source_profiles *to)
{
	struct profile p;
	int ret;

	profile_init(&p);
	p.end_s = end_s;
	p.begin_s = end_s - seconds;
	disk_counters_profile(change, seconds, &p);
	ret = detail_fill(s, change, seconds, &p);
	if (ret)
		goto out;
	to->profile(to->ctx, change->device, disk_counters_are_idle(change), &p);
out:
	profile_release(&p);
	return ret;
}

/*
 * Computes the difference to the last reading. For a disk that appeared since then the difference
 * is all that the disk has counted, because the disk did not exist before. A disk whose counters
 * began anew (another disk took over the number) has no difference until the next reading.
 */
static bool change_of(const struct source *s, const struct disk_counters *now,
		      struct disk_counters *out)
{
	const struct disk *was = disk_of(s->disks, s->nr_disks, now->device);
	const struct disk_counters none = { .device = now->device, .nr_columns = now->nr_columns };

	return disk_counters_change(was ? &was->counters : &none, now, out);
}

static int source_diskstats_profiles(struct source *s, const struct source_profiles *to)
{
	struct disk *disks;
	size_t nr;
	uint64_t at_ns;
	double seconds, end_s;
	int ret = disks_read(s, &disks, &nr, &at_ns);

	if (ret)
		return ret;
	seconds = (double)(at_ns - s->read_ns) / 1e9;
	if (seconds < SECONDS_MIN) { /* The interval is too short; the next reading covers it. */
		free(disks);
		return 0;
	}
	/*
	 * The time of day at which the counters were read, by the present offset between the two
	 * clocks.
	 */
	end_s = (double)(clock_read_ns(CLOCK_REALTIME) - (clock_read_ns(CLOCK_MONOTONIC) - at_ns)) /
		1e9;
	busiest_read(s->busiest, seconds);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		struct disk_counters change;

		if (!disks[i].is_partition && is_wanted(s, disks[i].counters.device) &&
		    change_of(s, &disks[i].counters, &change))
			ret = disk_tell(s, &change, seconds, end_s, to);
		if (ret)
			goto out;
	}
out:
	free(s->disks);
	s->disks = disks;
	s->nr_disks = nr;
	s->read_ns = at_ns;
	return ret;
}

/* Returns the capability that reading /proc/PID/io of other users' processes needs. */
static uint64_t source_diskstats_needs(const struct source *s)
{
	(void)s;
	return PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_DAC_READ_SEARCH);
}

const struct source_ops source_diskstats = {
	.name = "diskstats",
	.id = SOURCE_DISKSTATS,
	.probe = source_diskstats_probe,
	.open = source_diskstats_open,
	.poll = source_diskstats_poll,
	.fd = source_diskstats_fd,
	.needs = source_diskstats_needs,
	.close = source_diskstats_close,
	.profiles = source_diskstats_profiles,
};
