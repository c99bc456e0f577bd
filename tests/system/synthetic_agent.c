// SPDX-License-Identifier: Apache-2.0
/*
 * synthetic_agent: the whole agent, with the one difference that its only source generates requests
 * (tests/support/synthetic_source.h). It takes the options of blkcast-agent. In the environment
 * SYNTHETIC_RATE is the number of requests a second (100), and SYNTHETIC_LATENCY a file whose first
 * 8 bytes are digits, the largest latency in microseconds (00001000). Writing into the file changes
 * the latency of later requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "agent/source/source.h"
#include "base/system/clock.h"
#include "tests/support/synthetic_source.h"

#define LATENCY_DIGITS 8

/* Maps the file, since an agent that has given up its rights cannot open it. */
static const char *latency_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *at = MAP_FAILED;

	if (fd >= 0) {
		at = mmap(NULL, LATENCY_DIGITS, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	return at == MAP_FAILED ? NULL : at;
}

const struct source_ops *const source_table[] = { &synthetic_source, NULL };

int source_choose(const struct source_ops **out, const char *name, struct err *err)
{
	const char *rate = getenv("SYNTHETIC_RATE"), *latency = getenv("SYNTHETIC_LATENCY");

	(void)name;
	synthetic_plan.latency_us_text = latency ? latency_map(latency) : NULL;
	if (latency && !synthetic_plan.latency_us_text)
		return err_set(err, EINVAL, "SYNTHETIC_LATENCY: expected a file of 8 digits");
	synthetic_plan.device = device_make(8, 0);
	synthetic_plan.begin_ns = clock_monotonic_ns();
	synthetic_plan.requests_per_s = rate ? strtoull(rate, NULL, 10) : 100;
	synthetic_plan.latency_ns = 1000000;
	*out = &synthetic_source;
	return 0;
}

int source_choose_open(const struct source_ops **out, struct source **opened, const char *name,
		       const struct source_config *config, struct err *err)
{
	(void)config;
	*opened = NULL;
	return source_choose(out, name, err);
}
