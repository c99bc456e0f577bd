/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/guest/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int read_boot_id(char out[SEGMENT_NAME_BYTES], struct err *err)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t nr = fd < 0 ? -1 : read(fd, out, SEGMENT_NAME_BYTES - 1);
	int code = errno;

	if (fd >= 0)
		close(fd);
	if (nr <= 0)
		return err_set(err, nr ? code : EIO, "%s: cannot be read", path);
	out[nr] = 0;
	out[strcspn(out, "\n")] = 0;
	return 0;
}

int machine_read(struct machine *m, const char *host, const char *key_file, struct err *err)
{
	int ret;

	memset(m, 0, sizeof(*m));
	memccpy(m->real_host, host, 0, sizeof(m->real_host) - 1);
	memcpy(m->host, m->real_host, sizeof(m->host));
	ret = read_boot_id(m->boot_id, err);
	if (ret || !key_file)
		return ret;
	ret = pseudonym_key_read(&m->key, key_file, err);
	if (ret) {
		err_prefix(err, "anonymize");
		return ret;
	}
	m->is_hidden = true;
	pseudonym_host(&m->key, m->real_host, m->host);
	pseudonym_boot_id(&m->key, m->boot_id, m->boot_id);
	return 0;
}

const struct pseudonym_key *machine_key(const struct machine *m)
{
	return m->is_hidden ? &m->key : NULL;
}
