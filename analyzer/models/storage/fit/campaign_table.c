// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/fit/campaign_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS_MAX 32
#define NAME_BYTES  256

struct campaign {
	const struct table *t;
	const struct campaign_setting *settings;
	size_t nr_settings;
	char targets[TARGETS_MAX][NAME_BYTES]; /* prefixes such as "vm1.", or one empty prefix */
	size_t nr_targets;
	struct buf *out;
	size_t nr_left_out, nr_rows;
	struct err *err;
};

static const char *const sides[2] = { "read", "write" };

static int campaign_column(const struct campaign *c, const char *name)
{
	for (size_t i = 0; i < c->t->nr_columns; i++)
		if (!strcmp(c->t->columns[i].name, name))
			return (int)i;
	return -1;
}

/* Returns the cell or setting of that name, or NULL if there is none or it is empty. */
static const char *campaign_word(const struct campaign *c, size_t row, const char *name)
{
	int column = campaign_column(c, name);

	if (column >= 0)
		return table_missing(c->t, (size_t)column, row) ? NULL
								: c->t->columns[column].cells[row];
	for (size_t i = 0; i < c->nr_settings; i++)
		if (!strcmp(c->settings[i].name, name))
			return c->settings[i].value;
	return NULL;
}

/* Returns the first of several names, ended by NULL, that has a value. */
static const char *campaign_first(const struct campaign *c, size_t row, const char *const *names)
{
	const char *word = NULL;

	for (; *names && !word; names++)
		word = campaign_word(c, row, *names);
	return word;
}

static double campaign_number(const struct campaign *c, size_t row, const char *const *names,
			      double otherwise)
{
	const char *word = campaign_first(c, row, names);

	return word ? strtod(word, NULL) : otherwise;
}

/* Finds the targets by the names of their response times, such as "vm1.read_s". */
static void campaign_targets(struct campaign *c)
{
	for (size_t i = 0; i < c->t->nr_columns; i++) {
		const char *name = c->t->columns[i].name, *dot = strrchr(name, '.');
		size_t len = dot ? (size_t)(dot + 1 - name) : 0;
		bool known = false;

		if ((strcmp(name + len, "read_s") != 0 && strcmp(name + len, "write_s") != 0) ||
		    len >= NAME_BYTES || c->nr_targets == TARGETS_MAX)
			continue;
		for (size_t k = 0; k < c->nr_targets; k++)
			known |= !strncmp(c->targets[k], name, len) && !c->targets[k][len];
		if (known)
			continue;
		memcpy(c->targets[c->nr_targets], name, len);
		c->targets[c->nr_targets++][len] = 0;
	}
}

static const char *campaign_metric(const struct campaign *c, size_t row, size_t target, int side,
				   const char *what)
{
	char name[2 * NAME_BYTES];

	snprintf(name, sizeof(name), "%s%s_%s", c->targets[target], sides[side], what);
	return campaign_word(c, row, name);
}

/* Writes one class of requests of one VM, if it was measured. */
static int campaign_put_class(struct campaign *c, size_t row, size_t target, int side,
			      double clients, bool alone)
{
	static const char *const sizes[2][5] = {
		{ "read_size", "request_size", "size", "bs", NULL },
		{ "write_size", "request_size", "size", "bs", NULL },
	};
	static const char *const file_sets[] = { "file_set_bytes", "file_set", NULL };
	const char *mean = campaign_metric(c, row, target, side, "s");
	const char *sd = campaign_metric(c, row, target, side, "sd_s");
	const char *rate = campaign_metric(c, row, target, side, "per_s");
	const char *size = campaign_first(c, row, sizes[side]);
	const char *set = campaign_first(c, row, file_sets);
	const char *pattern = campaign_word(c, row, "pattern");

	if (!mean)
		return 0;
	if (!size)
		return err_set(
			c->err, EINVAL,
			"%s: expected a factor request_size, or read_size and write_size: a "
			"setting that is the same in all runs must be given as %ss_size=SIZE",
			c->t->source, sides[side]);
	buf_printf(c->out, "%s-%s,%zu,%s,%s,%.0f,%s,%s,%s,%s,%s\n",
		   campaign_word(c, row, "configuration") ?: "0",
		   campaign_word(c, row, "repetition") ?: "1", target + 1, sides[side],
		   pattern ? pattern : "random", clients, size, set ? set : "", mean,
		   alone && clients == 1 && sd ? sd : "", rate ? rate : "");
	c->nr_rows++;
	return c->out->error;
}

/* Reads the readers and writers of a target. Returns false if there are no such columns. */
static bool campaign_groups(const struct campaign *c, size_t row, size_t target, double nr[2])
{
	static const char *const groups[2] = { "readers", "writers" };
	bool found = false;

	for (int side = 0; side < 2; side++) {
		char numbered[32];
		const char *names[3] = { numbered, groups[side], NULL };

		snprintf(numbered, sizeof(numbered), "%s_%zu", groups[side], target + 1);
		found |= campaign_first(c, row, names) != NULL;
		nr[side] = campaign_number(c, row, names, 0);
	}
	return found;
}

/* Returns the direction of clients that only read or only write, or -1 for other clients. */
static int campaign_side(const struct campaign *c, size_t row)
{
	static const char *const ratios[] = { "read_ratio", NULL };
	static const char *const percents[] = { "read", "rwmixread", NULL };
	const char *type = campaign_word(c, row, "type");
	double read;

	for (int side = 0; side < 2; side++)
		if (type && !strcmp(type, sides[side]))
			return side;
	read = campaign_number(c, row, percents, 100 * campaign_number(c, row, ratios, -1));
	return read == 100 ? 0 : read == 0 ? 1 : -1;
}

/* Returns true if the clients do something that storage models do not describe. */
static bool campaign_is_other(const struct campaign *c, size_t row)
{
	static const char *const thinks[] = { "think", NULL };
	static const char *const flushes[] = { "flush_every", "fdatasync", "fsync", NULL };
	static const char *const durables[] = { "durable", NULL };

	return campaign_number(c, row, thinks, 0) > 0 || campaign_number(c, row, flushes, 0) > 0 ||
	       campaign_number(c, row, durables, 0) > 0;
}

static int campaign_put_row(struct campaign *c, size_t row)
{
	static const char *const clients[] = { "clients", "threads", "jobs", NULL };
	static const char *const depths[] = { "depth", "iodepth", NULL };
	size_t before = c->nr_rows;

	for (size_t target = 0; target < c->nr_targets; target++) {
		double nr[2] = { 0, 0 };
		int side;

		if (campaign_is_other(c, row))
			continue;
		if (!campaign_groups(c, row, target, nr)) {
			side = campaign_side(c, row);
			if (side >= 0)
				nr[side] = campaign_number(c, row, clients, 1) *
					   campaign_number(c, row, depths, 1);
		}
		for (side = 0; side < 2; side++) {
			int ret = nr[side] > 0 ? campaign_put_class(c, row, target, side, nr[side],
								    c->nr_targets == 1 &&
									    !(nr[1 - side] > 0))
					       : 0;

			if (ret)
				return ret;
		}
	}
	c->nr_left_out += c->nr_rows == before;
	return 0;
}

int campaign_table_make(struct table *out, const struct table *campaign,
			const struct campaign_setting *settings, size_t nr_settings,
			size_t *nr_left_out, struct err *err)
{
	struct campaign *c = calloc(1, sizeof(*c));
	struct buf text;
	int ret = c ? 0 : -ENOMEM;

	buf_init(&text);
	if (ret)
		goto out;
	c->t = campaign;
	c->settings = settings;
	c->nr_settings = nr_settings;
	c->out = &text;
	c->err = err;
	buf_printf(&text, "configuration,vm,type,pattern,clients,size_bytes,file_set_bytes,"
			  "response_time_s,response_sd_s,throughput_per_s\n");
	campaign_targets(c);
	for (size_t row = 0; row < campaign->nr_rows; row++) {
		ret = campaign_put_row(c, row);
		if (ret)
			goto out;
	}
	*nr_left_out = c->nr_left_out;
	if (!c->nr_rows)
		ret = err_set(
			err, EINVAL,
			"%s: no run whose clients only read or only write, and neither think nor "
			"flush; a campaign of readers and writers apart has them",
			campaign->source);
	else
		ret = text.error ? text.error
				 : table_parse(out, campaign->source, (char *)text.data, text.len,
					       err);
out:
	buf_release(&text);
	free(c);
	return ret;
}
