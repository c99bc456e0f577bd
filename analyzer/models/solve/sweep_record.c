// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/sweep_record.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory/buf.h"
#include "base/system/file.h"

/* Every file of a model is smaller than this. */
#define SWEEP_RECORD_FILE_MAX ((size_t)1 << 30)

int sweep_record_open(struct sweep_record *r, const char *path, const char *command,
		      struct err *err)
{
	*r = (struct sweep_record){ .file = NULL };
	if (!path)
		return 0;
	r->hash = XXH3_createState();
	if (!r->hash || XXH3_128bits_reset(r->hash) != XXH_OK)
		return err_set(err, ENOMEM, "out of memory");
	/* Another version of the program may give other bits. */
	sweep_record_text(r, BLKCAST_VERSION);
	sweep_record_text(r, command);
	return checkpoint_open(&r->file, path, command, err);
}

void sweep_record_release(struct sweep_record *r)
{
	checkpoint_close(r->file);
	XXH3_freeState(r->hash);
	*r = (struct sweep_record){ .file = NULL };
}

void sweep_record_bytes(struct sweep_record *r, const void *data, size_t size)
{
	const uint64_t nr = size;

	if (!r->hash)
		return;
	/* The size keeps two texts apart from one text that consists of both. */
	XXH3_128bits_update(r->hash, &nr, sizeof(nr));
	XXH3_128bits_update(r->hash, data, size);
}

void sweep_record_text(struct sweep_record *r, const char *text)
{
	sweep_record_bytes(r, text, text ? strlen(text) + 1 : 0);
}

void sweep_record_words(struct sweep_record *r, const struct word_list *words)
{
	const uint64_t nr = words->nr;

	sweep_record_bytes(r, &nr, sizeof(nr));
	for (size_t i = 0; i < words->nr; i++)
		sweep_record_text(r, words->items[i]);
}

void sweep_record_run(struct sweep_record *r, const struct solve_options *run)
{
	const double reals[] = { run->precision, run->model_time };
	const uint64_t counts[] = { run->seed, run->nr_replications, run->max_events,
				    run->quantiles };

	sweep_record_bytes(r, reals, sizeof(reals));
	sweep_record_bytes(r, counts, sizeof(counts));
}

int sweep_record_file(struct sweep_record *r, const char *path, struct err *err)
{
	struct buf text;
	int ret;

	if (!r->hash || !path)
		return 0;
	buf_init(&text);
	ret = file_read(path, SWEEP_RECORD_FILE_MAX, &text, err);
	if (!ret)
		sweep_record_bytes(r, text.data, text.len);
	buf_release(&text);
	return ret;
}

int sweep_record_ask(struct sweep_record *r, struct err *err)
{
	XXH128_hash_t h;

	if (!r->file)
		return 0;
	h = XXH3_128bits_digest(r->hash);
	r->question = (struct checkpoint_key){ h.low64, h.high64 };
	return checkpoint_question(r->file, r->question, err);
}

static struct checkpoint_key sweep_record_key(const struct sweep_record *r, size_t point)
{
	const uint64_t number = point;
	XXH128_hash_t h = XXH3_128bits_withSeed(&number, sizeof(number), r->question.low);

	return (struct checkpoint_key){ h.low64, h.high64 ^ r->question.high };
}

bool sweep_record_find(const struct sweep_record *r, size_t point, sweep_record_walk walk,
		       void *result)
{
	struct checkpoint_values v = { .nr = 0 };
	bool is_found = false;

	if (!r->file)
		return false;
	walk(result, &v); /* finds how many numbers there are */
	if (!v.error)
		is_found = checkpoint_find(r->file, sweep_record_key(r, point), v.items, v.nr);
	if (is_found) {
		v.is_read = true;
		walk(result, &v);
	}
	checkpoint_values_release(&v);
	return is_found;
}

int sweep_record_save(struct sweep_record *r, size_t point, sweep_record_walk walk, void *result,
		      struct err *err)
{
	struct checkpoint_values v = { .nr = 0 };
	int ret;

	if (!r->file)
		return 0;
	walk(result, &v);
	ret = v.error ? v.error
		      : checkpoint_add(r->file, sweep_record_key(r, point), v.items, v.nr);
	checkpoint_values_release(&v);
	return ret ? err_set(err, -ret, "the checkpoint cannot be written: %s", strerror(-ret)) : 0;
}
