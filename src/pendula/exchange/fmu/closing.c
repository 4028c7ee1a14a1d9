/* Closed loops at the start, by the steps of pendula.assemble: what a tool has set stays if the loops allow it, with what
   the model gives or without; the rest moves as little as possible. What the generated part defines for it is listed in
   closing.py. */

#define PI 3.14159265358979323846

#if ROWS > 0
#define HELD INFINITY
#define LEVELS 3 /* held: what is set or written, what is set, what is set to another value than the description says */

/* Whether a state is held at a level. */
static int is_held(const Data *d, int level, int k)
{
    int changed = d->state_is_set[k] && d->given[k] != STATE_START[k];
    return level == 2 ? changed : d->state_is_set[k] || (level == 0 && IS_WRITTEN[k]);
}

/* Costs of moving along every speed; returns whether one is held. */
static int hold_positions(const Data *d, int level, double *cost)
{
    int some = 0;
    for (int j = 0; j < NV; ++j) cost[j] = 1.0;
    for (int i = 0; i < NQ; ++i) if (is_held(d, level, i))
        for (int j = 0; j < NUMBER_HELD[i]; ++j) { cost[FIRST_HELD[i] + j] = HELD; some = 1; }
    return some;
}
static int hold_speeds(const Data *d, int level, double *cost)
{
    int some = 0;
    for (int j = 0; j < NV; ++j) {
        int asked = is_held(d, 2, NQ + j) || is_held(d, level, NQ + j);
        cost[j] = asked ? HELD : 1.0;
        some |= asked;
    }
    return some;
}

/* The least change x with G x = right. */
static void least_change(const double *G, const double *right, const double *cost, double *x)
{
    double M[NV * NV], none[NV], free_G[ROWS * NV], lam[ROWS];
    memset(M, 0, sizeof M);
    memset(none, 0, sizeof none);
    for (int j = 0; j < NV; ++j) {
        M[j * NV + j] = isinf(cost[j]) ? 1.0 : cost[j];
        for (int r = 0; r < ROWS; ++r) free_G[r * NV + j] = isinf(cost[j]) ? 0.0 : G[r * NV + j];
    }
    solve_constrained(M, none, free_G, right, 1.0, x, lam);
}

/* Coordinates after a displacement along the speeds, which turns orientations by a finite angle: q' = N(q) s. */
static void displaced(const double *p, double *x, const double *s, double *q)
{
    double k[4][NQ], size = 0.0;
    const double part[3] = {0.5, 0.5, 1.0};
    for (int j = 0; j < NV; ++j) if (fabs(s[j]) > size) size = fabs(s[j]);
    int steps = PLAIN ? 1 : 1 + (int)fmin(50.0 * size, 1000.0);
    double h = 1.0 / steps;
    for (int step = 0; step < steps; ++step) {
        for (int stage = 0; stage < 4; ++stage) {
            for (int i = 0; i < NQ; ++i) x[1 + i] = q[i] + (stage ? h * part[stage - 1] * k[stage - 1][i] : 0.0);
            motion_along(p, x, s, k[stage]);
        }
        for (int i = 0; i < NQ; ++i) q[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    normalize(q);
}

/* Dimensionless gaps and G at a pose; returns the largest gap, infinite where there is none. */
static double scaled_gaps(const Data *d, double t, const double *q, double *g, double *G)
{
    double x[1 + NY + NU], terms[ROWS + ROWS * NV + ROWS + NV * NV], worst = 0.0;
    memset(x, 0, sizeof x);
    memcpy(x + 1, q, sizeof(double) * NQ);
    inputs_at(d, t, x);
    constraints(x, d->p, terms);
    for (int r = 0; r < ROWS; ++r) {
        g[r] = terms[r] / GAP_SCALES[r];
        for (int j = 0; j < NV; ++j) G[r * NV + j] = terms[ROWS + r * NV + j] / GAP_SCALES[r];
        if (!(fabs(g[r]) <= worst)) worst = fabs(g[r]);
    }
    return all_finite(g, ROWS) && all_finite(G, ROWS * NV) ? worst : INFINITY;
}

/* The pose after a displacement from q0, its gaps, and the largest of them. */
static double gaps_after(const Data *d, double t, const double *q0, const double *s, double *q, double *g, double *G)
{
    double x[1 + NY + NU];
    memset(x, 0, sizeof x);
    inputs_at(d, t, x);
    memcpy(q, q0, sizeof(double) * NQ);
    displaced(d->p, x, s, q);
    return scaled_gaps(d, t, q, g, G);
}

static double norm_of(const double *g)
{
    double sum = 0.0;
    for (int r = 0; r < ROWS; ++r) sum += g[r] * g[r];
    return sqrt(sum);
}

/* Damped Newton steps of least change from a displacement; returns the largest gap that is left. */
static double close_from(const Data *d, double t, const double *q0, const double *cost, double *s)
{
    double q[NQ], g[ROWS], G[ROWS * NV], right[ROWS], step[NV], next[NV], gap = gaps_after(d, t, q0, s, q, g, G);
    for (int iteration = 0; iteration < 60 && gap > CLOSED && isfinite(gap); ++iteration) {
        double size = norm_of(g), fraction = 1.0, there[ROWS], G_there[ROWS * NV], worst = gap;
        for (int r = 0; r < ROWS; ++r) right[r] = -g[r];
        least_change(G, right, cost, step);
        for (; fraction >= 1.0 / 1048576.0; fraction *= 0.5) {
            for (int j = 0; j < NV; ++j) next[j] = s[j] + fraction * step[j];
            worst = gaps_after(d, t, q0, next, q, there, G_there);
            if (isfinite(worst) && norm_of(there) < (1.0 - 1e-4 * fraction) * size) break;
        }
        if (fraction < 1.0 / 1048576.0) break;
        memcpy(s, next, sizeof next);
        memcpy(g, there, sizeof there);
        memcpy(G, G_there, sizeof G_there);
        gap = worst;
    }
    return gap;
}

/* Number of gaps that free motions change independently of each other after a displacement. */
static int free_rank(const Data *d, double t, const double *q0, const double *cost, const double *s)
{
    double q[NQ], g[ROWS], G[ROWS * NV], largest = 0.0;
    int rank = 0;
    if (!isfinite(gaps_after(d, t, q0, s, q, g, G))) return 0;
    for (int i = 0; i < ROWS * NV; ++i) {
        if (fabs(G[i]) > largest) largest = fabs(G[i]);
        if (isinf(cost[i % NV])) G[i] = 0.0;
    }
    for (; rank < ROWS; ++rank) {
        int row = rank, column = 0;
        for (int r = rank; r < ROWS; ++r) for (int j = 0; j < NV; ++j)
            if (fabs(G[r * NV + j]) > fabs(G[row * NV + column])) { row = r; column = j; }
        if (!(fabs(G[row * NV + column]) > SINGULAR * largest)) break;
        for (int j = 0; j < NV; ++j) { double z = G[rank * NV + j]; G[rank * NV + j] = G[row * NV + j]; G[row * NV + j] = z; }
        for (int r = rank + 1; r < ROWS; ++r) {
            double factor = G[r * NV + column] / G[rank * NV + column];
            for (int j = 0; j < NV; ++j) G[r * NV + j] -= factor * G[rank * NV + j];
            G[r * NV + column] = 0.0;
        }
    }
    return rank;
}

/* The smallest gap with some coordinates held. From a dead point it begins again with the others displaced a little. */
static double close_holding(const Data *d, double t, const double *q0, const double *cost, double *s)
{
    double start[NV], none[NV], gap;
    memset(none, 0, sizeof none);
    memset(s, 0, sizeof none);
    gap = close_from(d, t, q0, cost, s);
    if (gap <= CLOSED_ENOUGH) return gap;
    int before = free_rank(d, t, q0, cost, none), after = free_rank(d, t, q0, cost, s);
    for (int k = 0; k < DISPLACED; ++k) {
        for (int j = 0; j < NV; ++j) start[j] = isinf(cost[j]) ? 0.0 : DISPLACEMENTS[k * NV + j];
        if (free_rank(d, t, q0, cost, start) <= (before < after ? before : after)) break;
        double again = close_from(d, t, q0, cost, start);
        if (again <= CLOSED_ENOUGH) { memcpy(s, start, sizeof start); return again; }
    }
    return gap;
}

/* Closes the loops from y; returns the largest gap that is left. */
static double close_positions(const Data *d, double t, double *y)
{
    double cost[LEVELS][NV], s[LEVELS][NV], stiff[NV], found[NV], q[NQ], g[ROWS], G[ROWS * NV], gap = INFINITY;
    int some[LEVELS], kept = 0;
    for (int level = 0; level < LEVELS && !kept; ++level) {
        some[level] = hold_positions(d, level, cost[level]);
        if (!some[level]) continue;
        gap = close_holding(d, t, y, cost[level], s[level]);
        kept = gap <= CLOSED_ENOUGH;
        memcpy(found, s[level], sizeof found);
    }
    for (int level = 0; level < LEVELS && !kept; ++level) { /* held values change by their rounding, or else by more */
        if (!some[level]) continue;
        for (int j = 0; j < NV; ++j) stiff[j] = isinf(cost[level][j]) ? STIFF : 1.0;
        double left = close_from(d, t, y, stiff, s[level]);
        if (!(left <= CLOSED_ENOUGH)) continue;
        gap = left;
        memcpy(found, s[level], sizeof found);
        kept = 1;
        for (int j = 0; j < NV; ++j)
            if (isinf(cost[level][j]) && !(fabs(found[j]) <= ROUNDED * TYPICAL_STEPS[j])) kept = 0;
    }
    if (!(gap <= CLOSED_ENOUGH)) {
        for (int j = 0; j < NV; ++j) { stiff[j] = 1.0; found[j] = 0.0; }
        gap = close_from(d, t, y, stiff, found);
    }
    gaps_after(d, t, y, found, q, g, G);
    double closer[NQ]; /* every angle within half a turn of where it began, if gears allow it */
    for (int i = 0; i < NQ; ++i) closer[i] = q[i] - (IS_ANGLE[i] ? 2 * PI * round((q[i] - y[i]) / (2 * PI)) : 0.0);
    memcpy(y, scaled_gaps(d, t, closer, g, G) <= CLOSED_ENOUGH ? closer : q, sizeof q);
    return gap;
}

/* What a change of speeds leaves of right = b - G v in rest; returns its largest entry. */
static double open_after(const double *G, const double *right, const double *change, double *rest)
{
    double worst = 0.0;
    for (int r = 0; r < ROWS; ++r) {
        rest[r] = right[r];
        for (int j = 0; j < NV; ++j) rest[r] -= G[r * NV + j] * change[j];
        if (!(fabs(rest[r]) <= worst)) worst = fabs(rest[r]);
    }
    return worst;
}

/* The largest entry of v among held speeds. */
static double largest_held(const double *v, const double *cost)
{
    double largest = 0.0;
    for (int j = 0; j < NV; ++j) if (isinf(cost[j]) && fabs(v[j]) > largest) largest = fabs(v[j]);
    return largest;
}

/* The nearest speeds that are compatible with the loops; 0 if there are none, or none with those that were set. */
static int close_speeds(const Data *d, double t, double *y)
{
    double x[1 + NY + NU], terms[ROWS + ROWS * NV + ROWS + NV * NV], G[ROWS * NV], right[ROWS], rest[ROWS];
    double cost[LEVELS][NV], first[LEVELS][NV], stiff[NV], change[NV], more[NV], none[NV], *v = y + NQ;
    int some[LEVELS];
    memcpy(x + 1, y, sizeof(double) * NY);
    inputs_at(d, t, x);
    constraints(x, d->p, terms);
    for (int r = 0; r < ROWS; ++r) {
        for (int j = 0; j < NV; ++j) G[r * NV + j] = terms[ROWS + r * NV + j] / GAP_SCALES[r];
        right[r] = terms[ROWS + ROWS * NV + r] / GAP_SCALES[r];
    }
    open_after(G, right, v, rest);
    memcpy(right, rest, sizeof rest);
    memset(none, 0, sizeof none);
    double enough = 1e-9 * (1.0 + open_after(G, right, none, rest));
    for (int level = 0; level < LEVELS; ++level) {
        some[level] = hold_speeds(d, level, cost[level]);
        if (!some[level]) continue;
        least_change(G, right, cost[level], first[level]);
        if (open_after(G, right, first[level], rest) > enough) continue;
        for (int j = 0; j < NV; ++j) v[j] += first[level][j];
        return 1;
    }
    for (int j = 0; j < NV; ++j) stiff[j] = 1.0;
    least_change(G, right, stiff, change);
    for (int level = 0; level < LEVELS; ++level) { /* held speeds may change by their rounding */
        if (!some[level]) continue;
        open_after(G, right, first[level], rest);
        for (int j = 0; j < NV; ++j) stiff[j] = isinf(cost[level][j]) ? STIFF : 1.0;
        least_change(G, rest, stiff, more);
        for (int j = 0; j < NV; ++j) more[j] += first[level][j];
        if (open_after(G, right, more, rest) > enough) continue;
        memcpy(change, more, sizeof more);
        if (largest_held(more, cost[level]) <= ROUNDED * largest_held(v, cost[level])) break;
    }
    hold_speeds(d, LEVELS - 1, cost[0]);
    if (!(open_after(G, right, change, rest) <= enough)) return 0;
    if (largest_held(change, cost[0]) > ROUNDED * largest_held(v, cost[0])) return 0;
    for (int j = 0; j < NV; ++j) v[j] += change[j];
    return 1;
}
#endif

/* The consistent state next to the given one, in y; 0, or a status above it with a message. */
static int close_loops(Instance *me, double *y)
{
    const Data *d = &me->data;
    normalize(y);
#if ROWS > 0
    double before[NQ], gap, x[1 + NY + NU], found[AT_LEAST_ONE(CHECKS)];
    memcpy(before, y, sizeof before);
    if (!((gap = close_positions(d, d->t, y)) <= CLOSED_ENOUGH))
        return report(me, 3, "the closed loops cannot be closed from this initial state with these parameters; "
                      "largest gap: %.3g of a typical length", gap);
    memcpy(x + 1, y, sizeof(double) * NY);
    inputs_at(d, d->t, x);
    checks(x, d->p, found);
    for (int k = 0; k < CHECKS; ++k)
        if (k < SENSES ? !(found[k] > 0.0) : !(fabs(found[k]) < FIXED_GAP))
            return report(me, 3, k < SENSES ? "a joint closes from this initial state only with its two sides pointing in "
                          "opposite directions" : "with these parameters a closed loop has a gap of %.3g that no motion "
                          "changes", fabs(found[k]));
    if (!close_speeds(d, d->t, y))
        return report(me, 3, "no speeds are compatible with the closed loops and with the speeds that were set");
    for (int i = 0; i < NQ; ++i)
        if (is_held(d, LEVELS - 1, i) && !(fabs(y[i] - before[i]) <= ROUNDED * (IS_ANGLE[i] ? 1.0 : TYPICAL_LENGTH)))
            return report(me, 1, "the closed loops could not be closed with %s = %.9g; it starts at %.9g", NAMES[i],
                          before[i], y[i]);
#endif
    return all_finite(y, NY) ? 0 : report(me, 3, "the initial state is not finite");
}
