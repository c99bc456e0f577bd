// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/intake/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/intake/ingest_commit.h"
#include "analyzer/store/intake/reader_pool.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store_home.h"
#include "analyzer/store/store_summary.h"

#define IS_SUMMARIZED 2

struct ingest {
	struct store *store;
	pthread_mutex_t catalog; /* guards the catalog and the counts */
	struct ingest_counts counts;
	struct reader_pool readers;
	struct committer committer;
	struct home_intake *intake; /* of a store that is no folder; NULL: the committer writes */
};

int ingest_new(struct ingest **out, struct store *store)
{
	struct ingest *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->store = store;
	pthread_mutex_init(&g->catalog, NULL);
	reader_pool_init(&g->readers);
	committer_init(&g->committer, store, &g->catalog, &g->counts);
	*out = g;
	return 0;
}

int ingest_new_in(struct ingest **out, struct store *store, struct err *err)
{
	struct ingest *g;
	int ret = ingest_new(&g, store);

	if (ret < 0)
		return err_set(err, -ret, "out of memory");
	if (store->home->intake_new)
		ret = store->home->intake_new(&g->intake, store, err);
	if (ret < 0)
		ingest_free(g);
	else
		*out = g;
	return ret;
}

void ingest_free(struct ingest *g)
{
	if (!g)
		return;
	if (g->intake)
		g->store->home->intake_free(g->intake);
	committer_release(&g->committer);
	reader_pool_release(&g->readers);
	pthread_mutex_destroy(&g->catalog);
	free(g);
}

int ingest_retire_beside(struct ingest *g)
{
	if (g->intake) {
		g->store->home->intake_gather(g->intake);
		return 0;
	}
	return committer_start(&g->committer);
}

void ingest_limit_journal(struct ingest *g, uint64_t bytes)
{
	g->committer.journal_limit = bytes;
}

void ingest_limit_hosts(struct ingest *g, const struct ingest_quota *quota)
{
	g->committer.quota = *quota;
	if (g->intake)
		g->store->home->intake_limit(g->intake, quota);
}

/* Does the same as look_up() for segments that are only summarized. */
static int look_summarized(struct ingest *g, const struct segment_facts *f, struct err *err)
{
	int ret = store_summary_look_up(g->store, &g->catalog, &f->name, &f->hash, err);

	return ret == 1 ? IS_SUMMARIZED : ret;
}

/*
 * Looks at what exists under the name: 1 the same content, 0 nothing, -EEXIST other content;
 * IS_SUMMARIZED: the same content was there, and retention has removed its requests.
 */
static int look_up(struct ingest *g, const struct segment_facts *f, struct err *err)
{
	char path[SEGMENT_PATH_MAX];
	struct segment_reader *turn;
	struct segment_hash known;
	struct buf data;
	int ret;

	segment_name_path(&f->name, path);
	if (faccessat(store_dir_fd(g->store), path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? look_summarized(g, f, err)
				       : err_set(err, errno, "%s/%s: %s", store_dir(g->store), path,
						 strerror(errno));
	/*
	 * The file decides and not the catalog, because another program may have replaced the file.
	 */
	/* reading the file takes as much memory as checking a segment */
	turn = reader_pool_take(&g->readers);
	buf_init(&data);
	ret = store_read(g->store, path, &data, err);
	known = segment_hash_of(data.data, data.len);
	buf_release(&data);
	reader_pool_give(&g->readers, turn);
	if (ret == -ENOENT)
		return look_summarized(g, f, err);
	if (ret < 0)
		return ret;
	if (memcmp(known.bytes, f->hash.bytes, sizeof(known.bytes)) == 0)
		return 1;
	return err_set(err, EEXIST, "%s/%s/%llu/%llu: another segment is stored under this name",
		       f->name.host, f->name.boot_id, (unsigned long long)f->name.epoch,
		       (unsigned long long)f->name.sequence);
}

/*
 * Another program may have put the file there without syncing it, so it is synced before it is
 * acknowledged again.
 */
static int ingest_confirm(struct ingest *g, const struct segment_facts *f, struct err *err)
{
	int ret = segment_place_sync(store_dir_fd(g->store), &f->name);
	struct catalog *c = store_catalog(g->store);
	struct segment_hash known;
	uint64_t first, generation;

	if (ret == -ENOENT && look_summarized(g, f, err) == IS_SUMMARIZED)
		ret = 0;
	if (ret < 0)
		return err_set(err, -ret, "%s/%s: %s", store_dir(g->store), f->name.host,
			       strerror(-ret));
	pthread_mutex_lock(&g->catalog);
	/*
	 * The segment's row is looked up first: it disappears and the summary's appears in one
	 * transaction.
	 */
	if (f->file_bytes && catalog_hash(c, &f->name, &known, NULL) < 0 &&
	    catalog_find_summary(c, &f->name, &first, &generation, NULL) == 0 &&
	    catalog_put(c, f, NULL) < 0)
		g->counts.nr_catalog_errors++;
	g->counts.nr_repeated++;
	pthread_mutex_unlock(&g->catalog);
	return 0;
}

/* The content of a summary was durable before the files of its segments were removed. */
static void count_repeated(struct ingest *g)
{
	pthread_mutex_lock(&g->catalog);
	g->counts.nr_repeated++;
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
	case -EILSEQ:
		g->counts.nr_damaged++;
		break;
	case -EEXIST:
		g->counts.nr_conflicts++;
		break;
	case -EDQUOT:
	case -EUSERS:
		g->counts.nr_over_quota++;
		break;
	default:
		g->counts.nr_disk_errors++;
	}
	pthread_mutex_unlock(&g->catalog);
}

/* Describes in a sentence why a commit failed. */
static int put_error(const struct ingest *g, const struct segment_facts *f, int ret,
		     struct err *err)
{
	const char *host = f->name.host;

	if (ret == -EUSERS)
		return err_set(
			err, -ret,
			"host %s: its quota of segments a day is used up; the segment can be "
			"stored tomorrow (UTC)",
			host);
	if (ret == -EDQUOT)
		return err_set(
			err, -ret,
			"host %s: its quota of the store is used up; the segment can be stored "
			"once retention has made room, or with a larger quota",
			host);
	return err_set(err, -ret, "%s: %s", store_dir(g->store), strerror(-ret));
}

/* Does the same for a cluster, which reports only afterwards whether the segment was there. */
static int ingest_put_home(struct ingest *g, const struct segment_facts *f, const void *data,
			   size_t len, bool *stored, struct err *err)
{
	const struct home_segment one = { f, data, len };
	int ret = g->store->home->intake_put(g->intake, &one, err);

	*stored = ret == 0;
	pthread_mutex_lock(&g->catalog);
	g->counts.nr_stored += ret == 0;
	g->counts.stored_bytes += ret == 0 ? len : 0;
	g->counts.nr_repeated += ret == -EALREADY;
	pthread_mutex_unlock(&g->catalog);
	return ret == -EALREADY ? 0 : ret;
}

/* Stores a checked segment unless it exists already. */
static int put(struct ingest *g, const struct segment_facts *f, const void *data, size_t len,
	       bool *stored, struct err *err)
{
	int ret = committer_put(&g->committer, f, data, len);

	*stored = ret == 0;
	if (*stored)
		return 0;
	if (ret != -EALREADY)
		return put_error(g, f, ret, err);
	ret = look_up(g, f, err);
	if (ret == 0) /* it has disappeared again */
		return err_set(err, EAGAIN, "%s: changed while it was stored", f->name.host);
	if (ret == IS_SUMMARIZED) {
		count_repeated(g);
		return 0;
	}
	return ret < 0 ? ret : ingest_confirm(g, f, err);
}

/*
 * The segment was found valid before it was stored, so that these codes come from the disk or from
 * the engines of a cluster: a damaged file system answers EBADMSG, and an object store that refuses
 * a request does so as well. A sender would give up its segment if it were blamed for that.
 */
static int ingest_code_of_home(int ret)
{
	switch (ret) {
	case -EBADMSG:
	case -EPROTONOSUPPORT:
	case -EFBIG:
	case -EINVAL:
		return -EIO;
	default:
		return ret;
	}
}

int ingest_put(struct ingest *g, const struct segment_name *expected, const void *data, size_t len,
	       struct ingest_result *result, struct err *err)
{
	struct segment_reader *reader = reader_pool_take(&g->readers);
	struct segment_facts facts;
	bool stored = false;
	int ret = segment_facts_read_with(&facts, &reader, data, len, err);

	reader_pool_give(&g->readers, reader);
	if (ret == 0 && expected && segment_name_compare(expected, &facts.name) != 0)
		ret = err_set(err, EINVAL, "header: expected %s/%s/%llu/%llu, got %s/%s/%llu/%llu",
			      expected->host, expected->boot_id,
			      (unsigned long long)expected->epoch,
			      (unsigned long long)expected->sequence, facts.name.host,
			      facts.name.boot_id, (unsigned long long)facts.name.epoch,
			      (unsigned long long)facts.name.sequence);
	if (ret == 0)
		ret = ingest_code_of_home(
			g->intake ? ingest_put_home(g, &facts, data, len, &stored, err)
				  : put(g, &facts, data, len, &stored, err));
	if (ret == 0)
		*result = (struct ingest_result){ facts.name, facts.hash, stored,
						  stored ? facts.ledger.total[LOSS_KEPT_BACK] : 0 };
	else
		count_failure(g, ret);
	segment_facts_release(&facts);
	return ret;
}

int ingest_find(struct ingest *g, const struct segment_name *name, const char *hash,
		struct ingest_result *result)
{
	struct segment_facts facts = { .name = *name };
	unsigned int byte;
	int status;

	/*
	 * A cluster can only promise by a commit: the sender sends the segment again, and gets one.
	 */
	if (g->intake)
		return 0;
	for (size_t i = 0; i < sizeof(facts.hash.bytes); i++) {
		if (sscanf(hash + 2 * i, "%2x", &byte) != 1)
			return 0;
		facts.hash.bytes[i] = (uint8_t)byte;
	}
	status = look_up(g, &facts, NULL);
	if (status == IS_SUMMARIZED)
		count_repeated(g);
	else if (status != 1 || ingest_confirm(g, &facts, NULL) < 0)
		return 0;
	*result = (struct ingest_result){ .name = *name, .hash = facts.hash };
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

int ingest_stream(struct ingest *g, struct segment_name *n, bool exactly, struct err *err)
{
	int ret;

	if (g->intake)
		return g->store->home->intake_stream(g->intake, n, exactly, err);
	pthread_mutex_lock(&g->catalog);
	ret = exactly ? catalog_stream(store_catalog(g->store), n, err)
		      : catalog_next_stream(store_catalog(g->store), n, err);
	pthread_mutex_unlock(&g->catalog);
	return ret;
}
