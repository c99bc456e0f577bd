/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_borders: tells MemorySanitizer what libraries do that are not built with it (zstd, zlib,
 * msgpack, jansson, xxhash). Linked into the fuzz targets of make check-msan alone.
 *
 * The sanitizer sees neither that a library sets memory nor that it reads some. Therefore each call
 * by which a decoder hands memory over goes through a function here, which the linker puts in its
 * place (--wrap): what the library has written counts as set, and what the library reads must have
 * been set. What a library allocates for itself during such a call counts as set as well. This file
 * itself is built without the sanitizer.
 *
 * MEMORY_BORDERS_FAIL=1 in the environment reads a byte that was never set and ends the program by
 * a report: make check-msan proves with it that the sanitizer is at work.
 */
#include <jansson.h>
#include <msgpack.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static __thread int in_library;

/* A library also calls the C library, with memory of its own that the sanitizer does not know. */
static void memory_borders_enter(void)
{
	in_library++;
	__msan_scoped_disable_interceptor_checks();
}

static void memory_borders_leave(void)
{
	__msan_scoped_enable_interceptor_checks();
	in_library--;
}

static void memory_borders_malloc(const volatile void *at, size_t size)
{
	if (in_library)
		__msan_unpoison(at, size);
}

static void memory_borders_free(const volatile void *at)
{
	(void)at;
}

/* jansson's values live longer than a call, and every byte of them is jansson's own. */
static void *memory_borders_json_malloc(size_t size)
{
	void *at = malloc(size);

	if (at)
		__msan_unpoison(at, size);
	return at;
}

static void memory_borders_prove(void)
{
	void *byte = malloc(1);

	__msan_check_mem_is_initialized(byte, 1);
	free(byte);
}

__attribute__((constructor)) static void memory_borders_begin(void)
{
	__sanitizer_install_malloc_and_free_hooks(memory_borders_malloc, memory_borders_free);
	json_set_alloc_funcs(memory_borders_json_malloc, free);
	if (getenv("MEMORY_BORDERS_FAIL"))
		memory_borders_prove();
}

#define MEMORY_BORDER(type, name, ...)   \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

static void memory_borders_wrote(void *at, size_t room, size_t nr)
{
	if (!ZSTD_isError(nr))
		__msan_unpoison(at, nr < room ? nr : room);
}

MEMORY_BORDER(size_t, ZSTD_compress, void *to, size_t room, const void *from, size_t len, int level)
{
	size_t nr;

	__msan_check_mem_is_initialized(from, len);
	nr = __real_ZSTD_compress(to, room, from, len, level);
	memory_borders_wrote(to, room, nr);
	return nr;
}

MEMORY_BORDER(size_t, ZSTD_compress2, ZSTD_CCtx *zstd, void *to, size_t room, const void *from,
	      size_t len)
{
	size_t nr;

	__msan_check_mem_is_initialized(from, len);
	nr = __real_ZSTD_compress2(zstd, to, room, from, len);
	memory_borders_wrote(to, room, nr);
	return nr;
}

MEMORY_BORDER(size_t, ZSTD_decompressDCtx, ZSTD_DCtx *zstd, void *to, size_t room, const void *from,
	      size_t len)
{
	size_t nr;

	__msan_check_mem_is_initialized(from, len);
	nr = __real_ZSTD_decompressDCtx(zstd, to, room, from, len);
	memory_borders_wrote(to, room, nr);
	return nr;
}

MEMORY_BORDER(size_t, ZSTD_decompressStream, ZSTD_DStream *zstd, ZSTD_outBuffer *to,
	      ZSTD_inBuffer *from)
{
	size_t before = to->pos, ret;

	__msan_check_mem_is_initialized((const char *)from->src + from->pos,
					from->size - from->pos);
	ret = __real_ZSTD_decompressStream(zstd, to, from);
	__msan_unpoison((char *)to->dst + before, to->pos - before);
	return ret;
}

MEMORY_BORDER(int, inflate, z_stream *z, int flush)
{
	unsigned char *before = z->next_out;
	int ret;

	__msan_check_mem_is_initialized(z->next_in, z->avail_in);
	ret = __real_inflate(z, flush);
	__msan_unpoison(z, sizeof(*z));
	__msan_unpoison(before, (size_t)(z->next_out - before));
	return ret;
}

MEMORY_BORDER(msgpack_unpack_return, msgpack_unpack_next, msgpack_unpacked *result,
	      const char *data, size_t len, size_t *off)
{
	msgpack_unpack_return ret;

	__msan_check_mem_is_initialized(data, len);
	memory_borders_enter();
	ret = __real_msgpack_unpack_next(result, data, len, off);
	memory_borders_leave();
	__msan_unpoison(result, sizeof(*result));
	__msan_unpoison(off, sizeof(*off));
	return ret;
}

MEMORY_BORDER(json_t *, json_loadb, const char *text, size_t len, size_t flags, json_error_t *error)
{
	json_t *value;

	__msan_check_mem_is_initialized(text, len);
	memory_borders_enter();
	value = __real_json_loadb(text, len, flags, error);
	memory_borders_leave();
	if (error)
		__msan_unpoison(error, sizeof(*error));
	return value;
}

struct memory_borders_dump {
	json_dump_callback_t put;
	void *ctx;
};

/* Called by jansson; the sanitizer must hear that the arguments of the next call are set. */
static int memory_borders_put(const char *text, size_t len, void *ctx)
{
	const struct memory_borders_dump *d = ctx;
	int ret;

	memory_borders_leave();
	__msan_unpoison(text, len);
	__msan_unpoison_param(3);
	ret = d->put(text, len, d->ctx);
	memory_borders_enter();
	return ret;
}

MEMORY_BORDER(int, json_dump_callback, const json_t *value, json_dump_callback_t put, void *ctx,
	      size_t flags)
{
	struct memory_borders_dump d = { put, ctx };
	int ret;

	memory_borders_enter();
	ret = __real_json_dump_callback(value, memory_borders_put, &d, flags);
	memory_borders_leave();
	return ret;
}

MEMORY_BORDER(XXH64_hash_t, XXH3_64bits, const void *data, size_t len)
{
	__msan_check_mem_is_initialized(data, len);
	return __real_XXH3_64bits(data, len);
}

MEMORY_BORDER(void, XXH128_canonicalFromHash, XXH128_canonical_t *to, XXH128_hash_t hash)
{
	__real_XXH128_canonicalFromHash(to, hash);
	__msan_unpoison(to, sizeof(*to));
}
