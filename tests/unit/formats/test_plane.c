/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/memory/varint.h"
#include "formats/segment/plane.h"
#include "tests/support/tap.h"

static int plane_verdict(const char *bytes, size_t len, size_t nr)
{
	struct cursor c = cursor_make(bytes, len);
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	const uint8_t *at = NULL;
	uint8_t *owned = NULL;
	int ret = plane_get(&c, zstd, nr, &at, &owned);

	ZSTD_freeDCtx(zstd);
	free(owned);
	return ret;
}
#define PLANE(bytes, nr) plane_verdict(bytes, sizeof(bytes) - 1, nr)

static void planes_are_checked(void)
{
	char frame_of_8[64] = { PLANE_ZSTD }, eight[8] = "abcdefgh";
	size_t len = ZSTD_compress(frame_of_8 + 2, 60, eight, 8, 1);

	ok_int(PLANE("", 0), 0);
	ok_int(PLANE("", 4), -EBADMSG);
	ok_int(PLANE("\x10", 4), -EBADMSG);	/* a bit that means nothing */
	ok_int(PLANE("\x03", 4), -EBADMSG);	/* no such method */
	ok_int(PLANE("\x04\x01", 4), -EBADMSG); /* repeated and packed */
	ok_int(PLANE("\x00", 4), -EBADMSG);	/* what is repeated is cut off */
	ok_int(PLANE("\x00\x05", 4), 0);
	ok_int(PLANE("\x01"
		     "abc",
		     4),
	       -EBADMSG);
	ok_int(PLANE("\x01"
		     "abcd",
		     4),
	       0);
	ok_int(PLANE("\x05\x05", 4), 0); /* packed by bits */
	ok_int(PLANE("\x05", 4), -EBADMSG);
	ok_int(PLANE("\x02", 4), -EBADMSG);
	ok_int(PLANE("\x02\x80", 4), -EBADMSG);
	ok_int(PLANE("\x02\x09"
		     "abc",
		     4),
	       -EBADMSG); /* a frame longer than what is there */
	ok_int(PLANE("\x02\x03"
		     "abc",
		     4),
	       -EBADMSG); /* no frame */
	frame_of_8[1] = (char)len;
	ok_int(plane_verdict(frame_of_8, 2 + len, 8), 0);
	ok_int(plane_verdict(frame_of_8, 2 + len, 9), -EBADMSG); /* of another size */
	frame_of_8[1]++;
	ok_int(plane_verdict(frame_of_8, 3 + len, 8), -EBADMSG); /* with a byte after it */
	frame_of_8[1]--;
	frame_of_8[2 + 6] = 0x07; /* the block's own type: reserved */
	ok_int(plane_verdict(frame_of_8, 2 + len, 8), -EBADMSG);
}

static void frames_declare_their_size(void)
{
	char frame[64] = { PLANE_ZSTD };
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t len;

	ok(!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, 0)));
	len = ZSTD_compress2(zstd, frame + 2, sizeof(frame) - 2, "abcdefgh", 8);
	ok(!ZSTD_isError(len));
	frame[1] = (char)len;
	ok_int(plane_verdict(frame, 2 + len, 8), -EBADMSG);
	ZSTD_freeCCtx(zstd);
}

static const struct tap_test tests[] = {
	{ "planes are checked", planes_are_checked },
	{ "a frame that does not declare its size is refused", frames_declare_their_size },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
