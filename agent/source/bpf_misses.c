/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/source/bpf_misses.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bpf_misses_open(int program_fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", program_fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t bpf_misses_read(int fd)
{
	static const char key[] = "recursion_misses:";
	char text[1024], *at;
	ssize_t nr = -1;

	if (fd >= 0 && !lseek(fd, 0, SEEK_SET))
		nr = read(fd, text, sizeof(text) - 1);
	if (nr <= 0)
		return 0;
	text[nr] = 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}
