/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/source/blktrace/blktrace_disk.h"
#include "formats/request.h"

/*
 * Records of version 8 exist since Linux 6.19. They distinguish write zeroes and zone commands from
 * writes. Source: include/uapi/linux/blktrace_api.h and fs.h of that kernel.
 */
struct setup2 {
	char name[64];
	uint64_t act_mask;
	uint32_t buf_size, buf_nr;
	uint64_t start_lba, end_lba;
	uint32_t pid, flags;
	uint64_t reserved[11];
};
#define SETUP2 _IOWR(0x12, 142, struct setup2)

/*
 * The kernel records an event that has any one of these categories. BLK_TC_READ and BLK_TC_WRITE
 * are left out: with them every event of every read and write would be recorded.
 */
#define MASK (BLK_TC_QUEUE | BLK_TC_REQUEUE | BLK_TC_ISSUE | BLK_TC_COMPLETE | BLK_TC_DRV_DATA)

/* A ring has this many pieces; the reader is woken when one of them is full. */
#define NR_PIECES 8
#define PIECE_MIN (16u << 10)
/* The upper 24 bits of the end sector mark a trace as one of this agent. */
#define MARK	   0xb1ca57ull
#define MARK_SHIFT 40
/* The mark holds 16 bits of the number of the pid name space, and 24 bits of the pid. */
#define SPACE_SHIFT 24
#define PID_MASK    0xffffffull

/* ---- the kernel ---- */

static int real_open_disk(void *ctx, uint32_t device, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	(void)ctx;
	snprintf(path, sizeof(path), "/dev/%s", name);
	for (char *at = path; *at; at++)
		*at = *at == '!' ? '/' : *at; /* sysfs writes a '/' of a name as '!'. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		snprintf(path, sizeof(path), "/dev/block/%u:%u", device_major(device),
			 device_minor(device));
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	}
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISBLK(st.st_mode) ||
	    device_make(major(st.st_rdev), minor(st.st_rdev)) != device) {
		close(fd);
		return -ENODEV;
	}
	return fd;
}

static int real_control(void *ctx, int fd, unsigned long request, void *arg)
{
	(void)ctx;
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int real_completed(void *ctx, uint32_t device, uint64_t *out)
{
	(void)ctx;
	return device_completed(device, out);
}

static int64_t real_in_flight(void *ctx, uint32_t device)
{
	(void)ctx;
	return device_in_flight(device);
}

static void read_comm(const char *process, char *out, size_t bytes)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", process);
	f = fopen(path, "re");
	if (!f || !fgets(out, (int)bytes, f))
		out[0] = 0;
	if (f)
		fclose(f);
}

/* Returns whether a process that runs this agent's program has that pid. */
static bool real_is_alive(void *ctx, uint32_t pid)
{
	char process[16], comm[32], own[32];

	(void)ctx;
	snprintf(process, sizeof(process), "%" PRIu32, pid);
	read_comm(process, comm, sizeof(comm));
	read_comm("self", own, sizeof(own));
	return comm[0] && !strcmp(comm, own);
}

const struct blktrace_kernel blktrace_kernel_real = {
	.debugfs = "/sys/kernel/debug",
	.sysfs_dev = "/sys/dev/block",
	.open_disk = real_open_disk,
	.control = real_control,
	.completed = real_completed,
	.in_flight = real_in_flight,
	.list = device_list,
	.is_alive = real_is_alive,
};

/* ---- what stands in the way ---- */

static bool has_capability(void)
{
	cap_flag_value_t set = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps)
		cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &set);
	cap_free(caps);
	return set == CAP_SET;
}

static bool says_locked_down(void)
{
	char line[128] = "";
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return strstr(line, "[integrity]") || strstr(line, "[confidentiality]");
}

/*
 * Returns whether the kernel's lockdown refuses debugfs. Where securityfs is not mounted, only an
 * attempt shows it: a lockdown refuses every file of debugfs that is not read-only by its mode
 * (fs/debugfs/file.c, debugfs_locked_down). The first of these files exists since Linux 3.15, the
 * second is one that every disk has. Reading them changes nothing.
 */
static bool acts_locked_down(const char *debugfs)
{
	static const char *const guarded[] = { "fault_around_bytes", "block/*/state" };
	bool is_refused = false;
	glob_t found;

	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]) && !is_refused; i++) {
		char pattern[PATH_MAX];
		int fd;

		snprintf(pattern, sizeof(pattern), "%s/%s", debugfs, guarded[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
		is_refused = fd < 0 && errno == EPERM;
		if (fd >= 0)
			close(fd);
		globfree(&found);
	}
	return is_refused;
}

static int refuse_locked_down(struct err *err)
{
	return err_set(err, EPERM,
		       "blktrace: the kernel is locked down, which forbids the files that the "
		       "trace is read from");
}

int blktrace_check(const struct blktrace_kernel *k, struct err *err)
{
	struct statfs fs;

	if (k != &blktrace_kernel_real)
		return 0;
	if (!has_capability())
		return err_set(err, EPERM,
			       "blktrace: not permitted: run as root, or with CAP_SYS_ADMIN and "
			       "CAP_DAC_READ_SEARCH");
	if (says_locked_down())
		return refuse_locked_down(err);
	if (statfs(k->debugfs, &fs) || (unsigned long)fs.f_type != DEBUGFS_MAGIC)
		return err_set(err, ENOENT,
			       "blktrace: debugfs is not mounted: mount -t debugfs debugfs %s",
			       k->debugfs);
	if (acts_locked_down(k->debugfs))
		return refuse_locked_down(err);
	return 0;
}

/*
 * Reads a line from the disk's folder in sysfs. Returns -ENOENT where there is no such file, and
 * -EIO where it exists but cannot be read: up to Linux 5.10 the files of a disk's trace return
 * ENXIO while nobody holds the disk open.
 */
static int blktrace_disk_attribute(const struct blktrace_kernel *k, uint32_t device,
				   const char *name, char *out, size_t bytes)
{
	char path[PATH_MAX];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "%s/%u:%u/%s", k->sysfs_dev, device_major(device),
		 device_minor(device), name);
	f = fopen(path, "re");
	if (!f)
		return -ENOENT;
	ok = fgets(out, (int)bytes, f);
	fclose(f);
	return ok ? 0 : -EIO;
}

static uint64_t space_of(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino & 0xffff;
}

static uint64_t mark_make(void)
{
	return MARK << MARK_SHIFT | space_of() << SPACE_SHIFT | ((uint64_t)getpid() & PID_MASK);
}

enum owner { OWNER_NOBODY, OWNER_GONE, OWNER_AGENT, OWNER_OTHER };

/* Finds out who owns the trace of this disk. pid is set where the owner is OWNER_AGENT. */
static enum owner owner_of(const struct blktrace_kernel *k, uint32_t device, uint32_t *pid)
{
	char text[64];
	uint64_t mark;
	char *end;

	if (blktrace_disk_attribute(k, device, "trace/end_lba", text, sizeof(text)))
		return OWNER_NOBODY;
	mark = strtoull(text, &end, 10);
	if (end == text)
		return OWNER_NOBODY; /* The file says "disabled". */
	if (mark >> MARK_SHIFT != MARK)
		return OWNER_OTHER;
	*pid = mark & PID_MASK;
	if ((mark >> SPACE_SHIFT & 0xffff) != space_of())
		/* The owner's pid belongs to another name space and cannot be looked up here. */
		return OWNER_AGENT;
	if (*pid != (uint32_t)getpid() && k->is_alive(k->ctx, *pid))
		return OWNER_AGENT;
	return OWNER_GONE;
}

static int refuse_busy(const struct blktrace_kernel *k, uint32_t device, const char *name,
		       struct err *err)
{
	uint32_t pid = 0;

	if (owner_of(k, device, &pid) == OWNER_AGENT)
		return err_set(err, EBUSY,
			       "blktrace: %s is traced by another blkcast-agent, pid %" PRIu32,
			       name, pid);
	return err_set(err, EBUSY,
		       "blktrace: %s is traced by somebody else (blktrace -k -d /dev/%s ends a "
		       "trace that was forgotten)",
		       name, name);
}

int blktrace_disk_check(const struct blktrace_kernel *k, const struct device_info *info,
			struct err *err)
{
	char path[PATH_MAX], text[64];
	uint32_t pid;
	enum owner owner;

	if (blktrace_disk_attribute(k, info->device, "trace/end_lba", text, sizeof(text)) ==
	    -ENOENT)
		return err_set(err, ENOTSUP,
			       "blktrace: this kernel cannot trace %s (CONFIG_BLK_DEV_IO_TRACE)",
			       info->name);
	snprintf(path, sizeof(path), "%s/%u:%u/mq", k->sysfs_dev, device_major(info->device),
		 device_minor(info->device));
	if (access(path, F_OK))
		return err_set(err, ENOTSUP,
			       "blktrace: %s passes I/O on to other devices and has no requests of "
			       "its own: trace those",
			       info->name);
	owner = owner_of(k, info->device, &pid);
	if (owner == OWNER_AGENT || owner == OWNER_OTHER)
		return refuse_busy(k, info->device, info->name, err);
	return 0;
}

/* ---- one disk ---- */

/*
 * Opens the disk only for the time of one or two requests (ioctl), so that it can be unmounted and
 * detached.
 */
static int blktrace_disk_control(const struct blktrace_disk *d, const struct blktrace_kernel *k,
				 unsigned long first, unsigned long second)
{
	int fd = k->open_disk(k->ctx, d->device, d->name), ret;

	if (fd < 0)
		return fd;
	ret = k->control(k->ctx, fd, first, NULL);
	if (second)
		ret = k->control(k->ctx, fd, second, NULL);
	close(fd);
	return ret;
}

static int set_up(struct blktrace_disk *d, const struct blktrace_kernel *k, int fd,
		  uint32_t piece_bytes)
{
	struct setup2 two = { .act_mask = MASK,
			      .buf_size = piece_bytes,
			      .buf_nr = NR_PIECES,
			      .end_lba = mark_make() };
	struct blk_user_trace_setup one = { .act_mask = MASK,
					    .buf_size = piece_bytes,
					    .buf_nr = NR_PIECES,
					    .end_lba = two.end_lba };
	int ret = k->control(k->ctx, fd, SETUP2, &two);

	if (!ret) {
		snprintf(d->folder, sizeof(d->folder), "%.63s", two.name);
		d->version = 8;
		return 0;
	}
	if (ret != -ENOTTY && ret != -EINVAL)
		return ret;
	ret = k->control(k->ctx, fd, BLKTRACESETUP, &one);
	if (ret)
		goto out;
	snprintf(d->folder, sizeof(d->folder), "%.31s", one.name);
out:
	d->version = 7;
	return ret;
}

/*
 * Sets the trace up. Where a dead agent left its trace behind, that trace is removed and the set-up
 * is tried once more.
 */
static int set_up_anew(struct blktrace_disk *d, const struct blktrace_kernel *k, int fd,
		       uint32_t piece_bytes)
{
	int ret = set_up(d, k, fd, piece_bytes);
	uint32_t pid;

	if (ret != -EBUSY || owner_of(k, d->device, &pid) != OWNER_GONE)
		return ret;
	k->control(k->ctx, fd, BLKTRACESTOP, NULL);
	k->control(k->ctx, fd, BLKTRACETEARDOWN, NULL);
	return set_up(d, k, fd, piece_bytes);
}

static int refuse_set_up(const struct blktrace_disk *d, const struct blktrace_kernel *k, int ret,
			 struct err *err)
{
	switch (ret) {
	case -EBUSY:
		return refuse_busy(k, d->device, d->name, err);
	case -EPERM:
	case -EACCES:
		return err_set(err, -ret,
			       "blktrace: %s: not permitted: run as root, or with CAP_SYS_ADMIN",
			       d->name);
	case -ENOTTY:
	case -ENOSYS:
		return err_set(err, ENOTSUP,
			       "blktrace: this kernel cannot trace %s (CONFIG_BLK_DEV_IO_TRACE)",
			       d->name);
	default:
		return err_set(err, -ret, "blktrace: %s cannot be traced: %s", d->name,
			       strerror(-ret));
	}
}

static int open_file(const struct blktrace_disk *d, const struct blktrace_kernel *k,
		     const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/block/%s/%s", k->debugfs, d->folder, name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool blktrace_disk_cpu(struct blktrace_disk *d, const struct blktrace_kernel *k, int cpu)
{
	char name[32];

	if (d->fds[cpu] >= 0)
		return true;
	snprintf(name, sizeof(name), "trace%d", cpu);
	d->fds[cpu] = open_file(d, k, name);
	return d->fds[cpu] >= 0;
}

static int open_files(struct blktrace_disk *d, const struct blktrace_kernel *k, struct err *err)
{
	int nr = 0, ret = -ENOENT;

	for (int cpu = 0; cpu < d->nr_cpus; cpu++) {
		if (blktrace_disk_cpu(d, k, cpu))
			nr++;
		else if (d->fds[cpu] != -ENOENT)
			ret = d->fds[cpu];
	}
	d->dropped_fd = open_file(d, k, "dropped");
	if (nr && ret == -ENOENT)
		return 0;
	if (ret == -EPERM)
		return refuse_locked_down(err);
	return err_set(err, -ret, "blktrace: %s/block/%s/trace0: %s", k->debugfs, d->folder,
		       strerror(-ret));
}

static int open_and_start(struct blktrace_disk *d, const struct blktrace_kernel *k,
			  uint32_t piece_bytes, struct err *err)
{
	int fd = k->open_disk(k->ctx, d->device, d->name), ret;

	if (fd < 0)
		return err_set(err, -fd, "blktrace: /dev/%s: %s", d->name, strerror(-fd));
	ret = set_up_anew(d, k, fd, piece_bytes);
	if (ret) {
		ret = refuse_set_up(d, k, ret, err);
		goto out;
	}
	d->is_set_up = true;
	ret = open_files(d, k, err);
	if (ret)
		goto out;
	ret = k->control(k->ctx, fd, BLKTRACESTART, NULL);
	if (ret)
		err_set(err, -ret, "blktrace: %s cannot be started: %s", d->name, strerror(-ret));
	d->is_started = !ret;
out:
	close(fd);
	return ret;
}

int blktrace_disk_open(struct blktrace_disk *d, const struct blktrace_kernel *k,
		       const struct device_info *info, size_t ring_bytes, int nr_cpus,
		       struct err *err)
{
	size_t piece = ring_bytes / NR_PIECES;
	int ret;

	*d = (struct blktrace_disk){ .device = info->device, .nr_cpus = nr_cpus, .dropped_fd = -1 };
	snprintf(d->name, sizeof(d->name), "%s", info->name);
	d->fds = malloc((size_t)nr_cpus * sizeof(*d->fds));
	if (!d->fds)
		return err_set(err, ENOMEM, "blktrace: out of memory");
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		d->fds[cpu] = -ENOENT;
	piece = piece < PIECE_MIN ? PIECE_MIN : piece & ~(size_t)4095;
	ret = open_and_start(d, k, (uint32_t)piece, err);
	if (ret)
		blktrace_disk_close(d, k);
	return ret;
}

void blktrace_disk_stop(struct blktrace_disk *d, const struct blktrace_kernel *k)
{
	if (d->is_started)
		blktrace_disk_control(d, k, BLKTRACESTOP, 0);
	d->is_started = false;
}

/*
 * The files are examined by descriptor, because another disk can take the same name in debugfs. A
 * removed file has no link left.
 */
bool blktrace_disk_is_gone(const struct blktrace_disk *d)
{
	int fd = d->dropped_fd;
	struct stat st;

	for (int cpu = 0; fd < 0 && cpu < d->nr_cpus; cpu++)
		fd = d->fds[cpu];
	return fd >= 0 && !fstat(fd, &st) && st.st_nlink == 0;
}

void blktrace_disk_close(struct blktrace_disk *d, const struct blktrace_kernel *k)
{
	bool is_ours = d->is_set_up && !blktrace_disk_is_gone(d);

	for (int cpu = 0; d->fds && cpu < d->nr_cpus; cpu++)
		if (d->fds[cpu] >= 0)
			close(d->fds[cpu]);
	if (d->dropped_fd >= 0)
		close(d->dropped_fd);
	if (is_ours)
		blktrace_disk_control(d, k, BLKTRACESTOP, BLKTRACETEARDOWN);
	free(d->fds);
	*d = (struct blktrace_disk){ .dropped_fd = -1 };
}

uint64_t blktrace_disk_dropped(const struct blktrace_disk *d)
{
	char text[32] = "";

	if (d->dropped_fd < 0 || pread(d->dropped_fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	return strtoull(text, NULL, 10);
}
