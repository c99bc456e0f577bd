/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom: this module computes by how much today's load can grow on a target before an objective
 * is broken.
 *
 * The model's load variable is multiplied by a factor, from the low to the high end of its training
 * range. Everything else stays as in the profile. The headroom is the largest factor up to which
 * the prediction keeps the objective. Its interval ends where the upper and the lower end of the
 * prediction's 90 % interval break the objective. The search does not go beyond what was measured;
 * if the objective still holds there, at_least is set. With a net, the clients of all loads are
 * multiplied, in whole clients, over the range on which the net was calibrated.
 *
 * Clients that think are multiplied in the same way, and each one thinks as long as today; or, if
 * requested, their think times are divided instead (busy_curves.h). The range then ends where one
 * request in twenty finds more requests under way than were measured.
 */
#ifndef ANALYZER_HEADROOM_H
#define ANALYZER_HEADROOM_H

#include "analyzer/whatif/predict/busy_curves.h"

#define HEADROOM_POINTS	     401 /* points of the curve, evenly spaced over the range */
#define HEADROOM_NET_POINTS  25	 /* at most, where each is a simulation */
#define HEADROOM_BUSY_POINTS 201 /* points for clients that think, evenly spaced by logarithm */
#define HEADROOM_LEVEL	     PREDICTOR_LEVEL
#define HEADROOM_WHY_BYTES   384

/*
 * This struct is an objective such as "read.p95=20ms": the response that must have a model, and its
 * limit.
 */
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
	bool at_least; /* the objective holds to the end of the range */
	/* it is broken already at the begin of the range: the factor is below this */
	bool below;
};

struct headroom {
	const struct model *model; /* borrowed; NULL: a net or a simulated device is used */
	int scaled;		   /* index of its load variable */
	const char *load;	   /* the load's name; borrowed */
	double limit, today;	   /* the objective; the load now */
	double predicted_today, low_today, high_today;
	bool broken;	     /* the objective is broken today */
	bool today_outside;  /* today's load lies outside the training range */
	const char *outside; /* another variable outside the training range, or NULL */
	/* of a simulated device: what of the load its campaign did not measure; "": nothing */
	char why[HEADROOM_WHY_BYTES];
	struct headroom_bound at, low, high;
	const struct load_own *own;	/* the direction's own service by a model; borrowed */
	const struct busy_curves *busy; /* curves of clients that think; borrowed, or NULL */
	bool by_think; /* think times are divided; the number of clients is not multiplied */
	size_t nr;     /* points */
	struct headroom_point curve[HEADROOM_POINTS];
};

/*
 * rows holds today's load as the model's input; the function changes and restores it. own is the
 * service of the objective's direction (load_model.h); borrowed. Returns 0, -ENOMEM or -EINVAL.
 */
int headroom_find(struct headroom *h, struct load_rows *rows, const struct load_own *own,
		  int scaled, double limit, struct err *err);
/*
 * Does what headroom_find() does, with the net of p, which must have one, for nr loads side by
 * side.
 */
int headroom_find_net(struct headroom *h, struct predictor *p, const struct load_facts *f,
		      size_t nr, const struct headroom_objective *o, struct err *err);
/*
 * Does what headroom_find() does, for clients that think, with the curves of m's response; the
 * objective's side must have curves. by_think says that the load is 1 / think time. m, own (its
 * service, as above) and c are borrowed. Returns 0, -ENOMEM or -EINVAL.
 */
int headroom_find_busy(struct headroom *h, const struct busy_curves *c, const struct model *m,
		       const struct load_own *own, const struct load_facts *f, size_t nr,
		       const struct headroom_objective *o, bool by_think);
/* Finds the three bounds and today's values, if the curve, load, limit and today are filled. */
void headroom_take_curve(struct headroom *h, const struct headroom_point *now);
/* Parses "read.p95=20ms" or "write.mean=5ms". Returns 0 or -EINVAL. */
int headroom_read_objective(const char *text, struct headroom_objective *out, struct err *err);
/*
 * Draws the knee curve as SVG: measured rows of the model near today's load, prediction, today,
 * objective.
 */
int headroom_draw(const struct headroom *h, const struct headroom_objective *o,
		  const struct load_rows *rows, const char *id, struct buf *out);

#endif
