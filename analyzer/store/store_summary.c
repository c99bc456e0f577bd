/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/store_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/segment_place.h"
#include "base/memory/array.h"

#define NR_TRIES 10

void summary_path(const struct segment_name *first, uint64_t generation, char out[SEGMENT_PATH_MAX])
{
	char folder[SEGMENT_PATH_MAX];

	segment_name_folder(first, folder);
	snprintf(out, SEGMENT_PATH_MAX, "%.220s/%010" PRIu64 "-%010" PRIu64 ".sum", folder,
		 first->sequence % 10000000000u, generation % 10000000000u);
}

bool summary_file_name(const char *file, uint64_t *first, uint64_t *generation)
{
	if (strspn(file, "0123456789") != 10 || file[10] != '-' ||
	    strspn(file + 11, "0123456789") != 10 || strcmp(file + 21, ".sum") != 0)
		return false;
	*first = strtoull(file, NULL, 10);
	*generation = strtoull(file + 11, NULL, 10);
	return *generation > 0;
}

int summary_file_compare(const void *a, const void *b)
{
	const struct summary_file *x = a, *y = b;
	int order = segment_name_compare(&x->first, &y->first);

	return order ? order : (x->generation < y->generation) - (x->generation > y->generation);
}

/* Returns whether the summary belongs to the stream and name under which it lies. */
static bool is_named(const struct summary *s, const struct segment_name *first, uint64_t generation)
{
	return !strcmp(s->host, first->host) && !strcmp(s->boot_id, first->boot_id) &&
	       s->epoch == first->epoch && s->generation == generation && s->nr_members &&
	       s->members[0].sequence == first->sequence;
}

int store_summary_read(const struct store *store, const struct segment_name *first,
		       uint64_t generation, struct summary *s, struct err *err)
{
	char path[SEGMENT_PATH_MAX];
	struct buf data;
	int ret;

	buf_init(&data);
	summary_path(first, generation, path);
	ret = store_read_up_to(store, path, SUMMARY_MAX_BYTES, &data, err);
	if (ret == 0) {
		ret = summary_read(s, data.data, data.len, err);
		if (ret < 0)
			err_prefix(err, "%s/%s", store_dir(store), path);
	}
	if (ret == 0 && !is_named(s, first, generation)) {
		ret = err_set(err, EBADMSG, "%s/%s: its content names another stream or segment",
			      store_dir(store), path);
		summary_release(s);
	}
	buf_release(&data);
	return ret;
}

static int take_devices(struct segment_facts *f, const struct summary *s)
{
	if (!s->nr_devices)
		return 0;
	f->devices = calloc(s->nr_devices, sizeof(*f->devices));
	if (!f->devices)
		return -ENOMEM;
	f->nr_devices = s->nr_devices;
	for (size_t i = 0; i < s->nr_devices; i++) {
		const struct summary_device *d = &s->devices[i];
		struct device_facts *to = &f->devices[i];

		to->device = d->device;
		memcpy(to->name, d->name, sizeof(to->name));
		to->size_bytes = d->size_bytes;
		memcpy(to->requests, d->requests, sizeof(to->requests));
		memcpy(to->bytes, d->bytes, sizeof(to->bytes));
	}
	return 0;
}

int summary_facts(struct segment_facts *f, const struct summary *s, uint64_t file_bytes)
{
	int ret;

	segment_facts_init(f);
	memcpy(f->name.host, s->host, sizeof(f->name.host));
	memcpy(f->name.boot_id, s->boot_id, sizeof(f->name.boot_id));
	f->name.epoch = s->epoch;
	f->name.sequence = s->members[0].sequence;
	f->last_sequence = s->members[s->nr_members - 1].sequence;
	f->nr_segments = s->nr_members;
	f->generation = s->generation;
	f->file_bytes = file_bytes;
	f->segment_bytes = s->segment_bytes;
	f->nr_requests = s->nr_requests;
	f->nr_captured = s->nr_captured;
	for (size_t i = 0; i < s->nr_profiles; i++) {
		const struct profile *p = &s->profiles[i];
		double nr_untimed = profile_is_undivided(p) ? (double)profile_data_requests(p)
							    : profile_untimed_requests(p);

		f->nr_untimed += nr_untimed > 0 ? (uint64_t)nr_untimed : 0;
	}
	f->nr_dropped = s->nr_dropped;
	f->dropped_begin_real_ns = s->dropped_begin_real_ns;
	f->dropped_end_real_ns = s->dropped_end_real_ns;
	f->source = s->source;
	f->layer = s->layer;
	f->begin = s->begin;
	f->end = s->end;
	f->first_real_ns = s->first_real_ns;
	f->last_real_ns = s->last_real_ns;
	ret = take_devices(f, s);
	if (ret == 0)
		ret = ledger_merge(&f->ledger, &s->ledger);
	if (ret < 0)
		segment_facts_release(f);
	return ret;
}

int store_summary_has(const struct store *store, const struct segment_name *first,
		      uint64_t generation, const struct segment_name *n,
		      const struct segment_hash *hash, struct err *err)
{
	const struct summary_member *m;
	struct summary s;
	int ret;

	summary_init(&s);
	ret = store_summary_read(store, first, generation, &s, err);
	if (ret < 0)
		return ret;
	m = summary_find(&s, n->sequence);
	if (m)
		ret = memcmp(m->hash.bytes, hash->bytes, sizeof(hash->bytes)) == 0 ? 1 : -EEXIST;
	summary_release(&s);
	return ret == -EEXIST ? err_set(err, EEXIST,
					"%s/%s/%llu/%llu: another segment was stored under "
					"this name, and is summarized",
					n->host, n->boot_id, (unsigned long long)n->epoch,
					(unsigned long long)n->sequence)
			      : ret;
}

int store_summary_look_up(struct store *store, pthread_mutex_t *catalog,
			  const struct segment_name *n, const struct segment_hash *hash,
			  struct err *err)
{
	int ret = -ENOENT;

	/* Tries again where the summary became part of another one meanwhile. */
	for (int tries = 0; tries < NR_TRIES && ret == -ENOENT; tries++) {
		struct segment_name first = *n;
		uint64_t generation;

		pthread_mutex_lock(catalog);
		ret = catalog_find_summary(store_catalog(store), n, &first.sequence, &generation,
					   err);
		pthread_mutex_unlock(catalog);
		if (ret == 1)
			ret = store_summary_has(store, &first, generation, n, hash, err);
	}
	return ret;
}

/* The facts that the sync knows about each file. */
struct entry {
	struct summary_file file; /* must be the first member, because entries are compared by it */
	uint64_t last;
	bool found, known;	/* its file exists; the catalog has it */
	bool good;		/* it could be read, now or when the catalog took it */
	const struct entry *by; /* the summary that supersedes it */
};

struct entries {
	struct entry *items;
	size_t nr, cap;
};

static int add_entry(struct entries *e, const struct entry *one)
{
	if (array_grow(&e->items, &e->cap, e->nr + 1, sizeof(*e->items)))
		return -ENOMEM;
	e->items[e->nr++] = *one;
	return 0;
}

static int add_known(void *ctx, const struct segment_facts *f)
{
	struct entry one = { .file = { f->name, f->generation }, .last = f->last_sequence };

	one.known = one.good = true;
	return add_entry(ctx, &one);
}

/* Removes the rows of the members and adds the row of the summary. */
static int put_in_catalog(struct store *store, const struct summary *s, uint64_t file_bytes,
			  struct err *err)
{
	struct catalog *c = store_catalog(store);
	struct segment_facts f;
	struct segment_name n;
	int ret = summary_facts(&f, s, file_bytes);

	if (ret < 0)
		return ret;
	n = f.name;
	for (size_t i = 0; i < s->nr_members && ret == 0; i++) {
		n.sequence = s->members[i].sequence;
		ret = catalog_remove(c, &n, err);
	}
	if (ret == 0)
		ret = catalog_put(c, &f, err);
	segment_facts_release(&f);
	return ret;
}

/* Returns 1 where the catalog has a later summary there that the walk did not see. */
static int is_overtaken(struct store *store, const struct entry *e, struct err *err)
{
	uint64_t first = 0, generation = 0;
	int ret = catalog_find_summary(store_catalog(store), &e->file.first, &first, &generation,
				       err);

	return ret == 1 ? generation > e->file.generation : ret;
}

/*
 * Returns the summary that supersedes the entry, or NULL. Ranges overlap only where one contains
 * the other, and the containing one comes first; *over is the last one that no other supersedes.
 */
static const struct entry *superseding(const struct entry *e, const struct entry **over)
{
	const struct entry *last = *over;

	if (!e->good || !e->found)
		return NULL;
	if (last && segment_name_same_stream(&last->file.first, &e->file.first) &&
	    e->last <= last->last && e->file.generation < last->file.generation)
		return last;
	*over = e;
	return NULL;
}

/*
 * Reads a summary that is not known. An invalid one is noted as a damaged file; one that no other
 * supersedes goes into the catalog. Each is read once, since a large one takes most of a second.
 */
static int take_fresh(struct store *store, struct entry *e, const struct entry **over,
		      struct err *err)
{
	char path[SEGMENT_PATH_MAX];
	struct err why = { 0 };
	struct summary s;
	struct stat st;
	int ret;

	summary_path(&e->file.first, e->file.generation, path);
	e->good = false;
	if (fstatat(store_dir_fd(store), path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		e->found = false;
		return errno == ENOENT ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));
	}
	if (catalog_is_damaged(store_catalog(store), path, store_mtime_ns(&st),
			       (uint64_t)st.st_size))
		return 0;
	summary_init(&s);
	ret = store_summary_read(store, &e->file.first, e->file.generation, &s, &why);
	if (ret == -ENOENT || ret == -ENOMEM) {
		e->found = false;
		return ret == -ENOENT ? 0 : ret;
	}
	if (ret < 0)
		return catalog_put_damaged(store_catalog(store), path,
					   damage_is_unread(ret) ? CATALOG_UNREAD
								 : store_mtime_ns(&st),
					   (uint64_t)st.st_size, why.line, err);
	e->good = true;
	e->last = s.members[s.nr_members - 1].sequence;
	e->by = superseding(e, over);
	if (!e->by)
		ret = is_overtaken(store, e, err);
	if (!e->by && ret == 0)
		ret = put_in_catalog(store, &s, (uint64_t)st.st_size, err);
	if (ret >= 0 && catalog_forget_damaged(store_catalog(store), path, err) < 0)
		ret = -EIO;
	summary_release(&s);
	return ret < 0 ? ret : 0;
}

/* Makes content and name of the summary durable before anything that it represents is removed. */
static int make_durable(int dir_fd, const struct summary_file *f)
{
	char path[SEGMENT_PATH_MAX];
	int ret;

	summary_path(&f->first, f->generation, path);
	ret = sync_path(dir_fd, path);
	if (ret == 0) {
		segment_name_folder(&f->first, path);
		ret = sync_folder(dir_fd, path);
	}
	return ret;
}

static void remove_superseded(struct store *store, const struct entry *one)
{
	char path[SEGMENT_PATH_MAX];

	if (make_durable(store_dir_fd(store), &one->by->file) < 0)
		return;
	summary_path(&one->file.first, one->file.generation, path);
	unlinkat(store_dir_fd(store), path, 0);
}

/*
 * Joins the known and the found summaries in one list without repetitions, by stream and first
 * sequence, the later generation first.
 */
static int store_summary_join(struct entries *e, struct summary_file *files, size_t nr)
{
	int ret = 0;
	size_t known = e->nr;

	if (nr > 1)
		qsort(files, nr, sizeof(*files), summary_file_compare);
	for (size_t i = 0; i < known; i++)
		e->items[i].found = nr && bsearch(&e->items[i].file, files, nr, sizeof(*files),
						  summary_file_compare) != NULL;
	if (known > 1)
		qsort(e->items, known, sizeof(*e->items), summary_file_compare);
	for (size_t i = 0, at = 0; i < nr && ret == 0; i++) {
		struct entry one = { .file = files[i], .found = true };

		while (at < known && summary_file_compare(&e->items[at], &files[i]) < 0)
			at++;
		if (at == known || summary_file_compare(&e->items[at], &files[i]) != 0)
			ret = add_entry(e, &one);
	}
	if (e->nr > known && ret == 0)
		qsort(e->items, e->nr, sizeof(*e->items), summary_file_compare);
	return ret;
}

/* Removes its row, unless another summary with the same first sequence has taken the row. */
static int remove_row(struct store *store, const struct entry *e, struct err *err)
{
	uint64_t first = 0, generation = 0;
	struct catalog *c = store_catalog(store);
	int ret = catalog_find_summary(c, &e->file.first, &first, &generation, err);

	if (ret != 1)
		return ret;
	if (first != e->file.first.sequence || generation != e->file.generation)
		return 0;
	return catalog_remove_summary(c, &e->file.first, err);
}

/* Looks now, because another process may have made the file since the walk. */
static bool is_gone(const struct store *store, const struct entry *e)
{
	char path[SEGMENT_PATH_MAX];

	summary_path(&e->file.first, e->file.generation, path);
	return faccessat(store_dir_fd(store), path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	       errno == ENOENT;
}

/* The entries are in the order that superseding() needs, so that one pass settles each of them. */
static int store_summary_settle(struct store *store, struct entries *e, bool writer,
				struct err *err)
{
	const struct entry *over = NULL;

	for (size_t i = 0; i < e->nr; i++) {
		struct entry *one = &e->items[i];
		int ret = 0;

		if (!one->known) {
			ret = take_fresh(store, one, &over, err);
		} else {
			one->by = superseding(one, &over);
			if (one->by || (!one->found && is_gone(store, one)))
				ret = remove_row(store, one, err);
		}
		if (ret < 0)
			return ret;
		if (one->by && writer)
			remove_superseded(store, one);
	}
	return 0;
}

int store_sync_summaries(struct store *store, struct summary_file *files, size_t nr, bool writer,
			 bool *changed, struct err *err)
{
	struct entries e = { 0 };
	int ret = catalog_each_summary(store_catalog(store), add_known, &e, err);

	if (ret == 0)
		ret = store_summary_join(&e, files, nr);
	for (size_t i = 0; i < e.nr; i++)
		*changed |= !e.items[i].known;
	if (ret == 0)
		ret = store_summary_settle(store, &e, writer, err);
	free(e.items);
	return ret;
}

int store_sync_superseded(struct store *store, const struct segment_name *n,
			  const struct segment_hash *hash, bool writer, struct err *err)
{
	struct summary_file by = { .first = *n };
	char path[SEGMENT_PATH_MAX];
	int ret = catalog_find_summary(store_catalog(store), n, &by.first.sequence, &by.generation,
				       err);

	if (ret == 1)
		ret = store_summary_has(store, &by.first, by.generation, n, hash, err);
	if (ret == 1 && writer && make_durable(store_dir_fd(store), &by) == 0) {
		segment_name_path(n, path);
		unlinkat(store_dir_fd(store), path, 0);
	}
	return ret == -ENOENT ? 0 : ret;
}
