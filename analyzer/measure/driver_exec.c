// SPDX-License-Identifier: Apache-2.0
/*
 * command: this driver runs any program that prints JSON objects of numbers, one after the other
 * and one per interval. none: this driver starts no load; a running application is observed for as
 * long as a load would run.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "analyzer/measure/driver.h"

static int command_run(const struct drive *d, struct buf *shell, struct err *err)
{
	int ret = params_expand(d->params, d->load->command, shell, err);

	buf_put_u8(shell, '\n');
	return ret ? ret : shell->error;
}

static int put_object(const json_t *root, unsigned int interval, struct readings *r,
		      struct err *err)
{
	const char *key;
	json_t *value;
	int ret = 0;

	json_object_foreach((json_t *)root, key, value)
	{
		if (!json_is_number(value))
			return err_set(err, EINVAL, "command: %.60s: expected a number", key);
		ret = readings_put(r, interval, key, json_number_value(value));
		if (ret == -EINVAL)
			return err_set(err, EINVAL, "command: '%.60s' is too long a name", key);
		if (ret)
			return ret;
	}
	return json_object_size(root) ? 0 : err_set(err, EINVAL, "command: an empty object");
}

static int command_take(const struct drive *d, const char *text, size_t len, bool final,
			struct readings *r, struct err *err)
{
	const char *at = text, *end = text + len;
	unsigned int nr = 0;
	int ret;

	(void)d;
	for (;;) {
		json_error_t why;
		json_t *root;

		while (at < end && strchr(" \t\r\n", *at))
			at++;
		root = at < end ? json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &why)
				: NULL;
		if (!root)
			break;
		ret = json_is_object(root) ? put_object(root, ++nr, r, err)
					   : err_set(err, EINVAL, "command: expected an object");
		at += why.position;
		json_decref(root);
		if (ret)
			return ret;
	}
	if (!final)
		return 0;
	if (at < end)
		return err_set(err, EINVAL, "command: expected JSON, got '%.60s'", at);
	if (!nr)
		return err_set(err, EINVAL, "command: expected JSON, got nothing");
	return readings_take_means(r);
}

static int none_run(const struct drive *d, struct buf *shell, struct err *err)
{
	(void)err;
	buf_printf(shell, "exec sleep %.3f\n", plan_run_s(d->plan));
	return shell->error;
}

static int none_take(const struct drive *d, const char *text, size_t len, bool final,
		     struct readings *r, struct err *err)
{
	(void)d, (void)text, (void)len, (void) final, (void)r, (void)err;
	return 0;
}

const struct driver driver_command = {
	.name = "command",
	.needs_command = true,
	.intervals = true,
	.run = command_run,
	.take = command_take,
};

const struct driver driver_none = {
	.name = "none",
	.run = none_run,
	.take = none_take,
};
