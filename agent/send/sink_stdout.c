/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/send/sink.h"

/* The sink has no state of its own; the descriptor belongs to the process. */
struct sink {
	int fd;
};

static int stdout_open(struct sink **out, const struct sink_config *config, struct err *err)
{
	static struct sink standard_output = { STDOUT_FILENO };

	if (strcmp(config->url, "stdout:"))
		return err_set(err, EINVAL, "sink: %s: expected stdout: and nothing behind it",
			       config->url);
	*out = &standard_output;
	return 0;
}

static int stdout_profile(struct sink *s, const char *json, size_t len)
{
	struct iovec parts[2] = { { (void *)json, len }, { (void *)"\n", 1 } };
	size_t at = 0;

	while (at < 2) {
		ssize_t nr = writev(s->fd, parts + at, (int)(2 - at));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		for (; at < 2 && (size_t)nr >= parts[at].iov_len; at++)
			nr -= (ssize_t)parts[at].iov_len;
		if (at < 2) {
			parts[at].iov_base = (char *)parts[at].iov_base + nr;
			parts[at].iov_len -= (size_t)nr;
		}
	}
	return 0;
}

static void stdout_close(struct sink *s, uint64_t deadline_ns, struct sink_end *end)
{
	(void)s;
	(void)deadline_ns;
	(void)end;
}

const struct sink_ops sink_stdout = {
	.scheme = "stdout",
	.open = stdout_open,
	.profile = stdout_profile,
	.close = stdout_close,
};
