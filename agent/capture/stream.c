/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/stream.h"
#include "agent/guest/cgroup.h"
#include "agent/guest/task.h"
#include "base/memory/array.h"
#include "base/system/clock.h"

#define ANCHOR_TRIES	 4
#define ANCHOR_SPREAD_NS 1000000u
#define MAX_PROFILES	 256 /* A segment that reaches this number of profiles is closed early. */
/* The next segment uses the memory of this one's profiles again if it is at most this large. */
#define KEPT_TEXT_BYTES (1u << 20)

struct device_count {
	uint32_t device;
	uint64_t nr;
};

struct stream {
	struct stream_config config;
	struct segment_writer *writer;
	struct task_table *tasks;
	struct cgroup_table *cgroups;
	struct segment_device *devices;
	size_t nr_devices;

	uint64_t epoch, first_sequence; /* as headers name them; see stream_begin_life() */

	/* The running segment. */
	uint64_t sequence; /* counted from the start of the run; the name for spool and account */
	struct clock_anchor begin;
	uint64_t nr_captured;
	struct ledger lost; /* losses of the source and the pipeline */
	/* The texts of the profiles one after the other, each with a NUL, and where each begins. */
	struct buf profiles;
	size_t profile_at[MAX_PROFILES], nr_profiles;
	struct device_count *counts; /* requests per device */
	size_t nr_counts, cap_counts, last_count;
};

struct clock_anchor stream_anchor(void)
{
	struct clock_anchor a;

	/* If the thread was stopped between two readings, they do not belong together. */
	for (int i = 0; i < ANCHOR_TRIES; i++) {
		a = (struct clock_anchor){ .monotonic_ns = clock_monotonic_ns(),
					   .boottime_ns = clock_read_ns(CLOCK_BOOTTIME),
					   .realtime_ns = clock_real_ns() };
		if (clock_monotonic_ns() - a.monotonic_ns < ANCHOR_SPREAD_NS)
			break;
	}
	return a;
}

int stream_new(struct stream **out, const struct stream_config *config)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->config = *config;
	s->epoch = config->epoch;
	s->begin = stream_anchor();
	if (segment_writer_new(&s->writer) ||
	    segment_writer_reserve(s->writer, STREAM_SEGMENT_REQUESTS) ||
	    task_table_new(&s->tasks, TASK_MAX) || cgroup_table_new(&s->cgroups)) {
		stream_free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	buf_release(&s->profiles);
	segment_writer_free(s->writer);
	task_table_free(s->tasks);
	cgroup_table_free(s->cgroups);
	ledger_release(&s->lost);
	free(s->devices);
	free(s->counts);
	free(s);
}

int stream_set_devices(struct stream *s, const struct segment_device *devices, size_t nr)
{
	struct segment_device *copy = calloc(nr ? nr : 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	if (nr)
		memcpy(copy, devices, nr * sizeof(*copy));
	free(s->devices);
	s->devices = copy;
	s->nr_devices = nr;
	return 0;
}

/* Returns the device's count in the running segment; NULL without memory. */
static struct device_count *count_of(struct stream *s, uint32_t device)
{
	if (s->last_count < s->nr_counts && s->counts[s->last_count].device == device)
		return &s->counts[s->last_count];
	for (s->last_count = 0; s->last_count < s->nr_counts; s->last_count++)
		if (s->counts[s->last_count].device == device)
			return &s->counts[s->last_count];
	if (array_grow(&s->counts, &s->cap_counts, s->nr_counts + 1, sizeof(*s->counts)))
		return NULL;
	s->counts[s->nr_counts] = (struct device_count){ .device = device };
	return &s->counts[s->nr_counts++];
}

void stream_lost(struct stream *s, const struct loss *loss)
{
	if (ledger_add(&s->lost, loss))
		log_say(s->config.log, LEVEL_ERROR, "loss_not_noted", "cause=%s count=%llu",
			loss_cause_name(loss->cause), (unsigned long long)loss->count);
}

static void lose_one(struct stream *s, enum loss_cause cause, uint32_t device)
{
	uint64_t now_real_ns = clock_real_ns();
	struct loss loss = { .cause = (uint8_t)cause,
			     .count_known = true,
			     .count = 1,
			     .begin_real_ns = now_real_ns,
			     .end_real_ns = now_real_ns,
			     .device = device };

	stream_lost(s, &loss);
}

/*
 * Adds the request to the running segment and counts it by device. Fails as segment_writer_add()
 * does.
 */
static int add_counted(struct stream *s, const struct request *r)
{
	struct device_count *count = count_of(s, r->device);
	int ret = count ? segment_writer_add(s->writer, r) : -ENOMEM;

	if (ret)
		return ret;
	count->nr++;
	return 0;
}

static void add_one(struct stream *s, const struct request *r)
{
	int ret;

	if (segment_writer_count(s->writer) >= STREAM_SEGMENT_REQUESTS)
		stream_close_segment(s);
	ret = add_counted(s, r);
	if (ret == -ENOSPC) { /* the segment has as many devices as it can name */
		stream_close_segment(s);
		ret = add_counted(s, r);
	}
	if (ret) {
		lose_one(s, ret == -EINVAL ? LOSS_DECODE : LOSS_REORDER, r->device);
		return;
	}
	task_table_use(s->tasks, r->pid);
	cgroup_table_use(s->cgroups, r->cgroup_id);
}

void stream_add(struct stream *s, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		add_one(s, &r[i]);
}

void stream_give_back(struct stream *s)
{
	segment_writer_give_back(s->writer);
	buf_give_back(&s->profiles);
}

void stream_captured(struct stream *s, uint64_t nr)
{
	s->nr_captured += nr;
}

int stream_profile(struct stream *s, const struct buf *json)
{
	size_t at;

	if (s->nr_profiles == MAX_PROFILES)
		stream_close_segment(s);
	if (s->nr_profiles == MAX_PROFILES)
		return -ENOMEM; /* The segment could not be closed either. */
	at = s->profiles.len;
	buf_put(&s->profiles, json->data, json->len);
	if (buf_put_u8(&s->profiles, 0)) {
		s->profiles.len = at;
		s->profiles.error = 0;
		return -ENOMEM;
	}
	s->profile_at[s->nr_profiles++] = at;
	return 0;
}

void stream_task(struct stream *s, uint32_t tid, uint32_t pid, const char *comm)
{
	task_table_note(s->tasks, tid, pid, comm);
}

size_t stream_pids(struct stream *s, uint32_t *out, size_t max)
{
	return task_table_pids(s->tasks, out, max);
}

/* Empties the running segment and begins the next one. */
static void begin_next(struct stream *s, const struct clock_anchor *begin)
{
	if (s->profiles.cap > KEPT_TEXT_BYTES)
		buf_release(&s->profiles);
	buf_clear(&s->profiles);
	s->nr_profiles = 0;
	s->nr_counts = 0;
	s->nr_captured = 0;
	ledger_clear(&s->lost);
	s->begin = *begin;
	s->sequence++;
}

static int add_count(struct outgoing *o, uint32_t device, uint64_t nr)
{
	struct account_count *counts;

	for (size_t i = 0; i < o->nr_counts; i++)
		if (o->counts[i].device == device) {
			o->counts[i].nr += nr;
			return 0;
		}
	counts = realloc(o->counts, (o->nr_counts + 1) * sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	o->counts = counts;
	counts[o->nr_counts++] = (struct account_count){ .device = device, .nr = nr };
	return 0;
}

/*
 * Fills in the requests and losses that the segment holds, and the losses to note if the segment
 * itself gets lost.
 */
static int fill_counts(struct stream *s, struct outgoing *o, const struct clock_anchor *end)
{
	struct loss loss = { .cause = LOSS_SPOOL_FULL,
			     .count_known = true,
			     .begin_real_ns = s->begin.realtime_ns,
			     .end_real_ns = end->realtime_ns };
	int ret;

	if (loss.begin_real_ns > loss.end_real_ns) /* the clock was set back */
		loss.begin_real_ns = loss.end_real_ns;
	for (size_t i = 0; i < s->nr_counts; i++) {
		loss.device = s->counts[i].device;
		loss.count = s->counts[i].nr;
		ret = ledger_add(&o->lost_if_dropped, &loss);
		if (ret)
			return ret;
		ret = add_count(o, loss.device, loss.count);
		if (ret)
			return ret;
	}
	for (size_t i = 0; i < s->lost.nr; i++) {
		const struct loss *l = &s->lost.losses[i];

		if (loss_is_pause(l))
			continue;
		ret = add_count(o, l->device, l->count);
		if (ret)
			return ret;
		ret = ledger_add(&o->lost_if_dropped, l);
		if (ret)
			return ret;
	}
	return 0;
}

/* Replaces the names by copies with pseudonyms. Afterwards the caller owns both tables. */
static int hide_names(const struct pseudonym_key *key, struct segment_header *h)
{
	struct segment_process *processes = calloc(h->nr_processes + 1, sizeof(*processes));
	struct segment_cgroup *cgroups = calloc(h->nr_cgroups + 1, sizeof(*cgroups));

	if (!processes || !cgroups) {
		free(processes);
		free(cgroups);
		return -ENOMEM;
	}
	for (size_t i = 0; i < h->nr_processes; i++) {
		processes[i].pid = h->processes[i].pid;
		pseudonym_comm(key, h->processes[i].comm, processes[i].comm);
	}
	for (size_t i = 0; i < h->nr_cgroups; i++) {
		cgroups[i].id = h->cgroups[i].id;
		pseudonym_path(key, h->cgroups[i].path, cgroups[i].path);
	}
	h->processes = processes;
	h->cgroups = cgroups;
	return 0;
}

/* Writes the header and the requests that wait in the writer into o. */
static int finish_segment(struct stream *s, struct outgoing *o, struct segment_header *h)
{
	const struct pseudonym_key *key = s->config.key;
	int ret = key ? hide_names(key, h) : 0;

	if (ret)
		return ret;
	ret = segment_writer_finish(s->writer, h, &o->data);
	if (key) {
		free((void *)h->processes);
		free((void *)h->cgroups);
	}
	return ret;
}

/*
 * A segment names at most SEGMENT_MAX_DEVICES devices. Where the machine has more, the devices with
 * requests in the segment are put first.
 */
static void sort_devices(struct stream *s)
{
	size_t nr_first = 0;

	for (size_t i = 0; i < s->nr_devices && s->nr_devices > SEGMENT_MAX_DEVICES; i++) {
		struct segment_device found = s->devices[i];
		bool is_used = false;

		for (size_t k = 0; k < s->nr_counts && !is_used; k++)
			is_used = s->counts[k].nr && s->counts[k].device == found.device;
		if (!is_used)
			continue;
		s->devices[i] = s->devices[nr_first];
		s->devices[nr_first++] = found;
	}
}

static int stream_encode(struct stream *s, struct outgoing *o, const struct clock_anchor *end)
{
	struct segment_header h = { .epoch = s->epoch,
				    .sequence = s->sequence - s->first_sequence,
				    .source = s->config.source,
				    .layer = s->config.layer,
				    .begin = s->begin,
				    .end = *end,
				    .nr_captured = s->nr_captured,
				    .devices = s->devices,
				    .nr_devices = s->nr_devices < SEGMENT_MAX_DEVICES
							  ? s->nr_devices
							  : SEGMENT_MAX_DEVICES,
				    .nr_profiles = s->nr_profiles };
	const char *profiles[MAX_PROFILES];
	struct ledger all;
	int ret;

	sort_devices(s);
	memccpy(h.host, s->config.host, 0, sizeof(h.host) - 1);
	memccpy(h.boot_id, s->config.boot_id, 0, sizeof(h.boot_id) - 1);
	memccpy(h.agent_version, BLKCAST_VERSION, 0, sizeof(h.agent_version) - 1);
	h.nr_processes = task_table_collect(s->tasks, &h.processes);
	h.nr_cgroups = cgroup_table_collect(s->cgroups, &h.cgroups);
	for (size_t i = 0; i < s->nr_profiles; i++)
		profiles[i] = (const char *)s->profiles.data + s->profile_at[i];
	h.profiles = profiles;
	ledger_init(&all);
	h.ledger = &all;
	ret = ledger_merge(&all, &s->lost);
	if (ret)
		goto out;
	ret = account_take(sender_account(s->config.sender), s->sequence, &all);
	if (ret)
		goto out;
	ret = finish_segment(s, o, &h);
out:
	ledger_release(&all);
	return ret;
}

/*
 * Gives up a running segment that cannot be encoded: its requests are lost, and the account is told
 * their numbers.
 */
static void fail_segment(struct stream *s, struct outgoing *o, int ret)
{
	log_say(s->config.log, LEVEL_ERROR, "segment_failed", "requests=%zu why=\"%s\"",
		segment_writer_count(s->writer), strerror(-ret));
	account_give_up(sender_account(s->config.sender), s->sequence, o->counts, o->nr_counts,
			&o->lost_if_dropped);
	segment_writer_clear(s->writer);
	outgoing_free(o);
}

/* There is not even memory to note the loss per device, so the next segment carries the sum. */
static void fail_without_memory(struct stream *s, const struct clock_anchor *end)
{
	struct loss loss = { .cause = LOSS_SPOOL_ERROR,
			     .count_known = true,
			     .count = segment_writer_count(s->writer),
			     .begin_real_ns = end->realtime_ns,
			     .end_real_ns = end->realtime_ns };

	log_say(s->config.log, LEVEL_ERROR, "segment_failed", "why=\"no memory\"");
	segment_writer_clear(s->writer);
	s->nr_counts = 0;
	stream_lost(s, &loss);
}

static void close_segment(struct stream *s, const struct clock_anchor *end,
			  const struct clock_anchor *next_begin)
{
	struct outgoing *o = calloc(1, sizeof(*o));
	int ret;

	if (!o) {
		fail_without_memory(s, end);
		return;
	}
	o->sequence = s->sequence;
	ret = fill_counts(s, o, end);
	if (ret)
		goto out;
	ret = stream_encode(s, o, end);
out:
	if (ret)
		fail_segment(s, o, ret);
	else
		sender_push_segment(s->config.sender, o);
	begin_next(s, next_begin);
}

void stream_close_segment(struct stream *s)
{
	struct clock_anchor end = stream_anchor();

	close_segment(s, &end, &end);
}

void stream_note_pause(struct stream *s, const struct loss *pause)
{
	stream_lost(s, pause);
}

void stream_pause(struct stream *s, const struct loss *pause, const struct clock_anchor *from,
		  const struct clock_anchor *to)
{
	stream_note_pause(s, pause);
	close_segment(s, from->monotonic_ns > s->begin.monotonic_ns ? from : &s->begin, to);
}

int stream_begin_life(struct stream *s, uint64_t epoch)
{
	if (!sender_takes_lives(s->config.sender))
		return -EOPNOTSUPP;
	stream_close_segment(s);
	s->epoch = epoch;
	s->first_sequence = s->sequence;
	return 0;
}

void stream_tick(struct stream *s, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > s->begin.monotonic_ns ? now_ns - s->begin.monotonic_ns : 0;
	bool is_empty = !segment_writer_count(s->writer) && !s->nr_profiles && !s->lost.nr;

	if (age_ns >= (is_empty ? s->config.heartbeat_ns : s->config.interval_ns))
		stream_close_segment(s);
}
