/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/store_journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include "analyzer/store/index/segment_facts.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store.h"
#include "base/memory/array.h"
#include "base/memory/buf.h"

#define MAGIC	   "bcj1"
#define HEAD_BYTES 32
#define NAME_BYTES 32
#define NR_TRIES   100 /* for numbers that other processes take at the same time */

struct journal {
	int dir_fd, fd;
	uint64_t number, bytes;
};

static void name_of(uint64_t number, bool redo, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "journal-%010" PRIu64 ".%s", number, redo ? "redo" : "log");
}

bool journal_name(const char *file, uint64_t *number, bool *redo)
{
	char expected[NAME_BYTES];

	if (strncmp(file, "journal-", 8) != 0 || strspn(file + 8, "0123456789") != 10)
		return false;
	*number = strtoull(file + 8, NULL, 10);
	*redo = strcmp(file + 18, ".redo") == 0;
	name_of(*number, *redo, expected);
	return strcmp(file, expected) == 0;
}

struct numbers {
	struct listed {
		uint64_t number;
		bool redo;
	} * items;
	size_t nr;
};

static int by_number_down(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

/* Lists all journals of the folder, the latest first. */
static int store_journal_list(int dir_fd, struct numbers *out)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int ret = 0;

	*out = (struct numbers){ 0 };
	if (!d) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (ret == 0 && (e = readdir(d))) {
		struct listed found, *more;

		if (!journal_name(e->d_name, &found.number, &found.redo))
			continue;
		more = realloc(out->items, (out->nr + 1) * sizeof(*more));
		if (!more) {
			ret = -ENOMEM;
			break;
		}
		out->items = more;
		more[out->nr++] = found;
	}
	closedir(d);
	if (out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), by_number_down);
	return ret;
}

/* Takes the lock of a journal, unless somebody holds it or it has disappeared. */
static bool store_journal_lock(int fd)
{
	struct stat st;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/*
 * Syncs the name of the journal and that of the store, which may be just as new. The store's parent
 * may belong to somebody else.
 */
static int sync_names(int dir_fd)
{
	int ret = sync_path(dir_fd, "..");

	if (ret < 0 && ret != -EACCES)
		return ret;
	return fsync(dir_fd) < 0 ? -errno : 0;
}

static int open_new(int dir_fd, uint64_t number, int *out)
{
	char name[NAME_BYTES];
	int fd, ret = 0;

	name_of(number, false, name);
	fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (!store_journal_lock(fd))
		/* a recovery in another process mistook it for the journal of a dead one */
		ret = -EEXIST;
	else
		ret = sync_names(dir_fd);
	if (ret < 0) {
		if (ret != -EEXIST)
			unlinkat(dir_fd, name, 0);
		close(fd);
		return ret;
	}
	*out = fd;
	return 0;
}

int journal_new(struct journal **out, int dir_fd)
{
	struct journal *j = calloc(1, sizeof(*j));
	struct numbers known;
	int ret = j ? store_journal_list(dir_fd, &known) : -ENOMEM;

	if (!j)
		return -ENOMEM;
	j->dir_fd = dir_fd;
	j->number = known.nr ? known.items[0].number + 1 : 1;
	for (int tries = 0; ret == 0 && tries < NR_TRIES; tries++) {
		ret = open_new(dir_fd, j->number, &j->fd);
		if (ret != -EEXIST)
			break;
		j->number++;
		ret = tries + 1 < NR_TRIES ? 0 : -EEXIST;
	}
	free(known.items);
	if (ret < 0) {
		free(j);
		return ret;
	}
	*out = j;
	return 0;
}

static void put_le(uint8_t *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static void make_head(const struct journal_item *item, uint8_t head[HEAD_BYTES])
{
	memcpy(head, MAGIC, 4);
	put_le(head + 4, item->len, 4);
	memcpy(head + 8, item->hash->bytes, 16);
	put_le(head + 24, XXH3_64bits(head, 24), 8);
}

/* Moves the vector beyond nr bytes that were written. */
static void store_journal_advance(struct iovec **at, int *nr_at, size_t nr)
{
	while (*nr_at && nr >= (*at)->iov_len) {
		nr -= (*at)->iov_len;
		(*at)++;
		(*nr_at)--;
	}
	if (*nr_at) {
		(*at)->iov_base = (uint8_t *)(*at)->iov_base + nr;
		(*at)->iov_len -= nr;
	}
}

static int write_vector(int fd, struct iovec *at, int nr_at)
{
	unsigned int interrupted = 0;

	while (nr_at) {
		ssize_t nr = writev(fd, at, nr_at);

		if (nr < 0 && errno == EINTR && ++interrupted < STORE_MAX_INTERRUPTIONS)
			continue;
		if (nr < 0)
			return -errno;
		store_journal_advance(&at, &nr_at, (size_t)nr);
	}
	return 0;
}

int journal_append(struct journal *j, const struct journal_item *items, size_t nr)
{
	uint8_t heads[JOURNAL_BATCH][HEAD_BYTES];
	struct iovec at[2 * JOURNAL_BATCH];
	uint64_t bytes = 0;
	int ret;

	for (size_t i = 0; i < nr; i++) {
		make_head(&items[i], heads[i]);
		at[2 * i] = (struct iovec){ heads[i], HEAD_BYTES };
		at[2 * i + 1] = (struct iovec){ (void *)(uintptr_t)items[i].data, items[i].len };
		bytes += HEAD_BYTES + items[i].len;
	}
	ret = write_vector(j->fd, at, (int)(2 * nr));
	if (ret == 0 && fsync(j->fd) < 0)
		ret = -errno;
	j->bytes += bytes;
	return ret;
}

uint64_t journal_bytes(const struct journal *j)
{
	return j->bytes;
}

static int read_at(int fd, uint64_t at, void *data, size_t len)
{
	uint8_t *to = data;
	unsigned int interrupted = 0;

	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return -errno;
	while (len) {
		ssize_t nr = read(fd, to, len);

		if (nr < 0 && errno == EINTR && ++interrupted < STORE_MAX_INTERRUPTIONS)
			continue;
		if (nr <= 0)
			return nr < 0 ? -errno : -EBADMSG;
		to += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/* The state of putting one journal's content in place. */
struct replay {
	struct store *store;
	struct placer *placer;
	int fd;
	/* files that look whole are rewritten too, because the disk may hold other content */
	bool rewrite;
	uint64_t *offsets;
	size_t nr, cap;
	struct buf record, file;
	struct segment_reader *reader; /* kept from one record to the next; owned */
	struct journal_recovery *counts;
};

static int note_offset(struct replay *r, uint64_t at)
{
	if (array_grow(&r->offsets, &r->cap, r->nr + 1, sizeof(*r->offsets)))
		return -ENOMEM;
	r->offsets[r->nr++] = at;
	return 0;
}

static int read_head(int fd, uint64_t at, uint32_t *len, struct segment_hash *hash)
{
	uint8_t head[HEAD_BYTES];
	struct cursor c = cursor_make(head, sizeof(head));
	const uint8_t *magic;
	uint64_t check;
	int ret = read_at(fd, at, head, sizeof(head));

	if (ret < 0)
		return ret;
	cursor_borrow(&c, &magic, 4);
	cursor_get_le32(&c, len);
	cursor_get(&c, hash->bytes, sizeof(hash->bytes));
	cursor_get_le64(&c, &check);
	return memcmp(magic, MAGIC, 4) == 0 && *len <= SEGMENT_MAX_BYTES &&
			       check == XXH3_64bits(head, 24)
		       ? 0
		       : -EBADMSG;
}

/* Finds where the records begin. What follows an invalid head was never acknowledged. */
static int index_records(struct replay *r, uint64_t size)
{
	struct segment_hash hash;
	uint64_t at = 0;
	uint32_t len;
	int ret = 0;

	while (ret == 0 && at < size) {
		ret = read_head(r->fd, at, &len, &hash);
		if (ret == 0)
			ret = note_offset(r, at);
		if (ret == 0)
			at += HEAD_BYTES + len;
	}
	if (ret != -EBADMSG)
		return ret;
	r->counts->nr_skipped += size - at;
	return 0;
}

/*
 * Returns whether the file of this name stays as it is, or -errno where this cannot be determined.
 */
static int store_journal_stays(struct replay *r, const struct segment_facts *f,
			       const struct segment_hash *hash)
{
	char path[SEGMENT_PATH_MAX];
	struct segment_facts found;
	struct segment_hash known;
	int ret;

	segment_name_path(&f->name, path);
	ret = store_read(r->store, path, &r->file, NULL);
	if (ret < 0)
		return ret == -ENOENT || ret == -EFBIG || ret == -ELOOP ? 0 : ret;
	known = segment_hash_of(r->file.data, r->file.len);
	if (memcmp(known.bytes, hash->bytes, sizeof(known.bytes)) == 0)
		return !r->rewrite;
	ret = segment_facts_read_with(&found, &r->reader, r->file.data, r->file.len, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	ret = segment_name_compare(&found.name, &f->name) == 0;
	segment_facts_release(&found);
	return ret;
}

static int replay_record(struct replay *r, uint64_t at)
{
	struct segment_hash hash, got;
	struct segment_facts facts;
	uint32_t len = 0;
	int ret = read_head(r->fd, at, &len, &hash);

	buf_clear(&r->record);
	if (ret == 0)
		ret = buf_reserve(&r->record, (size_t)len + 1);
	if (ret == 0)
		ret = read_at(r->fd, at + HEAD_BYTES, r->record.data, len);
	if (ret == 0) {
		got = segment_hash_of(r->record.data, len);
		ret = memcmp(got.bytes, hash.bytes, sizeof(got.bytes)) == 0 ? 0 : -EBADMSG;
	}
	if (ret < 0 && ret != -EBADMSG) /* it cannot be read now; the next start may succeed */
		return ret;
	if (ret == 0)
		ret = segment_facts_read_with(&facts, &r->reader, r->record.data, len, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret < 0) { /* incomplete, so its sender was not told of any success */
		r->counts->nr_skipped += HEAD_BYTES + len;
		return 0;
	}
	ret = store_journal_stays(r, &facts, &hash);
	if (ret == 0) {
		ret = placer_put(r->placer, &facts.name, r->record.data, len, true);
		r->counts->nr_placed += ret == 0;
	}
	r->counts->nr_records++;
	segment_facts_release(&facts);
	return ret < 0 ? ret : 0;
}

static int store_journal_replay(struct store *store, struct placer *placer, int fd, bool rewrite,
				struct journal_recovery *counts)
{
	struct replay r = { .store = store, .placer = placer, .fd = fd, .rewrite = rewrite };
	struct stat st;
	int ret = fstat(fd, &st) < 0 ? -errno : 0;

	r.counts = counts;
	buf_init(&r.record);
	buf_init(&r.file);
	if (ret == 0)
		ret = index_records(&r, (uint64_t)st.st_size);
	for (size_t i = r.nr; i-- > 0 && ret == 0;)
		ret = replay_record(&r, r.offsets[i]);
	free(r.offsets);
	buf_release(&r.record);
	buf_release(&r.file);
	segment_reader_free(r.reader);
	return ret;
}

static int sync_all(int dir_fd)
{
	return syncfs(dir_fd) < 0 ? -errno : 0;
}

/*
 * Removes a journal durably. If the journal came back after a power cut, it would one day restore
 * segments that were removed since.
 */
static int remove_journal(int dir_fd, uint64_t number, bool redo)
{
	char name[NAME_BYTES];

	name_of(number, redo, name);
	if (unlinkat(dir_fd, name, 0) < 0 || fsync(dir_fd) < 0)
		return -errno;
	return 0;
}

static void keep_to_redo(int dir_fd, uint64_t number)
{
	char from[NAME_BYTES], to[NAME_BYTES];

	name_of(number, false, from);
	name_of(number, true, to);
	if (renameat(dir_fd, from, dir_fd, to) == 0)
		fsync(dir_fd);
}

/*
 * After a failed sync, pages that never reached the disk count as clean, so everything is written
 * again.
 */
static int write_again(struct store *store, int fd)
{
	struct journal_recovery counts = { 0 };
	struct placer *placer = malloc(sizeof(*placer));
	int ret;

	if (!placer)
		return -ENOMEM;
	placer_init(placer, store_dir_fd(store));
	ret = store_journal_replay(store, placer, fd, true, &counts);
	free(placer);
	return ret ? ret : sync_all(store_dir_fd(store));
}

int journal_retire(struct journal *j, struct store *store)
{
	int ret;

	if (!j)
		return 0;
	ret = sync_all(j->dir_fd);
	if (ret < 0)
		ret = write_again(store, j->fd);
	if (ret < 0)
		keep_to_redo(j->dir_fd, j->number);
	else
		ret = remove_journal(j->dir_fd, j->number, false);
	close(j->fd);
	free(j);
	return ret;
}

/*
 * Puts the content of a journal in place that nobody holds. *fd stays open and locked until
 * everything is synced. Returns 1 where somebody holds it.
 */
static int recover_one(struct store *store, struct placer *placer, const struct listed *one,
		       int *fd, struct journal_recovery *counts)
{
	char name[NAME_BYTES];

	name_of(one->number, one->redo, name);
	*fd = openat(store_dir_fd(store), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0)
		return errno == ENOENT ? 1 : -errno;
	if (!store_journal_lock(*fd))
		return 1;
	counts->nr_journals++;
	return store_journal_replay(store, placer, *fd, one->redo, counts);
}

static void end_recovery(struct store *store, const struct numbers *all, const int *fds,
			 int *status, struct journal_recovery *counts)
{
	int dir_fd = store_dir_fd(store), synced = counts->nr_journals ? sync_all(dir_fd) : 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (status[i] == 0 && synced < 0 && !all->items[i].redo)
			keep_to_redo(dir_fd, all->items[i].number);
		if (status[i] == 0)
			status[i] = synced < 0 ? synced
					       : remove_journal(dir_fd, all->items[i].number,
								all->items[i].redo);
		counts->nr_failed += status[i] < 0;
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

struct journal_recovery journal_recover(struct store *store)
{
	struct journal_recovery counts = { 0 };
	struct placer *placer = NULL;
	struct numbers all;
	int *fds = NULL, *status = NULL;

	if (store_journal_list(store_dir_fd(store), &all) < 0)
		counts.nr_failed++;
	if (all.nr) {
		placer = malloc(sizeof(*placer));
		fds = malloc(2 * all.nr * sizeof(*fds));
	}
	if (placer && fds) {
		placer_init(placer, store_dir_fd(store));
		status = fds + all.nr;
		/*
		 * The later journal comes first, because the later of two records of a name is
		 * valid.
		 */
		for (size_t i = 0; i < all.nr; i++)
			status[i] = recover_one(store, placer, &all.items[i], &fds[i], &counts);
		end_recovery(store, &all, fds, status, &counts);
	} else {
		counts.nr_failed += all.nr;
	}
	free(fds);
	free(placer);
	free(all.items);
	return counts;
}
