// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/profile_text.h"
#include "analyzer/exchange/import_text.h"
#include "analyzer/exchange/vscsi_stats.h"
#include "analyzer/exchange/whole_segments.h"
#include "base/data/json.h"
#include "base/text/shown.h"
#include "base/text/word_list.h"

#define IMPORT_HISTOGRAMS_NAME "vscsistats"
#define IMPORT_SEGMENTS_NAME   "segments"

void import_job_formats(FILE *out)
{
	for (size_t i = 0; i < nr_foreign_formats; i++)
		fprintf(out, "%-16s %s\n", foreign_formats[i]->name, foreign_formats[i]->title);
	fprintf(out, "%-16s %s\n", IMPORT_SEGMENTS_NAME,
		"blkcast's own, as blkcast export --format segments and redact write them");
	fprintf(out, "%-16s %s\n", IMPORT_HISTOGRAMS_NAME,
		"histograms of vscsiStats -p all -c: a profile on standard output, no trace");
}

static bool import_job_has_segments(const char *path)
{
	uint8_t head[64];
	FILE *f = fopen(path, "re");
	size_t nr;

	if (!f)
		return false;
	nr = fread(head, 1, sizeof(head), f);
	fclose(f);
	return nr == sizeof(head) && segment_length(head, nr) > 0;
}

static bool import_job_has_histograms(const char *path)
{
	struct foreign_input *in;
	bool yes;

	if (foreign_input_open(&in, path, NULL) < 0)
		return false;
	yes = vscsi_stats_is(in);
	foreign_input_free(in);
	return yes;
}

enum import_kind import_job_kind(const char *const *paths, size_t nr, const char *format)
{
	if (format)
		return strcmp(format, IMPORT_HISTOGRAMS_NAME) == 0 ? IMPORT_HISTOGRAMS
		       : strcmp(format, IMPORT_SEGMENTS_NAME) == 0 ? IMPORT_SEGMENTS
								   : IMPORT_REQUESTS;
	if (nr == 0 || strcmp(paths[0], "-") == 0)
		return IMPORT_REQUESTS;
	return import_job_has_histograms(paths[0]) ? IMPORT_HISTOGRAMS
	       : import_job_has_segments(paths[0]) ? IMPORT_SEGMENTS
						   : IMPORT_REQUESTS;
}

struct import_job_shown {
	struct progress progress;
	const struct teller *teller;
	bool begun;
};

static void import_job_show(void *ctx, uint64_t done, uint64_t total)
{
	struct import_job_shown *s = ctx;

	if (!s->begun)
		progress_begin(&s->progress, s->teller->work, total, s->teller->quiet);
	s->begun = true;
	progress_update(&s->progress, done);
}

/* Prints the result as one line. */
static int import_job_json(const struct import_result *r, FILE *out)
{
	json_t *all = import_json(r);
	int ret;

	if (!all)
		return -ENOMEM;
	ret = json_print(all, out, JSON_COMPACT) || putc('\n', out) == EOF ? -EIO : 0;
	json_decref(all);
	return ret;
}

static int import_job_requests(struct import_job *job, struct err *err)
{
	struct import_job_shown shown = { .teller = job->teller };
	struct import_result result;
	int ret;

	job->options.progress = import_job_show;
	job->options.ctx = &shown;
	ret = import_run(&job->options, job->dir, &result, err);
	if (shown.begun)
		progress_end(&shown.progress);
	if (ret < 0) {
		import_tell_skipped(&result, job->teller);
		goto out;
	}
	ret = job->json ? import_job_json(&result, job->out)
			: import_print(&result, job->teller->utc, job->out);
	if (!job->json)
		import_tell(&result, job->teller);
out:
	import_result_release(&result);
	return ret;
}

static int import_job_stage(void *ctx, const struct buf *segment, struct err *err)
{
	return import_stage_add(ctx, segment, err);
}

/* Imports segments unchanged, under the names that they contain. Either all are stored or none. */
static int import_job_segments(const struct import_job *job, struct err *err)
{
	const struct whole_segments from = { .paths = job->options.paths,
					     .nr_paths = job->options.nr_paths };
	struct whole_segments_counts counts = { 0 };
	struct import_stored stored = { 0 };
	struct import_stage stage;
	int ret = import_stage_init(&stage, job->dir, err);

	if (!ret)
		ret = whole_segments_each(&from, import_job_stage, &stage, &counts, err);
	if (!ret)
		ret = import_stage_commit(&stage, &stored, err);
	import_stage_release(&stage);
	if (ret)
		return ret;
	if (job->json)
		fprintf(job->out,
			"{\"schema\":\"blkcast.import/1\",\"requests\":%" PRIu64
			",\"segments\":{\"stored\":%" PRIu64 ",\"repeated\":%" PRIu64
			",\"stored_bytes\":%" PRIu64 "}}\n",
			counts.nr_requests, stored.nr_stored, stored.nr_repeated,
			stored.stored_bytes);
	else
		teller_note(job->teller,
			    "%" PRIu64 " requests, %" PRIu64 " segments stored, %" PRIu64
			    " were in the store already",
			    counts.nr_requests, stored.nr_stored, stored.nr_repeated);
	return 0;
}

static int import_job_print_profile(const struct import_job *job, const struct profile *p,
				    bool first)
{
	struct buf b;
	int ret;

	if (!job->json)
		return profile_text_print(p, job->teller->utc, job->out);
	buf_init(&b);
	ret = profile_to_json(p, PROFILE_JSON_PRETTY, &b);
	if (ret == 0) {
		fputs(first ? "[\n" : ",\n", job->out);
		shown_put_json((const char *)b.data, b.len, job->out);
	}
	buf_release(&b);
	return ret;
}

/* All files are read before the first profile is printed. */
static int import_job_histograms(const struct import_job *job, struct err *err)
{
	const struct import_options *o = &job->options;
	struct profile *profiles[WORD_LIST_MAX] = { NULL };
	size_t nr[WORD_LIST_MAX] = { 0 };
	struct foreign_input *in;
	int ret = 0;

	if (o->nr_paths == 0 || o->nr_paths > WORD_LIST_MAX)
		return err_set(err, EINVAL, "expected 1 to %d files", WORD_LIST_MAX);
	for (size_t i = 0; i < o->nr_paths && ret == 0; i++) {
		ret = foreign_input_open(&in, o->paths[i], err);
		if (ret == 0) {
			ret = vscsi_stats_read(in, o->foreign.host, o->begin_real_ns, &profiles[i],
					       &nr[i], err);
			foreign_input_free(in);
		}
	}
	for (size_t i = 0; i < o->nr_paths; i++) {
		for (size_t k = 0; k < nr[i]; k++) {
			if (ret == 0)
				ret = import_job_print_profile(job, &profiles[i][k],
							       i == 0 && k == 0);
			profile_release(&profiles[i][k]);
		}
		free(profiles[i]);
	}
	if (ret == 0 && job->json)
		fprintf(job->out, "\n]\n");
	return ret;
}

int import_job_run(struct import_job *job, struct err *err)
{
	switch (job->kind) {
	case IMPORT_SEGMENTS:
		return import_job_segments(job, err);
	case IMPORT_HISTOGRAMS:
		return import_job_histograms(job, err);
	default:
		return import_job_requests(job, err);
	}
}
