/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slo: judges objectives of response times (characterize/time_objective.h) over the period of a
 * report, for each device that they name.
 *
 * Beside the verdict over the whole period, the requests are counted by windows, so that the report
 * can say how often and when an objective was broken. A request belongs to the window in which it
 * completed, as in a profile. A window is 100 ms in periods below 10 s, 1 s below 10 min, 10 s
 * below an hour, otherwise 1 min, and wider where there would be more than SLO_WINDOWS. Windows
 * with too few requests are not judged. Memory: at most 32 KiB for each pair of a device and an
 * objective.
 */
#ifndef ANALYZER_REPORT_COLLECT_SLO_H
#define ANALYZER_REPORT_COLLECT_SLO_H

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/time_objective.h"
#include "analyzer/report/draw/timegrid.h"
#include "formats/profile/profile.h"
#include "formats/request.h"

#define SLO_WINDOWS 2048

struct report;

/* The counts of one device. A zeroed struct has none. */
struct slo_device {
	struct timegrid *grids; /* owned; one per objective; without rows: not for this device */
	size_t nr;
};

/*
 * Adds an objective of all hosts and devices in the words of headroom_read_objective():
 * "read.p95=20ms". Returns 0, -EDOM for one of the mean, which a report does not judge, or -EINVAL
 * with one line in err.
 */
int slo_objective_add(struct time_objectives *o, const char *text, struct err *err);

/* objectives may be NULL. Returns 0 or -ENOMEM. */
int slo_device_init(struct slo_device *s, const struct time_objectives *objectives,
		    const char *host, const char *device, const char *device_name);
void slo_device_release(struct slo_device *s);
/* Counts a request whose times are real time. Returns 0 or -ENOMEM. */
int slo_device_add(struct slo_device *s, const struct time_objectives *objectives,
		   const struct request *r);

/* Counts the requests of a profile, spread evenly over [begin_ns, end_ns). Returns 0 or -ENOMEM. */
int slo_device_spread(struct slo_device *s, const struct time_objectives *objectives,
		      const struct profile *p, uint64_t begin_ns, uint64_t end_ns);

/* This struct is an objective on a device. */
struct slo_row {
	const struct time_objective *objective; /* borrowed */
	size_t device;				/* index in collect->devices */
	double requests, slow;
	double spent;	/* of the budget: the objective holds up to 1; NaN: cannot tell */
	double value_s; /* the percentile, at most the limit where the objective holds; or NaN */
	double window_s;
	size_t nr_windows,
		nr_broken; /* windows that were judged, and those of them that break it */
	/* the window with the largest share of slow requests; worst_requests 0: there is none */
	uint64_t worst_ns;
	double worst_requests, worst_slow;
};

struct slo {
	struct slo_row *rows; /* owned; those that spend most of their budget first */
	size_t nr, nr_broken;
	size_t nr_untold; /* objectives that hold or break on no device, for want of requests */
};

/* Judges every objective of the report's collection. Returns 0 or -ENOMEM. */
int slo_judge(struct slo *s, const struct report *r);
void slo_release(struct slo *s);
/* Returns the verdicts as a table and a sentence, or NULL if memory is short. */
struct answer *slo_answer(const struct report *r);

#endif
