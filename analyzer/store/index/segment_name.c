// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/index/segment_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int segment_name_check(const struct segment_name *n, struct err *err)
{
	int ret = segment_word_check("host", n->host, err);

	if (ret == 0)
		ret = segment_word_check("boot_id", n->boot_id, err);
	if (ret < 0)
		return ret;
	if (n->epoch > SEGMENT_EPOCH_MAX)
		return err_set(err, EINVAL, "epoch: expected below 2^63, got %" PRIu64, n->epoch);
	if (n->sequence > SEGMENT_SEQUENCE_MAX)
		return err_set(err, EINVAL, "sequence: expected ten digits at most, got %" PRIu64,
			       n->sequence);
	return 0;
}

/* Parses at most 20 digits and nothing else, without overflow. */
static int parse_number(const char *field, const char *text, uint64_t *out, struct err *err)
{
	size_t len = strspn(text, "0123456789");
	uint64_t value = 0;

	if (len == 0 || len > 20 || text[len])
		return err_set(err, EINVAL, "%s: expected a decimal number, got '%.80s'", field,
			       text);
	for (size_t i = 0; i < len; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return err_set(err, EINVAL, "%s: expected below 2^64, got %s", field, text);
	*out = value;
	return 0;
}

int segment_name_parse(struct segment_name *n, const char *host, const char *boot_id,
		       const char *epoch, const char *sequence, struct err *err)
{
	struct segment_name got = { .epoch = 0 };
	int ret = segment_word_check("host", host, err);

	if (ret == 0)
		ret = segment_word_check("boot_id", boot_id, err);
	if (ret == 0)
		ret = parse_number("epoch", epoch, &got.epoch, err);
	if (ret == 0)
		ret = parse_number("sequence", sequence, &got.sequence, err);
	if (ret < 0)
		return ret;
	snprintf(got.host, sizeof(got.host), "%s", host);
	snprintf(got.boot_id, sizeof(got.boot_id), "%s", boot_id);
	ret = segment_name_check(&got, err);
	if (ret == 0)
		*n = got;
	return ret;
}

int segment_name_of(struct segment_name *n, const struct segment_header *h, struct err *err)
{
	struct segment_name got = { .epoch = h->epoch, .sequence = h->sequence };
	int ret;

	snprintf(got.host, sizeof(got.host), "%s", h->host);
	snprintf(got.boot_id, sizeof(got.boot_id), "%s", h->boot_id);
	ret = segment_name_check(&got, err);
	if (ret == 0)
		*n = got;
	return ret;
}

void segment_name_folder(const struct segment_name *n, char out[SEGMENT_PATH_MAX])
{
	snprintf(out, SEGMENT_PATH_MAX, "segments/%s/%s/%020" PRIu64, n->host, n->boot_id,
		 n->epoch);
}

void segment_name_path(const struct segment_name *n, char out[SEGMENT_PATH_MAX])
{
	snprintf(out, SEGMENT_PATH_MAX, "segments/%s/%s/%020" PRIu64 "/%010" PRIu64 ".seg", n->host,
		 n->boot_id, n->epoch, n->sequence);
}

int segment_name_compare(const struct segment_name *a, const struct segment_name *b)
{
	int order = strcmp(a->host, b->host);

	if (!order)
		order = strcmp(a->boot_id, b->boot_id);
	if (!order)
		order = (a->epoch > b->epoch) - (a->epoch < b->epoch);
	if (!order)
		order = (a->sequence > b->sequence) - (a->sequence < b->sequence);
	return order;
}

bool segment_name_same_stream(const struct segment_name *a, const struct segment_name *b)
{
	return a->epoch == b->epoch && !strcmp(a->boot_id, b->boot_id) && !strcmp(a->host, b->host);
}

bool segment_hosts_match(const char *pattern, const char *host)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return strncmp(pattern, host, len - 1) == 0;
	return strcmp(pattern, host) == 0;
}

bool segment_hosts_ok(const char *text)
{
	char word[SEGMENT_NAME_BYTES];
	size_t len = strlen(text);

	if (strcmp(text, "*") == 0)
		return true;
	if (len == 0 || len >= sizeof(word))
		return false;
	memcpy(word, text, len + 1);
	if (word[len - 1] == '*')
		word[len - 1] = '\0';
	return segment_word_ok(word);
}
