/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom: how many times today's load a target bears before an objective breaks, by a model.
 *
 * The model's load variable is multiplied by a factor, from the low to the high end of its training
 * range; everything else stays as the profile says. The headroom is the largest factor up to which
 * the prediction keeps the objective; its interval is where the upper and the lower end of the
 * prediction's 90 % interval break it. Not past what was measured: then at_least is set. By a net the
 * clients of all loads are multiplied, in whole clients, over the range it was calibrated on.
 *
 * Clients that think are multiplied as such, each thinking as long as today, or asked to think so many
 * times shorter (busy_curves.h); the range goes on until one request in twenty finds more under way
 * than was measured.
 */
#ifndef ANALYZER_HEADROOM_H
#define ANALYZER_HEADROOM_H

#include "analyzer/whatif/busy_curves.h"

#define HEADROOM_POINTS	     401 /* of the curve, evenly spaced over the range */
#define HEADROOM_NET_POINTS  25	 /* at most, where each is a simulation */
#define HEADROOM_BUSY_POINTS 201 /* of clients that think, evenly spaced by logarithm */
#define HEADROOM_LEVEL	     PREDICTOR_LEVEL

/* "read.p95=20ms": the response that a model of it has, and the limit. */
struct headroom_objective {
	char response[64]; /* "read_p95_s", "write_s" */
	char point[8];	   /* "p95"; "" the mean */
	int side;	   /* 0 reads, 1 writes */
	double limit_s;
};

struct headroom_point {
	double load, predicted, low, high; /* the last two NaN where the model has no interval */
};

struct headroom_bound {
	double factor;
	bool at_least; /* it holds to the end of the range */
	bool below;    /* it breaks at the begin of the range already: the factor is below this */
};

struct headroom {
	const struct model *model; /* borrowed; NULL: by a net */
	int scaled;		   /* its load variable */
	const char *load;	   /* the load's name; borrowed */
	double limit, today;	   /* the objective; the load now */
	double predicted_today, low_today, high_today;
	bool broken;	     /* today */
	bool today_outside;  /* today's load lies outside the training range */
	const char *outside; /* another variable that does, or NULL */
	struct headroom_bound at, low, high;
	const struct load_own *own;	/* of the direction by a model; borrowed */
	const struct busy_curves *busy; /* of clients that think; borrowed, else NULL */
	bool by_think; /* their think time is divided, not their number multiplied */
	size_t nr;     /* points */
	struct headroom_point curve[HEADROOM_POINTS];
};

/*
 * rows: today's load as the model is asked about it; changed and put back. own: the service of the
 * objective's direction (load_model.h); borrowed. 0, -ENOMEM, -EINVAL.
 */
int headroom_find(struct headroom *h, struct load_rows *rows, const struct load_own *own,
		  int scaled, double limit, struct err *err);
/* The same by the net of p, which must have one, with nr loads side by side. */
int headroom_find_net(struct headroom *h, struct predictor *p, const struct load_facts *f,
		      size_t nr, const struct headroom_objective *o, struct err *err);
/*
 * The same for clients that think, by the curves of m's response, which the objective's side must have;
 * by_think: load is 1 / think time. m, own (its service, as above) and c are borrowed. -ENOMEM, -EINVAL.
 */
int headroom_find_busy(struct headroom *h, const struct busy_curves *c, const struct model *m,
		       const struct load_own *own, const struct load_facts *f, size_t nr,
		       const struct headroom_objective *o, bool by_think);
/* "read.p95=20ms", "write.mean=5ms". -EINVAL. */
int headroom_read_objective(const char *text, struct headroom_objective *out, struct err *err);
/* The knee curve as SVG: measured rows of the model near today's, prediction, today, objective. */
int headroom_draw(const struct headroom *h, const struct headroom_objective *o,
		  const struct load_rows *rows, const char *id, struct buf *out);

#endif
