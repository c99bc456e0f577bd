/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_file: files and folders for fuzz targets whose decoders read from a path. All of them are in
 * memory where the machine allows that, since a target runs thousands of inputs a second.
 *
 *	path = fuzz_file("plan", data, size);    the input as a file without a name in any folder
 *	folder = fuzz_folder();                  a folder of this process, removed at its end
 *	fuzz_put(folder, "vm.json", data, size); a file in it, which replaces an older one
 */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUZZ_PATH_MAX 256

/* One file serves all inputs of the process: each input replaces the one before. */
static inline const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create(name, MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

static inline int fuzz_remove_entry(const char *path, const struct stat *st, int kind,
				    struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Removes a folder and all that is in it. A folder that is not there is no error. */
static inline void fuzz_remove(const char *path)
{
	nftw(path, fuzz_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static char fuzz_folder_path[FUZZ_PATH_MAX];

static inline void fuzz_folder_remove(void)
{
	fuzz_remove(fuzz_folder_path);
}

/* $TMPDIR decides where it is, else the memory of the machine. */
static inline const char *fuzz_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (fuzz_folder_path[0])
		return fuzz_folder_path;
	if (!parent)
		parent = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(fuzz_folder_path, sizeof(fuzz_folder_path), "%s/blkcast-fuzz-XXXXXX", parent);
	if (!mkdtemp(fuzz_folder_path) || atexit(fuzz_folder_remove))
		abort();
	return fuzz_folder_path;
}

static inline void fuzz_put(const char *folder, const char *name, const void *data, size_t size)
{
	char path[2 * FUZZ_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

#endif
