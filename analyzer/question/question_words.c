// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/question_words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

/* tolerance for shares such as thirds, which decimals cannot give exactly */
#define SHARES_TOLERANCE 1e-6
#define TEXT_BYTES	 64

static bool question_words_number(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

static bool question_words_percent(const char *text, double *out)
{
	return question_words_number(text, out) && *out >= 0 && *out <= 100;
}

static bool question_words_bytes(const char *text, uint64_t *out)
{
	return units_parse_bytes(text, out, NULL) == 0 && *out > 0;
}

/*
 * Copies the text before the sign into head. Returns the text after it, or NULL where there is no
 * sign.
 */
static const char *question_words_split(const char *text, char sign, char head[TEXT_BYTES])
{
	const char *at = strchr(text, sign);

	if (!at || at - text >= TEXT_BYTES)
		return NULL;
	snprintf(head, TEXT_BYTES, "%.*s", (int)(at - text), text);
	return at + 1;
}

int question_words_measured(struct capacity *c, const struct word_list *list, struct err *err)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const char *item = list->items[i], *rest;
		char head[TEXT_BYTES];
		double percent, iops;
		int ret;

		rest = question_words_split(item, ':', head);
		if (rest && !question_words_bytes(head, &bytes))
			return err_set(err, EINVAL, "measured %.60s: expected a size, got '%s'",
				       item, head);
		rest = question_words_split(rest ? rest : item, '=', head);
		percent = rest && strcmp(head, "read") == 0 ? 100 : 0;
		if (!rest || !bytes ||
		    (strcmp(head, "read") != 0 && strcmp(head, "write") != 0 &&
		     !question_words_number(head, &percent)) ||
		    !question_words_number(rest, &iops))
			return err_set(err, EINVAL,
				       "measured: expected SIZE:read=N,write=N with N requests per "
				       "second, got '%.60s'",
				       item);
		ret = capacity_add(c, bytes, percent / 100, iops, NAN, err);
		if (ret) {
			err_prefix(err, "measured %.60s", item);
			return ret;
		}
	}
	return 0;
}

int question_words_share(const struct word_list *list, double *read_ratio, struct err *err)
{
	double read = NAN, write = NAN, percent;

	for (size_t i = 0; i < list->nr; i++) {
		char head[TEXT_BYTES] = "";
		const char *rest = question_words_split(list->items[i], '=', head);
		bool is_read = strcmp(head, "read") == 0;

		if (!rest || !question_words_percent(rest, &percent) ||
		    (!is_read && strcmp(head, "write") != 0))
			return err_set(err, EINVAL,
				       "mix: expected read=PERCENT, from 0 to 100, got '%.60s'",
				       list->items[i]);
		*(is_read ? &read : &write) = percent;
	}
	if (!isnan(read) && !isnan(write) && fabs(read + write - 100) > SHARES_TOLERANCE)
		return err_set(err, EINVAL, "mix: read %g and write %g do not sum to 100", read,
			       write);
	if (!isnan(read))
		*read_ratio = read / 100;
	else if (!isnan(write))
		*read_ratio = 1 - write / 100;
	return 0;
}

int question_words_sizes(const struct word_list *list, double read_ratio,
			 struct capacity_part *parts, struct err *err)
{
	double sum = 0;

	for (size_t i = 0; i < list->nr; i++) {
		char size[TEXT_BYTES], head[TEXT_BYTES];
		const char *rest = question_words_split(list->items[i], '=', size), *mix;
		double percent = 100 * read_ratio;

		mix = rest ? question_words_split(rest, ':', head) : NULL;
		if (!rest || !question_words_bytes(size, &parts[i].bytes) ||
		    parts[i].bytes > 1u << 30 ||
		    !question_words_number(mix ? head : rest, &parts[i].share) ||
		    !(parts[i].share > 0 && parts[i].share <= 1) ||
		    (mix && !question_words_percent(mix, &percent)))
			return err_set(err, EINVAL,
				       "sizes: expected SIZE=SHARE or SIZE=SHARE:PERCENT_READS, "
				       "with a share above 0 and up to 1, got '%.60s'",
				       list->items[i]);
		parts[i].read_ratio = mix ? percent / 100 : read_ratio;
		sum += parts[i].share;
	}
	if (fabs(sum - 1) > SHARES_TOLERANCE)
		return err_set(err, EINVAL, "sizes: expected shares that sum to 1, got %g", sum);
	return 0;
}

int question_words_levels(struct neighbour_space *s, const struct word_list *sizes,
			  const struct word_list *reads, struct err *err)
{
	if (sizes->nr > SPACE_LEVELS_MAX || reads->nr > SPACE_LEVELS_MAX)
		return err_set(err, EINVAL, "sizes, reads: expected up to %d levels of each",
			       SPACE_LEVELS_MAX);
	for (size_t i = 0; i < sizes->nr; i++) {
		uint64_t bytes;

		if (!question_words_bytes(sizes->items[i], &bytes))
			return err_set(err, EINVAL, "sizes: expected a size as 64k, got '%.40s'",
				       sizes->items[i]);
		s->sizes[s->nr_sizes++] = (double)bytes;
	}
	for (size_t i = 0; i < reads->nr; i++) {
		double percent;

		if (!question_words_percent(reads->items[i], &percent))
			return err_set(err, EINVAL,
				       "reads: expected a percentage, 0 to 100, got '%.40s'",
				       reads->items[i]);
		s->reads[s->nr_reads++] = percent / 100;
	}
	return 0;
}
