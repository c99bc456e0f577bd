// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server_head.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LENGTH_DIGITS 19 /* every number of so many digits fits into 64 bits */

/* The characters that the name of a field may have: RFC 9110, section 5.6.2, "token". */
#define TOKEN_CHARS                  \
	"!#$%&'*+-.^_`|~0123456789"  \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HEX_DIGITS "0123456789abcdefABCDEF"

static const char *const field_names[NR_HEAD_FIELDS] = {
	[HEAD_CONTENT_LENGTH] = "Content-Length",
	[HEAD_TRANSFER_ENCODING] = "Transfer-Encoding",
	[HEAD_HOST] = "Host",
	[HEAD_AUTHORIZATION] = "Authorization",
	[HEAD_BLKCAST_HASH] = "Blkcast-Hash",
	[HEAD_EXPECT] = "Expect",
};

int head_segment_path(const char *path, struct segment_name *name, struct err *err)
{
	char copy[SEGMENT_PATH_MAX];
	char *part[4] = { NULL };
	char *rest = copy;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return err_set(err, EINVAL, "path: too long");
	for (int i = 0; i < 4; i++)
		part[i] = strsep(&rest, "/"); /* strsep() gives NULL once nothing is left. */
	if (rest || !part[3])
		return err_set(err, EINVAL,
			       "path: expected " SEGMENTS_PREFIX "HOST/BOOT_ID/EPOCH/SEQUENCE");
	return segment_name_parse(name, part[0], part[1], part[2], part[3], err);
}

int head_segment_hash(const char *text, char out[SEGMENT_HASH_TEXT], struct err *err)
{
	if (!text || strlen(text) != SEGMENT_HASH_TEXT - 1 ||
	    strspn(text, HEX_DIGITS) != SEGMENT_HASH_TEXT - 1)
		return err_set(err, EINVAL, "Blkcast-Hash: expected 32 hexadecimal digits");
	for (int i = 0; i < SEGMENT_HASH_TEXT; i++)
		out[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);
	return 0;
}

int head_streams(const char *host, const char *boot_id, const char *epoch, const char *from_boot_id,
		 const char *from_epoch, struct head_streams *out, struct err *err)
{
	struct head_streams asked = { .is_boot = boot_id != NULL, .is_exact = epoch != NULL };
	const char *boot = boot_id ? boot_id : from_boot_id;
	const char *number = epoch ? epoch : from_epoch ? from_epoch : "0";
	int ret;

	if ((epoch && !boot_id) || (from_epoch && !from_boot_id) || (boot_id && from_boot_id))
		return err_set(err, EINVAL,
			       "query: expected boot_id, boot_id and epoch, or from_boot_id and "
			       "from_epoch");
	if (!segment_word_ok(host))
		return err_set(err, EINVAL, "path: expected " STREAMS_PREFIX "HOST");
	ret = segment_name_parse(&asked.from, host, boot ? boot : "any", number, "0", err);
	if (ret < 0)
		return ret;
	if (!boot)
		asked.from.boot_id[0] = '\0';
	*out = asked;
	return 0;
}

static bool head_is_token(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!text[i] || !strchr(TOKEN_CHARS, text[i]))
			return false;
	return bytes > 0;
}

static bool head_is_number(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return bytes > 0 && bytes <= LENGTH_DIGITS;
}

static void head_check_value(struct head_check *check, enum head_field field, const char *value,
			     size_t bytes)
{
	if (++check->nr[field] > 1)
		err_set(&check->err, EINVAL, "%s: expected it once", field_names[field]);
	else if (field == HEAD_CONTENT_LENGTH && !head_is_number(value, bytes))
		err_set(&check->err, EINVAL, "Content-Length: expected a number of bytes");
	else if (field == HEAD_TRANSFER_ENCODING &&
		 (bytes != strlen("chunked") || strncasecmp(value, "chunked", bytes) != 0))
		err_set(&check->err, EINVAL, "Transfer-Encoding: expected 'chunked'");
}

/* RFC 9110, section 5.5: a value never contains control characters other than the tab. */
static bool head_is_value(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

/*
 * libmicrohttpd 0.9.75 appends a value that continues in the next line ("Content-Length:\r\n 5") to
 * the name of the field. A proxy then sees the length of the body, while this server sees an
 * unknown field.
 */
static bool head_is_folded(const char *name, size_t bytes)
{
	for (int i = HEAD_CONTENT_LENGTH; i <= HEAD_TRANSFER_ENCODING; i++)
		if (bytes > strlen(field_names[i]) &&
		    strncasecmp(name, field_names[i], strlen(field_names[i])) == 0)
			return true;
	return false;
}

void head_check_field(struct head_check *check, const char *name, size_t name_bytes,
		      const char *value, size_t value_bytes)
{
	if (check->err.code)
		return;
	if (!name || !head_is_token(name, name_bytes) || head_is_folded(name, name_bytes)) {
		err_set(&check->err, EINVAL,
			"header: a field is not a word, a colon and a value in one line");
		return;
	}
	if (value && !head_is_value(value, value_bytes)) {
		err_set(&check->err, EINVAL, "%.*s: expected no control character",
			(int)(name_bytes < 64 ? name_bytes : 64), name);
		return;
	}
	for (int i = 0; i < NR_HEAD_FIELDS; i++)
		if (name_bytes == strlen(field_names[i]) &&
		    strncasecmp(name, field_names[i], name_bytes) == 0)
			head_check_value(check, (enum head_field)i, value ? value : "",
					 value ? value_bytes : 0);
}

int head_check_end(const struct head_check *check, bool is_http_1_1, struct err *err)
{
	if (check->err.code)
		return err_set(err, check->err.code, "%s", check->err.line);
	if (check->nr[HEAD_TRANSFER_ENCODING] && check->nr[HEAD_CONTENT_LENGTH])
		return err_set(err, EINVAL,
			       "Content-Length: expected none beside Transfer-Encoding");
	if (check->nr[HEAD_TRANSFER_ENCODING] && !is_http_1_1)
		return err_set(err, EINVAL, "Transfer-Encoding: expected none in HTTP/1.0");
	return 0;
}
