/* The engine of an FMU: accelerations, projection onto constraints, an adaptive Runge-Kutta stepper, and variables.
   The generated part above defines the sizes (NQ, NV, NU, ROWS, NP, DERIVED, PREPARED, OUTPUTS, VARIABLES), the arrays
   PARAMETER_START, STATE_START and QUATERNIONS, TYPICAL_LENGTH, and the functions prepare, start, derived, dynamics,
   constraints, rates, inputs, outputs, solve_constrained. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NY (NQ + NV)
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

/* value references: 0 is the time, then states, their derivatives, parameters, derived parameters, inputs, outputs */
#define FIRST_STATE 1
#define FIRST_DERIVATIVE (FIRST_STATE + NY)
#define FIRST_PARAMETER (FIRST_DERIVATIVE + NY)
#define FIRST_DERIVED (FIRST_PARAMETER + NP)
#define FIRST_INPUT (FIRST_DERIVED + DERIVED)
#define FIRST_OUTPUT (FIRST_INPUT + NU)

typedef enum { INSTANTIATED, INITIALIZATION, RUNNING, TERMINATED, FAILED } Mode;

/* Everything that changes during a simulation; a saved state of an FMU is a copy of it. */
typedef struct {
    Mode mode;
    double t, start_time, stop_time, tolerance, step;
    int has_stop, fresh, settled;   /* fresh: rates belong to t, y, u, p; settled: so does y at the start to given */
    double given[NY], y[NY], rates[NY], multipliers[AT_LEAST_ONE(ROWS)], u[AT_LEAST_ONE(NU)];
    double p[AT_LEAST_ONE(NP + PREPARED)];
    unsigned char state_is_set[NY], input_is_set[AT_LEAST_ONE(NU)];
} Data;

typedef struct Instance {
    Data data;
    void (*log)(struct Instance *, int status, const char *message);
    void *environment, *callback;
    char *name;
    int logging, cosimulation;
} Instance;

static int report(Instance *me, int status, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    me->log(me, status, text);
    return status;
}

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; ++i) if (!isfinite(x[i])) return 0;
    return 1;
}

/* Inputs at a time: those that were set, and for the others what the model gives. */
static void inputs_at(const Data *d, double t, double *x)
{
    double given[AT_LEAST_ONE(NU)];
    x[0] = t;
    inputs(x, d->p, given);
    for (int k = 0; k < NU; ++k) x[1 + NY + k] = d->input_is_set[k] ? d->u[k] : given[k];
}

static int rates_at(const Data *d, double t, const double *y, double *ydot, double *lam)
{
    double x[1 + NY + NU], terms[NV * NV + NV + NQ + ROWS * NV + ROWS];
    const double *M = terms, *f = M + NV * NV, *qdot = f + NV, *G = qdot + NQ, *c = G + ROWS * NV;
    memcpy(x + 1, y, sizeof(double) * NY);
    inputs_at(d, t, x);
    dynamics(x, d->p, terms);
    memcpy(ydot, qdot, sizeof(double) * NQ);
    solve_constrained(M, f, G, c, TYPICAL_LENGTH, ydot + NQ, lam);
    return all_finite(ydot, NY);
}

/* -- constraints ----------------------------------------------------------------------------------------- */

static void normalize(double *y)
{
    for (int k = 0; k < NUMBER_OF_QUATERNIONS; ++k) {
        double *q = y + QUATERNIONS[k], norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (norm > 0.0) for (int i = 0; i < 4; ++i) q[i] /= norm;
    }
}

/* Largest gap, of positions and quaternions. */
static double largest_gap(const Data *d, double t, const double *y)
{
    double worst = 0.0;
    for (int k = 0; k < NUMBER_OF_QUATERNIONS; ++k) {
        const double *q = y + QUATERNIONS[k];
        double gap = fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0);
        if (gap > worst) worst = gap;
    }
#if ROWS > 0
    double x[1 + NY + NU], terms[ROWS + ROWS * NV + ROWS + NV * NV];
    memcpy(x + 1, y, sizeof(double) * NY);
    inputs_at(d, t, x);
    constraints(x, d->p, terms);
    for (int r = 0; r < ROWS; ++r) if (fabs(terms[r]) > worst) worst = fabs(terms[r]);
#else
    (void)d; (void)t;
#endif
    return worst;
}

#if ROWS > 0
/* N s of q' = N v + n, at the coordinates in x. */
static void motion_along(const double *p, double *x, const double *s, double *motion)
{
    double still[NQ];
    memcpy(x + 1 + NQ, s, sizeof(double) * NV);
    rates(x, p, motion);
    memset(x + 1 + NQ, 0, sizeof(double) * NV);
    rates(x, p, still);
    for (int i = 0; i < NQ; ++i) motion[i] -= still[i];
}
#endif

/* The nearest state that satisfies the constraints, in the metric of the mass matrix; 0 if it was not found. */
static int project(const Data *d, double t, double *y, double tolerance)
{
    normalize(y);
#if ROWS > 0
    double x[1 + NY + NU], terms[ROWS + ROWS * NV + ROWS + NV * NV], none[NV], right[ROWS], shift[NV], lam[ROWS];
    double moved[NQ];
    const double *g = terms, *G = g + ROWS, *b = G + ROWS * NV, *M = b + ROWS;
    double worst = 0.0;
    memset(none, 0, sizeof none);
    for (int iteration = 0; iteration < 30; ++iteration) {
        memcpy(x + 1, y, sizeof(double) * NY);
        inputs_at(d, t, x);
        constraints(x, d->p, terms);
        worst = 0.0;
        for (int r = 0; r < ROWS; ++r) {
            right[r] = -g[r];
            if (!(fabs(g[r]) <= worst)) worst = fabs(g[r]);
        }
        if (!isfinite(worst)) return 0;
        if (worst <= tolerance) break;
        solve_constrained(M, none, G, right, TYPICAL_LENGTH, shift, lam);
        motion_along(d->p, x, shift, moved);
        for (int i = 0; i < NQ; ++i) y[i] += moved[i];
        normalize(y);
    }
    if (!(worst <= 1e3 * tolerance)) return 0;
    for (int r = 0; r < ROWS; ++r) {
        right[r] = b[r];
        for (int j = 0; j < NV; ++j) right[r] -= G[r * NV + j] * y[NQ + j];
    }
    solve_constrained(M, none, G, right, TYPICAL_LENGTH, shift, lam);
    for (int j = 0; j < NV; ++j) y[NQ + j] += shift[j];
#else
    (void)d; (void)t; (void)tolerance;
#endif
    return all_finite(y, NY);
}

/* of gaps at the end of a step, and of the drift that model exchange leaves alone */
#define GAP_TOLERANCE (1e-12 * TYPICAL_LENGTH)
#define DRIFT_TOLERANCE (1e-9 * TYPICAL_LENGTH)

/* -- one simulation -------------------------------------------------------------------------------------- */

static int close_loops(Instance *me, double *y);

/* The start: states that were set, the others as the model gives them, moved to close the loops. */
static int settle(Instance *me)
{
    Data *d = &me->data;
    double given[NY];
    int status = 0;
    if (d->mode > INITIALIZATION || d->settled) return 0;
    prepare(d->p);
    start(NULL, d->p, given);
    for (int i = 0; i < NY; ++i) if (!d->state_is_set[i]) d->given[i] = given[i];
    memcpy(d->y, d->given, sizeof given);
    status = close_loops(me, d->y);
    d->settled = 1;
    d->fresh = 0;
    return status;
}

static void reset_data(Data *d)
{
    memset(d, 0, sizeof *d);
    memcpy(d->p, PARAMETER_START, sizeof(double) * NP);
    d->tolerance = TOLERANCE;
    d->mode = INSTANTIATED;
}

static int refresh(Instance *me)
{
    Data *d = &me->data;
    if (d->fresh) return 0;
    if (!rates_at(d, d->t, d->y, d->rates, d->multipliers))
        return report(me, 3, "the accelerations are not finite at t = %.9g: a singular pose or a bad parameter", d->t);
    d->fresh = 1;
    return 0;
}

static int finish_initialization(Instance *me)
{
    Data *d = &me->data;
    d->settled = 0;
    int status = settle(me), failed = status > 1 ? status : refresh(me);
    d->mode = failed ? FAILED : RUNNING;
    return failed ? failed : status;
}

/* Dormand and Prince 1980, order 5 with an error estimate of order 4. */
static const double A21 = 1.0 / 5, A31 = 3.0 / 40, A32 = 9.0 / 40, A41 = 44.0 / 45, A42 = -56.0 / 15, A43 = 32.0 / 9,
    A51 = 19372.0 / 6561, A52 = -25360.0 / 2187, A53 = 64448.0 / 6561, A54 = -212.0 / 729,
    A61 = 9017.0 / 3168, A62 = -355.0 / 33, A63 = 46732.0 / 5247, A64 = 49.0 / 176, A65 = -5103.0 / 18656,
    B1 = 35.0 / 384, B3 = 500.0 / 1113, B4 = 125.0 / 192, B5 = -2187.0 / 6784, B6 = 11.0 / 84,
    E1 = 71.0 / 57600, E3 = -71.0 / 16695, E4 = 71.0 / 1920, E5 = -17253.0 / 339200, E6 = 22.0 / 525, E7 = -1.0 / 40;

#define STAGE(k, at, sum) \
    for (int i = 0; i < NY; ++i) z[i] = y[i] + h * (sum); \
    if (!rates_at(d, t + (at) * h, z, k, lam)) return -1.0

/* One step from y with the slope k1 to next; returns the error relative to the tolerance, negative if not finite. */
static double attempt(const Data *d, double t, double h, const double *y, const double *k1, double *next)
{
    double z[NY], k2[NY], k3[NY], k4[NY], k5[NY], k6[NY], k7[NY], lam[AT_LEAST_ONE(ROWS)], worst = 0.0;
    STAGE(k2, 0.2, A21 * k1[i]);
    STAGE(k3, 0.3, A31 * k1[i] + A32 * k2[i]);
    STAGE(k4, 0.8, A41 * k1[i] + A42 * k2[i] + A43 * k3[i]);
    STAGE(k5, 8.0 / 9, A51 * k1[i] + A52 * k2[i] + A53 * k3[i] + A54 * k4[i]);
    STAGE(k6, 1.0, A61 * k1[i] + A62 * k2[i] + A63 * k3[i] + A64 * k4[i] + A65 * k5[i]);
    for (int i = 0; i < NY; ++i)
        next[i] = y[i] + h * (B1 * k1[i] + B3 * k3[i] + B4 * k4[i] + B5 * k5[i] + B6 * k6[i]);
    if (!all_finite(next, NY) || !rates_at(d, t + h, next, k7, lam)) return -1.0;
    for (int i = 0; i < NY; ++i) {
        double size = fabs(y[i]) > fabs(next[i]) ? fabs(y[i]) : fabs(next[i]);
        double error = h * (E1 * k1[i] + E3 * k3[i] + E4 * k4[i] + E5 * k5[i] + E6 * k6[i] + E7 * k7[i]);
        double ratio = fabs(error) / (d->tolerance * (1.0 + size));
        if (!(ratio <= worst)) worst = ratio;
    }
    return isfinite(worst) ? worst : -1.0;
}

/* Moves the instance to a time; 0, or a status above it with a message. */
static int advance(Instance *me, double until)
{
    Data *d = &me->data;
    double next[NY];
    int failed = refresh(me);
    if (failed) return failed;
    if (!(d->step > 0.0)) {
        double speed = 0.0;
        for (int i = 0; i < NY; ++i) if (fabs(d->rates[i]) > speed) speed = fabs(d->rates[i]);
        d->step = 0.01 / (1.0 + speed);
    }
    for (long count = 0; d->t < until; ++count) {
        double left = until - d->t, h = d->step < left ? d->step : left;
        int last = h >= left * (1.0 - 1e-12);
        if (last) h = left;
        double error = attempt(d, d->t, h, d->y, d->rates, next);
        if (error >= 0.0 && error <= 1.0) {
            double t = last ? until : d->t + h;
            if (!project(d, t, next, GAP_TOLERANCE))
                return report(me, 3, "the closed loops came apart at t = %.9g: a singular pose", t);
            d->t = t;
            memcpy(d->y, next, sizeof next);
            d->fresh = 0;
            if ((failed = refresh(me)) != 0) return failed;
            double factor = error > 0.0 ? 0.9 * pow(error, -0.2) : 5.0;
            factor = factor > 5.0 ? 5.0 : factor;
            if (!last || factor * h > d->step || factor < 1.0) d->step = h * (factor > 0.2 ? factor : 0.2);
        } else {
            d->step = h * (error < 0.0 ? 0.25 : fmax(0.2, 0.9 * pow(error, -0.2)));
            if (d->step < 1e-13 * (1.0 + fabs(d->t)))
                return report(me, 3, "steps became too small at t = %.9g: a singular pose or a jump of a force", d->t);
        }
        if (count > 50000000L) return report(me, 3, "too many steps before t = %.9g", until);
    }
    return 0;
}

/* -- variables ------------------------------------------------------------------------------------------- */

static int get_value(Instance *me, unsigned int reference, double *value)
{
    Data *d = &me->data;
    int k = (int)reference;
    if (reference >= VARIABLES) return report(me, 3, "there is no variable with the value reference %u", reference);
    if (k < FIRST_STATE) { *value = d->t; return 0; }
    if (!d->settled) prepare(d->p);
    if (k >= FIRST_PARAMETER && k < FIRST_DERIVED) { *value = d->p[k - FIRST_PARAMETER]; return 0; }
    if (k >= FIRST_DERIVED && k < FIRST_INPUT) {
        double found[AT_LEAST_ONE(DERIVED)];
        derived(NULL, d->p, found);
        *value = found[k - FIRST_DERIVED];
        return 0;
    }
    if (k >= FIRST_INPUT && k < FIRST_OUTPUT) {
        double x[1 + NY + NU];
        memcpy(x + 1, d->y, sizeof d->y);
        inputs_at(d, d->t, x);
        *value = x[1 + NY + k - FIRST_INPUT];
        return 0;
    }
    int failed = settle(me);
    if (failed > 1) return failed;
    if (k < FIRST_DERIVATIVE) { *value = d->y[k - FIRST_STATE]; return 0; }
    if ((failed = refresh(me)) != 0) return failed;
    if (k < FIRST_PARAMETER) { *value = d->rates[k - FIRST_DERIVATIVE]; return 0; }
    double x[1 + NY + NU + NV + AT_LEAST_ONE(ROWS)], found[AT_LEAST_ONE(OUTPUTS)];
    memcpy(x + 1, d->y, sizeof d->y);
    inputs_at(d, d->t, x);
    memcpy(x + 1 + NY + NU, d->rates + NQ, sizeof(double) * NV);
    memcpy(x + 1 + NY + NU + NV, d->multipliers, sizeof(double) * ROWS);
    outputs(x, d->p, found);
    *value = found[k - FIRST_OUTPUT];
    return 0;
}

static int set_value(Instance *me, unsigned int reference, double value)
{
    Data *d = &me->data;
    int k = (int)reference, early = d->mode == INSTANTIATED || d->mode == INITIALIZATION;
    if (reference >= VARIABLES) return report(me, 3, "there is no variable with the value reference %u", reference);
    if (!isfinite(value)) return report(me, 3, "the value of variable %u is not finite", reference);
    if (k >= FIRST_STATE && k < FIRST_DERIVATIVE) {
        if (!early) return report(me, 3, "a state can be set only before the end of initialization");
        d->given[k - FIRST_STATE] = value;
        d->state_is_set[k - FIRST_STATE] = 1;
    } else if (k >= FIRST_PARAMETER && k < FIRST_DERIVED) {
        if (!early) return report(me, 3, "a parameter can be set only before the end of initialization");
        d->p[k - FIRST_PARAMETER] = value;
    } else if (k >= FIRST_INPUT && k < FIRST_OUTPUT) {
        d->u[k - FIRST_INPUT] = value;
        d->input_is_set[k - FIRST_INPUT] = 1;
    } else {
        return report(me, 3, "the variable with the value reference %u cannot be set", reference);
    }
    d->fresh = 0;
    if (early) d->settled = 0;
    return 0;
}

/* -- instances ------------------------------------------------------------------------------------------- */

static Instance *make_instance(const char *name, int logging, int cosimulation)
{
    Instance *me = calloc(1, sizeof *me);
    if (me == NULL) return NULL;
    const char *text = name == NULL ? "" : name;
    me->name = malloc(strlen(text) + 1);
    if (me->name == NULL) { free(me); return NULL; }
    strcpy(me->name, text);
    me->logging = logging;
    me->cosimulation = cosimulation;
    reset_data(&me->data);
    return me;
}

static void free_instance(Instance *me)
{
    if (me == NULL) return;
    free(me->name);
    free(me);
}

/* Whether the states drifted so far that an event should bring them back. */
static int drifted(Instance *me)
{
    return largest_gap(&me->data, me->data.t, me->data.y) > DRIFT_TOLERANCE;
}

static int begin(Instance *me, double start_time)
{
    me->data.t = me->data.start_time = start_time;
    me->data.settled = me->data.fresh = 0;
    return 0;
}
