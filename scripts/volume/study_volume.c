/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_volume: a storage whose law is known, for studies that compare predictions with what really
 * happened. It is a plugin of nbdkit, which compiles the file itself:
 *
 *	nbdkit -f -t 16 -U SOCKET cc scripts/volume/study_volume.c size=2G servers=4 \
 *		read_us=2000 write_us=3000
 *
 * The data lie in memory. Requests are served in the order of their arrival by `servers` equal
 * servers; a read or a write keeps one of them busy for a fixed time. A flush takes no time, since
 * nothing is cached. When a request arrives, the server that is free first is booked for it, so
 * that its end is known at once, and its thread sleeps until then. No thread waits for another
 * one: the order and the times do not depend on how the kernel wakes them. A request must not be
 * divided on its way if its time shall be the stated one; FUSE divides at 1 MiB.
 */
#define NBDKIT_API_VERSION 2
#include <errno.h>
#include <nbdkit-plugin.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define THREAD_MODEL	   NBDKIT_THREAD_MODEL_PARALLEL
#define VOLUME_SERVERS_MAX 64

static int64_t volume_bytes;
static int volume_servers = 1, volume_read_us, volume_write_us;
static char *volume_data;
static pthread_mutex_t volume_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t volume_free_ns[VOLUME_SERVERS_MAX]; /* when each server is free again */

static int volume_config(const char *key, const char *value)
{
	if (!strcmp(key, "size")) {
		volume_bytes = nbdkit_parse_size(value);
		return volume_bytes < 0 ? -1 : 0;
	}
	if (!strcmp(key, "servers"))
		return nbdkit_parse_int(key, value, &volume_servers);
	if (!strcmp(key, "read_us"))
		return nbdkit_parse_int(key, value, &volume_read_us);
	if (!strcmp(key, "write_us"))
		return nbdkit_parse_int(key, value, &volume_write_us);
	nbdkit_error("%s: expected size, servers, read_us or write_us", key);
	return -1;
}

static int volume_config_complete(void)
{
	if (volume_bytes > 0 && volume_servers >= 1 && volume_servers <= VOLUME_SERVERS_MAX &&
	    volume_read_us >= 0 && volume_write_us >= 0)
		return 0;
	nbdkit_error("expected size=BYTES, servers=1 to %d, read_us= and write_us= of 0 or more",
		     VOLUME_SERVERS_MAX);
	return -1;
}

static int volume_get_ready(void)
{
	volume_data = mmap(NULL, volume_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (volume_data != MAP_FAILED)
		return 0;
	nbdkit_error("mmap: %m");
	return -1;
}

static uint64_t volume_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Books the server that is free first, and sleeps until it has served the request. */
static void volume_serve(int time_us)
{
	uint64_t *first = volume_free_ns, end_ns, now_ns;
	struct timespec end;

	pthread_mutex_lock(&volume_lock);
	now_ns = volume_now_ns();
	for (int i = 1; i < volume_servers; i++)
		if (volume_free_ns[i] < *first)
			first = &volume_free_ns[i];
	end_ns = (*first > now_ns ? *first : now_ns) + (uint64_t)time_us * 1000;
	*first = end_ns;
	pthread_mutex_unlock(&volume_lock);
	end = (struct timespec){ .tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

static void *volume_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t volume_get_size(void *handle)
{
	(void)handle;
	return volume_bytes;
}

/* All connections see the same data at once, so that a client may open several. */
static int volume_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int volume_pread(void *handle, void *to, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	volume_serve(volume_read_us);
	memcpy(to, volume_data + offset, count);
	return 0;
}

static int volume_pwrite(void *handle, const void *from, uint32_t count, uint64_t offset,
			 uint32_t flags)
{
	(void)handle;
	(void)flags;
	memcpy(volume_data + offset, from, count);
	volume_serve(volume_write_us);
	return 0;
}

static int volume_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "blkcast-study-volume",
	.config = volume_config,
	.config_complete = volume_config_complete,
	.get_ready = volume_get_ready,
	.open = volume_open,
	.get_size = volume_get_size,
	.can_multi_conn = volume_can_multi_conn,
	.pread = volume_pread,
	.pwrite = volume_pwrite,
	.flush = volume_flush,
};
NBDKIT_REGISTER_PLUGIN(plugin)
