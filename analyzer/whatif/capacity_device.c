// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/capacity_device.h"

#include <errno.h>
#include <math.h>

#include "analyzer/models/storage/device_load.h"

/* Requests per throughput, and at least so many of each client; the first fifth warms up. */
#define REQUESTS   20000
#define PER_CLIENT 5
/* Sizes are this factor apart; capacity.h interpolates between them. */
#define SIZE_FACTOR 4
#define BYTES_MOST  1073741824.0 /* larger requests are asked of no capacity */
/* Half the width of a 90 % interval of a normal distribution is so many standard deviations. */
#define HALF_SIGMAS 1.6449

static int capacity_device_add(struct capacity *c, const struct device_model *m, uint64_t bytes,
			       enum device_type side, struct err *err)
{
	double clients = fmin(fmax(1, m->domain.concurrency), DEVICE_CLIENTS_MAX);
	struct device_load load = { .clients = (unsigned int)clients,
				    .read_ratio = side == DEVICE_READ,
				    .bytes = { (double)bytes, (double)bytes } };
	struct device_times times = { 0 };
	int ret;

	device_load_init(&load);
	ret = device_load_run(&load, m, (uint64_t)fmax(REQUESTS, PER_CLIENT * clients), 1, &times);
	if (!ret)
		ret = capacity_add(c, bytes, load.read_ratio, device_times_rate(&times, side),
				   m->errors[side][DEVICE_MEAN].log_half / HALF_SIGMAS, err);
	device_times_release(&times);
	return ret;
}

int capacity_of_device(struct capacity *c, const struct device_model *m, struct err *err)
{
	const struct device_domain *d = &m->domain;
	double low = fmax(d->low_bytes[0], d->low_bytes[1]);
	double high = fmin(fmin(d->high_bytes[0], d->high_bytes[1]), BYTES_MOST);

	if (!d->has[DEVICE_READ] || !d->has[DEVICE_WRITE] || !(low >= 1 && low <= high))
		return err_set(err, EINVAL,
			       "the campaign of the device measured no reads and writes of the "
			       "same size, which a capacity needs");
	for (double bytes = low;; bytes = fmin(bytes * SIZE_FACTOR, high)) {
		for (int side = 0; side < 2; side++) {
			int ret = capacity_device_add(c, m, (uint64_t)bytes, (enum device_type)side,
						      err);

			if (ret)
				return ret;
		}
		if (bytes >= high)
			return 0;
	}
}
