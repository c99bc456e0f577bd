// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names are spread over this many locks, so that a name has one writer at a time. */
#define NR_NAME_LOCKS 64
/* Folders known to be durable, with all above them; one more costs four syncs. */
#define NR_FOLDERS 256

struct ingest {
	struct store *store;
	pthread_mutex_t catalog; /* guards the catalog and the counts */
	pthread_mutex_t names[NR_NAME_LOCKS];
	struct ingest_counts counts;
	uint64_t nr_temporary; /* guarded by catalog: makes names of temporary files unique */
	char folders[NR_FOLDERS][SEGMENT_PATH_MAX]; /* guarded by catalog; by hash of the path */
};

int ingest_new(struct ingest **out, struct store *store)
{
	struct ingest *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->store = store;
	pthread_mutex_init(&g->catalog, NULL);
	for (int i = 0; i < NR_NAME_LOCKS; i++)
		pthread_mutex_init(&g->names[i], NULL);
	*out = g;
	return 0;
}

void ingest_free(struct ingest *g)
{
	if (!g)
		return;
	for (int i = 0; i < NR_NAME_LOCKS; i++)
		pthread_mutex_destroy(&g->names[i]);
	pthread_mutex_destroy(&g->catalog);
	free(g);
}

static int sync_folder(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		status = -errno;
	close(fd);
	return status;
}

static char *folder_slot(struct ingest *g, const char *path)
{
	uint32_t sum = 5381;

	for (const char *p = path; *p; p++)
		sum = sum * 33 + (unsigned char)*p;
	return g->folders[sum % NR_FOLDERS];
}

/*
 * Makes the folders of path and syncs the parent of each. That a folder is there says nothing: it
 * may have been made a moment ago by another thread, or by a process that was killed before it
 * synced. Only what this process has synced itself is passed over.
 */
static int make_folders(struct ingest *g, const char *path)
{
	char part[SEGMENT_PATH_MAX], parent[SEGMENT_PATH_MAX] = ".";
	int dir_fd = store_dir_fd(g->store);
	const char *at = path;
	bool known;

	pthread_mutex_lock(&g->catalog);
	known = strcmp(folder_slot(g, path), path) == 0;
	pthread_mutex_unlock(&g->catalog);
	while (!known) {
		size_t len = (size_t)(at - path) + strcspn(at, "/");
		int status;

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		if (mkdirat(dir_fd, part, 0777) < 0 && errno != EEXIST)
			return -errno;
		status = sync_folder(dir_fd, parent);
		if (status < 0)
			return status;
		if (!path[len])
			break;
		memcpy(parent, part, sizeof(parent));
		at = path + len + 1;
	}
	pthread_mutex_lock(&g->catalog);
	snprintf(folder_slot(g, path), SEGMENT_PATH_MAX, "%s", path);
	pthread_mutex_unlock(&g->catalog);
	return 0;
}

/* A folder that was deleted behind our back must be made and synced again. */
static void forget_folder(struct ingest *g, const char *path)
{
	pthread_mutex_lock(&g->catalog);
	if (strcmp(folder_slot(g, path), path) == 0)
		folder_slot(g, path)[0] = '\0';
	pthread_mutex_unlock(&g->catalog);
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	unsigned int interrupted = 0;

	while (len) {
		ssize_t nr = write(fd, data, len);

		if (nr < 0 && errno == EINTR && ++interrupted < STORE_MAX_INTERRUPTIONS)
			continue;
		if (nr < 0)
			return -errno;
		data += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/* Never over a file that is there: another process may serve the same store. File systems that
 * cannot promise that are left to the look before. */
static int rename_new(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return renameat(dir_fd, from, dir_fd, to) == 0 ? 0 : -errno;
}

/* After a failed fsync the pages count as clean: the file is thrown away, never synced again. */
static int write_file(int dir_fd, const char *temporary, const char *path, const void *data,
		      size_t len)
{
	int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0666);
	int status;

	if (fd < 0)
		return -errno;
	status = write_all(fd, data, len);
	if (status == 0 && fsync(fd) < 0)
		status = -errno;
	if (close(fd) < 0 && status == 0)
		status = -errno;
	if (status == 0)
		status = rename_new(dir_fd, temporary, path);
	if (status < 0)
		unlinkat(dir_fd, temporary, 0);
	return status;
}

static int store_file(struct ingest *g, const struct segment_name *n, const void *data, size_t len,
		      struct err *err)
{
	char folder[SEGMENT_PATH_MAX], path[SEGMENT_PATH_MAX], temporary[SEGMENT_PATH_MAX + 64];
	int dir_fd = store_dir_fd(g->store);
	uint64_t number;
	int status;

	pthread_mutex_lock(&g->catalog);
	number = g->nr_temporary++;
	pthread_mutex_unlock(&g->catalog);
	segment_name_folder(n, folder);
	segment_name_path(n, path);
	snprintf(temporary, sizeof(temporary), "%s/.%010llu.%ld.%llu.tmp", folder,
		 (unsigned long long)n->sequence, (long)getpid(), (unsigned long long)number);
	status = make_folders(g, folder);
	if (status == 0)
		status = write_file(dir_fd, temporary, path, data, len);
	if (status == 0)
		status = sync_folder(dir_fd, folder);
	if (status == -ENOENT)
		forget_folder(g, folder);
	if (status < 0)
		return err_set(err, -status, "%s/%s: %s", store_dir(g->store), path,
			       strerror(-status));
	return 0;
}

/* What lies under the name already: 1 the same content, 0 nothing, -EEXIST another content. */
static int look_up(struct ingest *g, const struct segment_facts *f, struct err *err)
{
	char path[SEGMENT_PATH_MAX];
	struct segment_hash known;
	struct buf data;
	int status;

	segment_name_path(&f->name, path);
	if (faccessat(store_dir_fd(g->store), path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : err_set(err, errno, "%s/%s: %s", store_dir(g->store), path,
						 strerror(errno));
	/* The file and not the catalog decides: it may have been replaced behind our back. */
	buf_init(&data);
	status = store_read(g->store, path, &data, err);
	known = segment_hash_of(data.data, data.len);
	buf_release(&data);
	if (status < 0)
		return status;
	if (memcmp(known.bytes, f->hash.bytes, sizeof(known.bytes)) == 0)
		return 1;
	return err_set(err, EEXIST, "%s/%s/%llu/%llu: another segment is stored under this name",
		       f->name.host, f->name.boot_id, (unsigned long long)f->name.epoch,
		       (unsigned long long)f->name.sequence);
}

/*
 * A file that is found may be one whose rename was done and whose folder was not yet synced when
 * the last process was killed: it is acknowledged again only after a sync of its folder.
 */
static int confirm(struct ingest *g, const struct segment_name *n, struct err *err)
{
	char folder[SEGMENT_PATH_MAX];
	int status;

	segment_name_folder(n, folder);
	status = make_folders(g, folder);
	if (status == 0)
		status = sync_folder(store_dir_fd(g->store), folder);
	if (status < 0)
		return err_set(err, -status, "%s/%s: %s", store_dir(g->store), folder,
			       strerror(-status));
	return 0;
}

static void catalog_note(struct ingest *g, const struct segment_facts *f, bool stored)
{
	struct segment_hash known;

	pthread_mutex_lock(&g->catalog);
	if ((stored || catalog_hash(store_catalog(g->store), &f->name, &known, NULL) < 0) &&
	    catalog_put(store_catalog(g->store), f, NULL) < 0)
		g->counts.nr_catalog_errors++;
	if (stored) {
		g->counts.nr_stored++;
		g->counts.stored_bytes += f->file_bytes;
	} else {
		g->counts.nr_repeated++;
	}
	pthread_mutex_unlock(&g->catalog);
}

static void count_failure(struct ingest *g, int status)
{
	pthread_mutex_lock(&g->catalog);
	switch (status) {
	case -EBADMSG:
	case -EPROTONOSUPPORT:
	case -EFBIG:
	case -EINVAL:
		g->counts.nr_damaged++;
		break;
	case -EEXIST:
		g->counts.nr_conflicts++;
		break;
	default:
		g->counts.nr_disk_errors++;
	}
	pthread_mutex_unlock(&g->catalog);
}

static pthread_mutex_t *name_lock(struct ingest *g, const struct segment_name *n)
{
	uint64_t sum = n->sequence + n->epoch;

	for (const char *p = n->host; *p; p++)
		sum = sum * 31 + (unsigned char)*p;
	return &g->names[sum % NR_NAME_LOCKS];
}

/* Stores a checked segment unless it is there; the caller holds the lock of its name. */
static int put_locked(struct ingest *g, const struct segment_facts *f, const void *data, size_t len,
		      bool *stored, struct err *err)
{
	int status = look_up(g, f, err);

	if (status < 0)
		return status;
	*stored = status == 0;
	if (*stored) {
		status = store_file(g, &f->name, data, len, err);
		if (status == -EEXIST) { /* another process was faster */
			*stored = false;
			status = look_up(g, f, err);
			if (status == 0) /* and took it away again */
				status = err_set(err, EAGAIN, "%s: changed while it was stored",
						 f->name.host);
		}
	}
	if (!*stored && status >= 0)
		status = confirm(g, &f->name, err);
	if (status == 0)
		catalog_note(g, f, *stored);
	return status;
}

int ingest_put(struct ingest *g, const struct segment_name *expected, const void *data, size_t len,
	       struct ingest_result *result, struct err *err)
{
	struct segment_facts facts;
	pthread_mutex_t *lock;
	bool stored = false;
	int status = segment_facts_read(&facts, data, len, err);

	if (status == 0 && expected && segment_name_compare(expected, &facts.name) != 0)
		status = err_set(err, EINVAL,
				 "header: expected %s/%s/%llu/%llu, got %s/%s/%llu/%llu",
				 expected->host, expected->boot_id,
				 (unsigned long long)expected->epoch,
				 (unsigned long long)expected->sequence, facts.name.host,
				 facts.name.boot_id, (unsigned long long)facts.name.epoch,
				 (unsigned long long)facts.name.sequence);
	if (status == 0) {
		lock = name_lock(g, &facts.name);
		pthread_mutex_lock(lock);
		status = put_locked(g, &facts, data, len, &stored, err);
		pthread_mutex_unlock(lock);
	}
	if (status == 0)
		*result = (struct ingest_result){ facts.name, facts.hash, stored };
	else
		count_failure(g, status);
	segment_facts_release(&facts);
	return status;
}

int ingest_find(struct ingest *g, const struct segment_name *name, const char *hash,
		struct ingest_result *result)
{
	struct segment_facts facts = { .name = *name };
	pthread_mutex_t *lock = name_lock(g, name);
	unsigned int byte;
	int found;

	for (size_t i = 0; i < sizeof(facts.hash.bytes); i++) {
		if (sscanf(hash + 2 * i, "%2x", &byte) != 1)
			return 0;
		facts.hash.bytes[i] = (uint8_t)byte;
	}
	pthread_mutex_lock(lock);
	found = look_up(g, &facts, NULL) == 1 && confirm(g, name, NULL) == 0;
	pthread_mutex_unlock(lock);
	if (!found)
		return 0;
	pthread_mutex_lock(&g->catalog);
	g->counts.nr_repeated++;
	pthread_mutex_unlock(&g->catalog);
	*result = (struct ingest_result){ *name, facts.hash, false };
	return 1;
}

struct ingest_counts ingest_counted(struct ingest *g)
{
	struct ingest_counts counts;

	pthread_mutex_lock(&g->catalog);
	counts = g->counts;
	pthread_mutex_unlock(&g->catalog);
	return counts;
}

int ingest_each_stream(struct ingest *g, const char *host,
		       int (*visit)(void *ctx, const struct segment_name *highest, uint64_t count),
		       void *ctx, struct err *err)
{
	int status;

	pthread_mutex_lock(&g->catalog);
	status = catalog_each_stream(store_catalog(g->store), host, visit, ctx, err);
	pthread_mutex_unlock(&g->catalog);
	return status;
}
