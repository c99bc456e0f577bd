/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/profile/profile.h"
#include "formats/segment/segment.h"
#include "tests/support/segment_files.h"

static void add_profile(struct segment_files *out, const struct profile *p)
{
	const struct histogram *h[2] = { &p->read.response.stage[STAGE_TOTAL],
					 &p->write.response.stage[STAGE_TOTAL] };

	for (int op = 0; op < NR_OPERATIONS; op++)
		out->profile_requests += p->requests[op];
	for (int i = 0; i < 2; i++)
		if (h[i]->nr && (double)h[i]->max_ns / 1e9 > out->profile_max_s)
			out->profile_max_s = (double)h[i]->max_ns / 1e9;
	out->profile_lost += p->lost;
	out->profile_own += p->own_requests;
	out->profile_paused += p->paused_requests;
	out->profile_pauses += p->nr_pauses;
}

static void add_profiles(struct segment_files *out, const struct segment_header *h)
{
	for (size_t i = 0; i < h->nr_profiles; i++) {
		struct profile p;

		profile_init(&p);
		if (!profile_from_json(h->profiles[i], strlen(h->profiles[i]), &p, NULL))
			add_profile(out, &p);
		profile_release(&p);
	}
}

static void add_header(struct segment_files *out, const struct segment_header *h)
{
	out->nr_captured += h->nr_captured;
	out->nr_profiles += h->nr_profiles;
	for (size_t i = 0; h->ledger && i < h->ledger->nr; i++) {
		const struct loss *loss = &h->ledger->losses[i];

		out->nr_unknown_gaps += !loss->count_known;
		if (!loss_is_pause(loss)) {
			out->lost[loss->cause] += loss->count;
			continue;
		}
		out->nr_pauses[loss->cause]++;
		if (loss->end_real_ns - loss->begin_real_ns > out->longest_pause_ns)
			out->longest_pause_ns = loss->end_real_ns - loss->begin_real_ns;
	}
	if (h->nr_processes)
		memcpy(out->comm, h->processes[0].comm, sizeof(out->comm));
}

static void add_segment(struct segment_files *out, const void *data, size_t len, bool with_profiles)
{
	struct segment_reader *reader;
	struct request r[256];
	uint64_t last_ns = 0;
	int64_t nr;

	if (segment_reader_new(&reader, data, len, NULL)) {
		out->nr_bad++;
		return;
	}
	out->nr_segments++;
	add_header(out, segment_reader_header(reader));
	if (with_profiles)
		add_profiles(out, segment_reader_header(reader));
	while ((nr = segment_reader_next(reader, r, 256)) > 0) {
		out->nr_requests += (uint64_t)nr;
		for (int64_t i = 0; i < nr; i++) {
			out->descents += r[i].arrival_ns < last_ns;
			last_ns = r[i].arrival_ns;
			out->last_pid = r[i].pid;
			out->own_pid += r[i].pid == (uint32_t)getpid();
			out->own_flag += (r[i].flags & REQUEST_OWN) != 0;
			out->nr_paused += (r[i].flags & REQUEST_PAUSED) != 0;
		}
	}
	out->nr_bad += nr < 0;
	segment_reader_free(reader);
}

static void add_file(struct segment_files *out, const char *path, size_t len, bool with_profiles)
{
	FILE *f = fopen(path, "re");
	char *data = malloc(len ? len : 1);

	if (f && data && fread(data, 1, len, f) == len)
		add_segment(out, data, len, with_profiles);
	else
		out->nr_bad++;
	free(data);
	if (f)
		fclose(f);
}

static int walk_files(const char *dir, struct segment_files *out, bool takes)
{
	char *paths[2] = { (char *)dir, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	*out = (struct segment_files){ 0 };
	if (!walk)
		return -errno;
	while ((entry = fts_read(walk))) {
		if (entry->fts_info != FTS_F || entry->fts_namelen <= 4 ||
		    strcmp(entry->fts_name + entry->fts_namelen - 4, ".seg"))
			continue;
		add_file(out, entry->fts_path, (size_t)entry->fts_statp->st_size, !takes);
		if (takes)
			out->nr_bad += unlink(entry->fts_path) != 0;
	}
	fts_close(walk);
	return 0;
}

int segment_files_read(const char *dir, struct segment_files *out)
{
	return walk_files(dir, out, false);
}

int segment_files_take(const char *dir, struct segment_files *out)
{
	return walk_files(dir, out, true);
}

uint64_t segment_files_sum(const struct segment_files *f)
{
	uint64_t sum = f->nr_requests;

	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		sum += f->lost[i];
	return sum;
}
