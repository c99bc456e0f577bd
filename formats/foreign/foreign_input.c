/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/foreign/foreign_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#ifndef FOREIGN_READ_BYTES
#define FOREIGN_READ_BYTES (256u << 10)
#endif
#define ROOM_BYTES (FOREIGN_LINE_MAX + FOREIGN_READ_BYTES)
#define ZLIB_AUTO  (15 + 32) /* largest window; the header decides between gzip and zlib */
/*
 * zstd keeps a window in memory whose size the file chooses, up to 128 MiB; 32 MiB are allowed
 * here.
 */
#define ZSTD_WINDOW_LOG_MAX 25

enum packing { PACKING_PLAIN, PACKING_GZIP, PACKING_ZSTD };

struct foreign_input {
	char *path;
	int fd;
	bool at_end; /* the end of the decompressed data is reached */
	/* borrowed; used instead of a file: the part that has not been read */
	const uint8_t *memory;
	size_t memory_bytes;
	enum packing packing;
	uint64_t file_bytes, read_bytes;

	uint8_t *room; /* owned; ROOM_BYTES; bytes that are not taken yet lie in [from, to) */
	size_t from, to;
	uint64_t offset; /* offset of room[from] */
	uint64_t line;

	uint8_t *raw; /* owned; FOREIGN_READ_BYTES; compressed bytes in [raw_from, raw_to) */
	size_t raw_from, raw_to;
	bool raw_end;
	bool in_frame; /* the compressed stream has not ended */
	z_stream gzip;
	ZSTD_DCtx *zstd;
};

static int foreign_input_fail(const struct foreign_input *in, struct err *err, int code,
			      const char *what)
{
	return err_set(err, code, "%s: %s", in->path, what);
}

/* Reads up to nr bytes. Returns 0 at the end of the file. */
static ssize_t read_some(struct foreign_input *in, uint8_t *to, size_t nr, struct err *err)
{
	ssize_t got;

	if (in->memory) {
		nr = nr < in->memory_bytes ? nr : in->memory_bytes;
		memcpy(to, in->memory, nr);
		in->memory += nr;
		in->memory_bytes -= nr;
		in->read_bytes += nr;
		return (ssize_t)nr;
	}
	do
		got = read(in->fd, to, nr);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return foreign_input_fail(in, err, errno, strerror(errno));
	in->read_bytes += (uint64_t)got;
	return got;
}

static int fill_raw(struct foreign_input *in, struct err *err)
{
	ssize_t got;

	if (in->raw_from < in->raw_to || in->raw_end)
		return 0;
	got = read_some(in, in->raw, FOREIGN_READ_BYTES, err);
	if (got < 0)
		return (int)got;
	in->raw_from = 0;
	in->raw_to = (size_t)got;
	in->raw_end = got == 0;
	return 0;
}

/* Decompresses one step into the room. A file may hold several gzip members one after the other. */
static int foreign_input_gunzip(struct foreign_input *in, struct err *err)
{
	int status;

	in->gzip.next_in = in->raw + in->raw_from;
	in->gzip.avail_in = (uInt)(in->raw_to - in->raw_from);
	in->gzip.next_out = in->room + in->to;
	in->gzip.avail_out = (uInt)(ROOM_BYTES - in->to);
	status = inflate(&in->gzip, Z_NO_FLUSH);
	in->raw_from = in->raw_to - in->gzip.avail_in;
	in->to = ROOM_BYTES - in->gzip.avail_out;
	in->in_frame = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		status = inflateReset(&in->gzip);
	if (status != Z_OK && status != Z_BUF_ERROR)
		return foreign_input_fail(in, err, EBADMSG, "expected gzip data, it is damaged");
	return 0;
}

static int foreign_input_unzstd(struct foreign_input *in, struct err *err)
{
	ZSTD_inBuffer from = { in->raw, in->raw_to, in->raw_from };
	ZSTD_outBuffer to = { in->room, ROOM_BYTES, in->to };
	size_t left = ZSTD_decompressStream(in->zstd, &to, &from);

	if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
		return foreign_input_fail(
			in, err, EFBIG,
			"expected zstd data with a window of up to 32 MiB, decompress it first");
	if (ZSTD_isError(left))
		return foreign_input_fail(in, err, EBADMSG, "expected zstd data, it is damaged");
	in->raw_from = from.pos;
	in->to = to.pos;
	in->in_frame = left != 0;
	return 0;
}

static int fill_packed(struct foreign_input *in, struct err *err)
{
	size_t before = in->to;
	int ret = 0;

	while (ret == 0 && in->to == before && !in->at_end) {
		ret = fill_raw(in, err);
		if (ret == 0 && in->raw_end) {
			in->at_end = true;
			if (in->in_frame)
				return foreign_input_fail(
					in, err, EBADMSG,
					"expected more compressed data, the file is cut");
		} else if (ret == 0) {
			ret = in->packing == PACKING_GZIP ? foreign_input_gunzip(in, err)
							  : foreign_input_unzstd(in, err);
		}
	}
	return ret;
}

static int foreign_input_fill(struct foreign_input *in, struct err *err)
{
	size_t room = ROOM_BYTES - in->to;
	ssize_t got;

	if (in->packing != PACKING_PLAIN)
		return fill_packed(in, err);
	/* One read takes no more bytes than the processor's caches hold. */
	got = read_some(in, in->room + in->to,
			room < FOREIGN_READ_BYTES ? room : FOREIGN_READ_BYTES, err);
	if (got < 0)
		return (int)got;
	in->to += (size_t)got;
	in->at_end = got == 0;
	return 0;
}

static int foreign_input_more(struct foreign_input *in, struct err *err)
{
	if (in->from) {
		memmove(in->room, in->room + in->from, in->to - in->from);
		in->to -= in->from;
		in->from = 0;
	}
	return foreign_input_fill(in, err);
}

int foreign_input_peek(struct foreign_input *in, size_t want, const uint8_t **data, size_t *got,
		       struct err *err)
{
	while (in->to - in->from < want && !in->at_end) {
		int ret = foreign_input_more(in, err);

		if (ret < 0)
			return ret;
	}
	*data = in->room + in->from;
	*got = in->to - in->from;
	return 0;
}

void foreign_input_take(struct foreign_input *in, size_t nr)
{
	in->from += nr;
	in->offset += nr;
}

int foreign_input_line(struct foreign_input *in, const char **line, size_t *len, struct err *err)
{
	size_t searched = 0, nr;
	const char *end = NULL;

	for (;;) {
		size_t have = in->to - in->from;
		int ret;

		if (have > searched)
			end = memchr(in->room + in->from + searched, '\n', have - searched);
		if (end || have >= FOREIGN_LINE_MAX || in->at_end)
			break;
		searched = have;
		ret = foreign_input_more(in, err);
		if (ret < 0)
			return ret;
	}
	if (in->from == in->to)
		return 0;
	*line = (const char *)in->room + in->from;
	nr = end ? (size_t)(end - *line) : in->to - in->from;
	foreign_input_take(in, nr + (end != NULL));
	if (nr && (*line)[nr - 1] == '\r')
		nr--;
	*len = nr;
	in->line++;
	return 1;
}

/*
 * Recognizes the compression by the first bytes of the file, which are in the room and move to raw
 * where they are compressed.
 */
static int find_packing(struct foreign_input *in, struct err *err)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	const uint8_t *head;
	size_t got;
	int ret = foreign_input_peek(in, sizeof(zstd), &head, &got, err);

	if (ret < 0)
		return ret;
	if (got >= sizeof(gzip) && memcmp(head, gzip, sizeof(gzip)) == 0) {
		in->packing = PACKING_GZIP;
		if (inflateInit2(&in->gzip, ZLIB_AUTO) != Z_OK)
			return -ENOMEM;
	} else if (got >= sizeof(zstd) && memcmp(head, zstd, sizeof(zstd)) == 0) {
		in->packing = PACKING_ZSTD;
		in->zstd = ZSTD_createDCtx();
		if (!in->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax,
								     ZSTD_WINDOW_LOG_MAX)))
			return -ENOMEM;
	} else {
		return 0;
	}
	memcpy(in->raw, head, got);
	in->raw_to = got;
	in->to = 0;
	in->at_end = false;
	in->in_frame = true;
	return 0;
}

static int open_file(struct foreign_input *in, const char *path, struct err *err)
{
	struct stat st;

	in->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					: open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (fstat(in->fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "%s: expected a trace file, it is a folder", path);
	in->file_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return find_packing(in, err);
}

/* Opens memory or, if memory is NULL, the file of that path. */
static int open_any(struct foreign_input **out, const char *path, const void *memory, size_t len,
		    struct err *err)
{
	struct foreign_input *in = calloc(1, sizeof(*in));
	int ret = -ENOMEM;

	if (!in)
		return err_set(err, ENOMEM, "out of memory");
	in->fd = -1;
	in->memory = memory;
	in->memory_bytes = in->file_bytes = len;
	in->path = strdup(!memory && strcmp(path, "-") == 0 ? "standard input" : path);
	in->room = malloc(ROOM_BYTES);
	in->raw = malloc(FOREIGN_READ_BYTES + sizeof(uint64_t)); /* the head and one read */
	if (in->path && in->room && in->raw)
		ret = memory ? find_packing(in, err) : open_file(in, path, err);
	if (ret < 0) {
		foreign_input_free(in);
		return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
	}
	*out = in;
	return 0;
}

int foreign_input_open(struct foreign_input **out, const char *path, struct err *err)
{
	return open_any(out, path, NULL, 0, err);
}

int foreign_input_open_memory(struct foreign_input **out, const char *name, const void *data,
			      size_t len, struct err *err)
{
	return open_any(out, name, data, len, err);
}

void foreign_input_free(struct foreign_input *in)
{
	if (!in)
		return;
	if (in->packing == PACKING_GZIP)
		inflateEnd(&in->gzip);
	ZSTD_freeDCtx(in->zstd);
	if (in->fd >= 0)
		close(in->fd);
	free(in->path);
	free(in->room);
	free(in->raw);
	free(in);
}

const char *foreign_input_path(const struct foreign_input *in)
{
	return in->path;
}

uint64_t foreign_input_offset(const struct foreign_input *in)
{
	return in->offset;
}

uint64_t foreign_input_line_number(const struct foreign_input *in)
{
	return in->line;
}

uint64_t foreign_input_read_bytes(const struct foreign_input *in)
{
	return in->read_bytes;
}

uint64_t foreign_input_file_bytes(const struct foreign_input *in)
{
	return in->file_bytes;
}
