/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exchange/whole_segments.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/store/damage.h"
#include "analyzer/store/scan/scan_piece.h"
#include "base/system/output_file.h"
#include "formats/hide/redact.h"

static int read_piece(const struct store *store, const struct scan_piece *p, struct buf *data,
		      struct err *err)
{
	struct segment_reader *reader = NULL;
	char path[SEGMENT_PATH_MAX];
	int ret;

	if (p->file)
		return scan_read_file(p->file, p->file_offset, p->file_bytes, data, err);
	segment_name_path(&p->name, path);
	ret = store_read(store, path, data, err);
	if (ret)
		goto out;
	ret = segment_reader_new(&reader, data->data, data->len, err);
out:
	segment_reader_free(reader);
	return ret;
}

/*
 * Returns whether all other segments of the store can be written without this one; it is then noted
 * as damaged.
 */
static bool leave_out(const struct store *store, const struct scan_piece *p, int status,
		      struct err *err)
{
	char path[SEGMENT_PATH_MAX];

	if (status == -ENOMEM)
		return false;
	segment_name_path(&p->name, path);
	damage_note(store_dir(store), path, damage_is_unread(status), err->line);
	*err = (struct err){ 0 };
	return true;
}

int whole_segments_each(const struct whole_segments *from,
			int (*visit)(void *ctx, const struct buf *segment, struct err *err),
			void *ctx, struct whole_segments_counts *counts, struct err *err)
{
	const struct scan_filter all = { .hosts = NULL };
	const struct scan_filter *filter = from->filter ? from->filter : &all;
	struct scan_pieces pieces = { .items = NULL };
	struct store *store = NULL;
	struct buf data;
	int ret = 0;

	buf_init(&data);
	if (from->store) {
		ret = store_open(&store, from->store, false, err);
		if (ret)
			goto out;
	}
	ret = store ? scan_pieces_of_store(&pieces, store, filter, err)
		    : scan_pieces_of_files(&pieces, from->paths, from->nr_paths, filter, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < pieces.nr; i++) {
		ret = read_piece(store, &pieces.items[i], &data, err);
		if (ret && store && leave_out(store, &pieces.items[i], ret, err)) {
			ret = 0;
			continue;
		}
		if (ret)
			goto out;
		ret = visit(ctx, &data, err);
		if (ret)
			goto out;
		counts->nr_segments++;
		counts->nr_requests += pieces.items[i].nr_requests;
	}
out:
	buf_release(&data);
	scan_pieces_release(&pieces);
	store_close(store);
	return ret;
}

struct writing {
	FILE *out;
	struct redactor *redactor;
	struct buf hidden;
	uint64_t bytes;
};

static int write_one(void *ctx, const struct buf *segment, struct err *err)
{
	struct writing *w = ctx;
	int ret = 0;

	if (w->redactor) {
		buf_clear(&w->hidden);
		ret = redactor_segment(w->redactor, segment->data, segment->len, &w->hidden, err);
		segment = &w->hidden;
	}
	if (ret)
		return ret;
	if (fwrite(segment->data, 1, segment->len, w->out) != segment->len)
		return err_set(err, errno ? errno : EIO, "the output: %s",
			       strerror(errno ? errno : EIO));
	w->bytes += segment->len;
	return 0;
}

int whole_segments_write(const struct whole_segments *from, struct redactor *r, FILE *out,
			 struct whole_segments_counts *counts, struct err *err)
{
	struct writing w = { .out = out, .redactor = r };
	int ret;

	*counts = (struct whole_segments_counts){ 0 };
	buf_init(&w.hidden);
	ret = whole_segments_each(from, write_one, &w, counts, err);
	buf_release(&w.hidden);
	counts->bytes = w.bytes;
	if (ret)
		return ret;
	if (!counts->nr_segments)
		ret = err_set(err, ENODATA,
			      "no segment is taken: expected some of these hosts and times");
	return ret;
}

int whole_segments_write_file(const struct whole_segments *from, struct redactor *r,
			      const char *path, struct whole_segments_counts *counts,
			      struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0600, err);

	if (ret)
		return ret;
	return output_file_end(&file, whole_segments_write(from, r, file.out, counts, err), err);
}

int whole_segments_export(const struct selection *sel, const char *path, FILE *out,
			  struct whole_segments_counts *counts, struct err *err)
{
	const struct scan_filter filter = { .hosts = sel->hosts.items,
					    .nr_hosts = sel->hosts.nr,
					    .begin_real_ns = sel->begin_real_ns,
					    .end_real_ns = sel->end_real_ns };
	const struct whole_segments from = {
		.store = sel->dir, .paths = sel->files, .nr_paths = sel->nr_files, .filter = &filter
	};
	int ret = path ? whole_segments_write_file(&from, NULL, path, counts, err)
		       : whole_segments_write(&from, NULL, out, counts, err);

	if (ret == -ENODATA)
		ret = selection_says_nothing(sel, err) ? -EINVAL : ret;
	return ret;
}

int whole_segments_redact(const char *in, const struct scan_filter *filter, const char *key_file,
			  const char *path, struct whole_segments_counts *counts, struct err *err)
{
	struct whole_segments from = { .filter = filter };
	struct pseudonym_key key = { .bytes = { 0 } };
	struct redactor *r = NULL;
	struct stat st;
	int ret;

	if (store_is_folder(in) && stat(in, &st))
		return err_set(err, errno, "%s: %s", in, strerror(errno));
	if (!store_is_folder(in) || S_ISDIR(st.st_mode)) {
		from.store = in;
	} else {
		from.paths = &in;
		from.nr_paths = 1;
	}
	ret = key_file ? pseudonym_key_read(&key, key_file, err) : pseudonym_key_random(&key, err);
	if (ret)
		goto out;
	if (redactor_new(&r, &key))
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	ret = whole_segments_write_file(&from, r, path, counts, err);
out:
	redactor_free(r);
	pseudonym_key_forget(&key);
	return ret;
}
