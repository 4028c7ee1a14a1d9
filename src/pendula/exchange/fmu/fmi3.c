/* The functions of FMI 3.0, with declarations written from the standard. */

#include <stdbool.h>
#include <stdint.h>

#if defined _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef void (*Logger)(void *, fmi3Status, const char *, const char *);
typedef uint32_t Reference;

static void log_message(Instance *me, int status, const char *message)
{
    union { void *data; Logger call; } logger = {me->callback};
    if (logger.call != NULL && (me->logging || status >= fmi3Warning))
        logger.call(me->environment, (fmi3Status)status, "logStatusError", message);
}

API const char *fmi3GetVersion(void) { return "3.0"; }
API fmi3Status fmi3SetDebugLogging(void *c, bool on, size_t n, const char *const categories[])
{
    (void)n; (void)categories;
    ((Instance *)c)->logging = on;
    return fmi3OK;
}

static void *instantiate(const char *name, const char *token, bool logging, int cosimulation, void *environment, Logger log)
{
    union { Logger call; void *data; } logger = {log};
    if (token == NULL || strcmp(token, TOKEN) != 0) {
        if (log != NULL) log(environment, fmi3Error, "logStatusError", "the instantiation token is not that of the binary");
        return NULL;
    }
    Instance *me = make_instance(name, logging, cosimulation);
    if (me == NULL) return NULL;
    me->log = log_message;
    me->environment = environment;
    me->callback = logger.data;
    return me;
}
API void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                       void *environment, Logger log)
{
    (void)resources; (void)visible;
    return instantiate(name, token, logging, 0, environment, log);
}
API void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible, bool logging,
                                      bool event_mode, bool early_return, const Reference required[], size_t n,
                                      void *environment, Logger log, void *update)
{
    (void)resources; (void)visible; (void)event_mode; (void)early_return; (void)required; (void)n; (void)update;
    return instantiate(name, token, logging, 1, environment, log);
}
API void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible,
                                            bool logging, void *environment, Logger log, void *a, void *b, void *d)
{
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log;
    (void)a; (void)b; (void)d;
    return NULL;
}
API void fmi3FreeInstance(void *c) { free_instance(c); }

API fmi3Status fmi3EnterInitializationMode(void *c, bool has_tolerance, double tolerance, double start_time, bool has_stop,
                                           double stop)
{
    Instance *me = c;
    if (has_tolerance && tolerance > 0.0) me->data.tolerance = tolerance;
    me->data.has_stop = has_stop;
    me->data.stop_time = stop;
    me->data.mode = INITIALIZATION;
    return begin(me, start_time);
}
API fmi3Status fmi3ExitInitializationMode(void *c)
{
    return finish_initialization(c);
}
API fmi3Status fmi3EnterEventMode(void *c) { (void)c; return fmi3OK; }
API fmi3Status fmi3Terminate(void *c) { ((Instance *)c)->data.mode = TERMINATED; return fmi3OK; }
API fmi3Status fmi3Reset(void *c) { reset_data(&((Instance *)c)->data); return fmi3OK; }

API fmi3Status fmi3GetFloat64(void *c, const Reference vr[], size_t n, double values[], size_t m)
{
    if (n != m) return report(c, fmi3Error, "all variables are scalars, but the numbers of references and values differ");
    for (size_t i = 0; i < n; ++i) { int status = get_value(c, vr[i], &values[i]); if (status) return status; }
    return fmi3OK;
}
API fmi3Status fmi3SetFloat64(void *c, const Reference vr[], size_t n, const double values[], size_t m)
{
    if (n != m) return report(c, fmi3Error, "all variables are scalars, but the numbers of references and values differ");
    for (size_t i = 0; i < n; ++i) { int status = set_value(c, vr[i], values[i]); if (status) return status; }
    return fmi3OK;
}

#define NO_VARIABLES(Name, type) \
    API fmi3Status fmi3Get##Name(void *c, const Reference vr[], size_t n, type values[], size_t m) \
    { \
        (void)vr; (void)values; (void)m; \
        return n == 0 ? fmi3OK : (fmi3Status)report(c, fmi3Error, "the model has no variables of type " #Name); \
    } \
    API fmi3Status fmi3Set##Name(void *c, const Reference vr[], size_t n, const type values[], size_t m) \
    { \
        (void)vr; (void)values; (void)m; \
        return n == 0 ? fmi3OK : (fmi3Status)report(c, fmi3Error, "the model has no variables of type " #Name); \
    }
typedef const char *Text;
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
NO_VARIABLES(String, Text)

static fmi3Status not_provided(void *c, const char *what) { return report(c, fmi3Error, "%s not provided", what); }

API fmi3Status fmi3GetBinary(void *c, const Reference vr[], size_t n, size_t sizes[], const uint8_t *values[], size_t m)
{
    (void)vr; (void)sizes; (void)values; (void)m;
    return n == 0 ? fmi3OK : not_provided(c, "binary variables are");
}
API fmi3Status fmi3SetBinary(void *c, const Reference vr[], size_t n, const size_t sizes[], const uint8_t *const values[], size_t m)
{
    (void)vr; (void)sizes; (void)values; (void)m;
    return n == 0 ? fmi3OK : not_provided(c, "binary variables are");
}
API fmi3Status fmi3GetClock(void *c, const Reference vr[], size_t n, bool values[])
{
    (void)vr; (void)values;
    return n == 0 ? fmi3OK : not_provided(c, "clocks are");
}
API fmi3Status fmi3SetClock(void *c, const Reference vr[], size_t n, const bool values[])
{
    (void)vr; (void)values;
    return n == 0 ? fmi3OK : not_provided(c, "clocks are");
}
API fmi3Status fmi3GetNumberOfVariableDependencies(void *c, Reference vr, size_t *n) { (void)vr; *n = 0; return not_provided(c, "dependencies are"); }
API fmi3Status fmi3GetVariableDependencies(void *c, Reference vr, size_t a[], Reference b[], size_t d[], int kinds[], size_t n)
{
    (void)vr; (void)a; (void)b; (void)d; (void)kinds; (void)n;
    return not_provided(c, "dependencies are");
}

API fmi3Status fmi3GetFMUState(void *c, void **state)
{
    if (*state == NULL) *state = malloc(sizeof(Data));
    if (*state == NULL) return report(c, fmi3Error, "there is no memory for a state");
    memcpy(*state, &((Instance *)c)->data, sizeof(Data));
    return fmi3OK;
}
API fmi3Status fmi3SetFMUState(void *c, void *state) { memcpy(&((Instance *)c)->data, state, sizeof(Data)); return fmi3OK; }
API fmi3Status fmi3FreeFMUState(void *c, void **state) { (void)c; free(*state); *state = NULL; return fmi3OK; }
API fmi3Status fmi3SerializedFMUStateSize(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Data); return fmi3OK; }
API fmi3Status fmi3SerializeFMUState(void *c, void *state, uint8_t bytes[], size_t size)
{
    if (size < sizeof(Data)) return report(c, fmi3Error, "the buffer is too small for a state");
    memcpy(bytes, state, sizeof(Data));
    return fmi3OK;
}
API fmi3Status fmi3DeserializeFMUState(void *c, const uint8_t bytes[], size_t size, void **state)
{
    if (size != sizeof(Data)) return report(c, fmi3Error, "these bytes are not a state of this model");
    if (*state == NULL) *state = malloc(sizeof(Data));
    if (*state == NULL) return report(c, fmi3Error, "there is no memory for a state");
    memcpy(*state, bytes, sizeof(Data));
    return fmi3OK;
}
API fmi3Status fmi3GetDirectionalDerivative(void *c, const Reference a[], size_t n, const Reference b[], size_t m,
                                            const double x[], size_t k, double y[], size_t l)
{
    (void)a; (void)n; (void)b; (void)m; (void)x; (void)k; (void)y; (void)l;
    return not_provided(c, "directional derivatives are");
}
API fmi3Status fmi3GetAdjointDerivative(void *c, const Reference a[], size_t n, const Reference b[], size_t m,
                                        const double x[], size_t k, double y[], size_t l)
{
    (void)a; (void)n; (void)b; (void)m; (void)x; (void)k; (void)y; (void)l;
    return not_provided(c, "adjoint derivatives are");
}

API fmi3Status fmi3EnterConfigurationMode(void *c) { return not_provided(c, "structural parameters are"); }
API fmi3Status fmi3ExitConfigurationMode(void *c) { return not_provided(c, "structural parameters are"); }
API fmi3Status fmi3GetIntervalDecimal(void *c, const Reference vr[], size_t n, double a[], int q[]) { (void)vr; (void)n; (void)a; (void)q; return not_provided(c, "clocks are"); }
API fmi3Status fmi3GetShiftDecimal(void *c, const Reference vr[], size_t n, double a[]) { (void)vr; (void)n; (void)a; return not_provided(c, "clocks are"); }
API fmi3Status fmi3SetIntervalDecimal(void *c, const Reference vr[], size_t n, const double a[]) { (void)vr; (void)n; (void)a; return not_provided(c, "clocks are"); }
API fmi3Status fmi3SetShiftDecimal(void *c, const Reference vr[], size_t n, const double a[]) { (void)vr; (void)n; (void)a; return not_provided(c, "clocks are"); }
API fmi3Status fmi3GetIntervalFraction(void *c, const Reference vr[], size_t n, uint64_t a[], uint64_t b[], int q[]) { (void)vr; (void)n; (void)a; (void)b; (void)q; return not_provided(c, "clocks are"); }
API fmi3Status fmi3GetShiftFraction(void *c, const Reference vr[], size_t n, uint64_t a[], uint64_t b[]) { (void)vr; (void)n; (void)a; (void)b; return not_provided(c, "clocks are"); }
API fmi3Status fmi3SetIntervalFraction(void *c, const Reference vr[], size_t n, const uint64_t a[], const uint64_t b[]) { (void)vr; (void)n; (void)a; (void)b; return not_provided(c, "clocks are"); }
API fmi3Status fmi3SetShiftFraction(void *c, const Reference vr[], size_t n, const uint64_t a[], const uint64_t b[]) { (void)vr; (void)n; (void)a; (void)b; return not_provided(c, "clocks are"); }
API fmi3Status fmi3EvaluateDiscreteStates(void *c) { (void)c; return fmi3OK; }
API fmi3Status fmi3UpdateDiscreteStates(void *c, bool *again, bool *terminate, bool *nominals, bool *values, bool *has_next, double *next)
{
    Instance *me = c;
    *again = *terminate = *nominals = *values = *has_next = false;
    *next = 0.0;
    if (me->data.mode == RUNNING && drifted(me)) {
        if (!project(&me->data, me->data.t, me->data.y, GAP_TOLERANCE))
            return report(me, fmi3Error, "the closed loops came apart at t = %.9g", me->data.t);
        me->data.fresh = 0;
        *values = true;
    }
    return fmi3OK;
}

/* -- model exchange -- */

API fmi3Status fmi3EnterContinuousTimeMode(void *c) { (void)c; return fmi3OK; }
API fmi3Status fmi3CompletedIntegratorStep(void *c, bool no_set_prior, bool *enter_event_mode, bool *terminate)
{
    (void)no_set_prior;
    *enter_event_mode = drifted(c);
    *terminate = false;
    return fmi3OK;
}
API fmi3Status fmi3SetTime(void *c, double t) { ((Instance *)c)->data.t = t; ((Instance *)c)->data.fresh = 0; return fmi3OK; }
API fmi3Status fmi3SetContinuousStates(void *c, const double y[], size_t n)
{
    if (n != NY) return report(c, fmi3Error, "the model has %d states", NY);
    memcpy(((Instance *)c)->data.y, y, sizeof(double) * NY);
    ((Instance *)c)->data.fresh = 0;
    return fmi3OK;
}
API fmi3Status fmi3GetContinuousStateDerivatives(void *c, double rates[], size_t n)
{
    if (n != NY) return report(c, fmi3Error, "the model has %d states", NY);
    int status = refresh(c);
    if (status == 0) memcpy(rates, ((Instance *)c)->data.rates, sizeof(double) * NY);
    return status;
}
API fmi3Status fmi3GetEventIndicators(void *c, double z[], size_t n) { (void)c; (void)z; (void)n; return fmi3OK; }
API fmi3Status fmi3GetContinuousStates(void *c, double y[], size_t n)
{
    if (n != NY) return report(c, fmi3Error, "the model has %d states", NY);
    memcpy(y, ((Instance *)c)->data.y, sizeof(double) * NY);
    return fmi3OK;
}
API fmi3Status fmi3GetNominalsOfContinuousStates(void *c, double nominals[], size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; ++i) nominals[i] = 1.0;
    return fmi3OK;
}
API fmi3Status fmi3GetNumberOfEventIndicators(void *c, size_t *n) { (void)c; *n = 0; return fmi3OK; }
API fmi3Status fmi3GetNumberOfContinuousStates(void *c, size_t *n) { (void)c; *n = NY; return fmi3OK; }

/* -- co-simulation -- */

API fmi3Status fmi3EnterStepMode(void *c) { (void)c; return fmi3OK; }
API fmi3Status fmi3GetOutputDerivatives(void *c, const Reference vr[], size_t n, const int32_t orders[], double values[], size_t m)
{
    (void)vr; (void)orders; (void)values; (void)m;
    return n == 0 ? fmi3OK : not_provided(c, "derivatives of outputs are");
}
API fmi3Status fmi3DoStep(void *c, double t, double h, bool no_set_prior, bool *event_needed, bool *terminate, bool *early,
                          double *last)
{
    Instance *me = c;
    (void)no_set_prior;
    *event_needed = *terminate = *early = false;
    *last = me->data.t;
    if (me->data.mode != RUNNING) return report(me, fmi3Error, "a step needs a completed initialization");
    if (fabs(t - me->data.t) > 1e-9 * (1.0 + fabs(t)))
        return report(me, fmi3Error, "the step starts at t = %.9g, but the model is at %.9g", t, me->data.t);
    int status = advance(me, t + h);
    *last = me->data.t;
    return status;
}
API fmi3Status fmi3ActivateModelPartition(void *c, Reference clock, double t) { (void)clock; (void)t; return not_provided(c, "clocks are"); }
