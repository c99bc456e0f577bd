/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/send/sink.h"

const struct sink_ops *sink_find(const char *url, struct err *err)
{
	static const struct sink_ops *const table[] = { &sink_file, &sink_http, &sink_https,
							&sink_stdout };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t len = strlen(table[i]->scheme);

		if (!strncmp(url, table[i]->scheme, len) && url[len] == ':')
			return table[i];
	}
	err_set(err, EINVAL,
		"sink: unknown kind '%s': expected file:DIR, http://HOST:PORT, "
		"https://HOST:PORT or stdout:",
		url);
	return NULL;
}
