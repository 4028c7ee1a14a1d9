/* The functions of FMI 2.0, with declarations written from the standard. */

#if defined _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef void (*Logger)(void *, const char *, fmi2Status, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *componentEnvironment;
} Callbacks;
typedef struct {
    int newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    int valuesOfContinuousStatesChanged, nextEventTimeDefined;
    double nextEventTime;
} EventInfo;

static void log_message(Instance *me, int status, const char *message)
{
    const Callbacks *callbacks = me->callback;
    if (callbacks != NULL && callbacks->logger != NULL && (me->logging || status >= fmi2Warning))
        callbacks->logger(me->environment, me->name, (fmi2Status)status, "logStatusError", "%s", message);
}

API const char *fmi2GetTypesPlatform(void) { return "default"; }
API const char *fmi2GetVersion(void) { return "2.0"; }
API fmi2Status fmi2SetDebugLogging(void *c, int on, size_t n, const char *const categories[])
{
    (void)n; (void)categories;
    ((Instance *)c)->logging = on;
    return fmi2OK;
}

API void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const Callbacks *callbacks,
                          int visible, int logging)
{
    (void)resources; (void)visible;
    if (callbacks == NULL || guid == NULL || strcmp(guid, TOKEN) != 0) {
        if (callbacks != NULL && callbacks->logger != NULL)
            callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", "the GUID of the model "
                              "description is not that of the binary: %s", guid == NULL ? "none" : guid);
        return NULL;
    }
    Instance *me = make_instance(name, logging, type == 1);
    if (me == NULL) return NULL;
    me->log = log_message;
    me->environment = callbacks->componentEnvironment;
    me->callback = (void *)callbacks;
    return me;
}
API void fmi2FreeInstance(void *c) { free_instance(c); }

API fmi2Status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance, double start_time, int has_stop, double stop)
{
    Instance *me = c;
    if (has_tolerance && tolerance > 0.0) me->data.tolerance = tolerance;
    me->data.has_stop = has_stop;
    me->data.stop_time = stop;
    return begin(me, start_time);
}
API fmi2Status fmi2EnterInitializationMode(void *c) { ((Instance *)c)->data.mode = INITIALIZATION; return fmi2OK; }
API fmi2Status fmi2ExitInitializationMode(void *c)
{
    return finish_initialization(c);
}
API fmi2Status fmi2Terminate(void *c) { ((Instance *)c)->data.mode = TERMINATED; return fmi2OK; }
API fmi2Status fmi2Reset(void *c) { reset_data(&((Instance *)c)->data); return fmi2OK; }

API fmi2Status fmi2GetReal(void *c, const unsigned int vr[], size_t n, double values[])
{
    for (size_t i = 0; i < n; ++i) { int status = get_value(c, vr[i], &values[i]); if (status) return status; }
    return fmi2OK;
}
API fmi2Status fmi2SetReal(void *c, const unsigned int vr[], size_t n, const double values[])
{
    for (size_t i = 0; i < n; ++i) { int status = set_value(c, vr[i], values[i]); if (status) return status; }
    return fmi2OK;
}
static fmi2Status no_variables(void *c, size_t n, const char *kind)
{
    return n == 0 ? fmi2OK : (fmi2Status)report(c, fmi2Error, "the model has no variables of type %s", kind);
}
API fmi2Status fmi2GetInteger(void *c, const unsigned int vr[], size_t n, int v[]) { (void)vr; (void)v; return no_variables(c, n, "Integer"); }
API fmi2Status fmi2GetBoolean(void *c, const unsigned int vr[], size_t n, int v[]) { (void)vr; (void)v; return no_variables(c, n, "Boolean"); }
API fmi2Status fmi2GetString(void *c, const unsigned int vr[], size_t n, const char *v[]) { (void)vr; (void)v; return no_variables(c, n, "String"); }
API fmi2Status fmi2SetInteger(void *c, const unsigned int vr[], size_t n, const int v[]) { (void)vr; (void)v; return no_variables(c, n, "Integer"); }
API fmi2Status fmi2SetBoolean(void *c, const unsigned int vr[], size_t n, const int v[]) { (void)vr; (void)v; return no_variables(c, n, "Boolean"); }
API fmi2Status fmi2SetString(void *c, const unsigned int vr[], size_t n, const char *const v[]) { (void)vr; (void)v; return no_variables(c, n, "String"); }

API fmi2Status fmi2GetFMUstate(void *c, void **state)
{
    if (*state == NULL) *state = malloc(sizeof(Data));
    if (*state == NULL) return report(c, fmi2Error, "there is no memory for a state");
    memcpy(*state, &((Instance *)c)->data, sizeof(Data));
    return fmi2OK;
}
API fmi2Status fmi2SetFMUstate(void *c, void *state) { memcpy(&((Instance *)c)->data, state, sizeof(Data)); return fmi2OK; }
API fmi2Status fmi2FreeFMUstate(void *c, void **state) { (void)c; free(*state); *state = NULL; return fmi2OK; }
API fmi2Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Data); return fmi2OK; }
API fmi2Status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size)
{
    if (size < sizeof(Data)) return report(c, fmi2Error, "the buffer is too small for a state");
    memcpy(bytes, state, sizeof(Data));
    return fmi2OK;
}
API fmi2Status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state)
{
    if (size != sizeof(Data)) return report(c, fmi2Error, "these bytes are not a state of this model");
    if (*state == NULL) *state = malloc(sizeof(Data));
    if (*state == NULL) return report(c, fmi2Error, "there is no memory for a state");
    memcpy(*state, bytes, sizeof(Data));
    return fmi2OK;
}
API fmi2Status fmi2GetDirectionalDerivative(void *c, const unsigned int a[], size_t n, const unsigned int b[], size_t m,
                                            const double x[], double y[])
{
    (void)a; (void)n; (void)b; (void)m; (void)x; (void)y;
    return report(c, fmi2Error, "directional derivatives are not provided");
}

/* -- model exchange -- */

API fmi2Status fmi2EnterEventMode(void *c) { (void)c; return fmi2OK; }
API fmi2Status fmi2NewDiscreteStates(void *c, EventInfo *info)
{
    Instance *me = c;
    memset(info, 0, sizeof *info);
    if (me->data.mode == RUNNING && drifted(me)) {
        if (!project(&me->data, me->data.t, me->data.y, GAP_TOLERANCE))
            return report(me, fmi2Error, "the closed loops came apart at t = %.9g", me->data.t);
        me->data.fresh = 0;
        info->valuesOfContinuousStatesChanged = 1;
    }
    return fmi2OK;
}
API fmi2Status fmi2EnterContinuousTimeMode(void *c) { (void)c; return fmi2OK; }
API fmi2Status fmi2CompletedIntegratorStep(void *c, int no_set_prior, int *enter_event_mode, int *terminate)
{
    (void)no_set_prior;
    *enter_event_mode = drifted(c);
    *terminate = 0;
    return fmi2OK;
}
API fmi2Status fmi2SetTime(void *c, double t) { ((Instance *)c)->data.t = t; ((Instance *)c)->data.fresh = 0; return fmi2OK; }
API fmi2Status fmi2SetContinuousStates(void *c, const double y[], size_t n)
{
    if (n != NY) return report(c, fmi2Error, "the model has %d states", NY);
    memcpy(((Instance *)c)->data.y, y, sizeof(double) * NY);
    ((Instance *)c)->data.fresh = 0;
    return fmi2OK;
}
API fmi2Status fmi2GetDerivatives(void *c, double rates[], size_t n)
{
    if (n != NY) return report(c, fmi2Error, "the model has %d states", NY);
    int status = refresh(c);
    if (status == 0) memcpy(rates, ((Instance *)c)->data.rates, sizeof(double) * NY);
    return status;
}
API fmi2Status fmi2GetEventIndicators(void *c, double z[], size_t n) { (void)c; (void)z; (void)n; return fmi2OK; }
API fmi2Status fmi2GetContinuousStates(void *c, double y[], size_t n)
{
    if (n != NY) return report(c, fmi2Error, "the model has %d states", NY);
    memcpy(y, ((Instance *)c)->data.y, sizeof(double) * NY);
    return fmi2OK;
}
API fmi2Status fmi2GetNominalsOfContinuousStates(void *c, double nominals[], size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; ++i) nominals[i] = 1.0;
    return fmi2OK;
}

/* -- co-simulation -- */

API fmi2Status fmi2DoStep(void *c, double t, double h, int no_set_prior)
{
    Instance *me = c;
    (void)no_set_prior;
    if (me->data.mode != RUNNING) return report(me, fmi2Error, "a step needs a completed initialization");
    if (fabs(t - me->data.t) > 1e-9 * (1.0 + fabs(t))) return report(me, fmi2Error, "the step starts at t = %.9g, but the model is at %.9g", t, me->data.t);
    return advance(me, t + h);
}
API fmi2Status fmi2SetRealInputDerivatives(void *c, const unsigned int vr[], size_t n, const int order[], const double v[])
{
    (void)vr; (void)order; (void)v;
    return n == 0 ? fmi2OK : (fmi2Status)report(c, fmi2Error, "inputs are not interpolated");
}
API fmi2Status fmi2GetRealOutputDerivatives(void *c, const unsigned int vr[], size_t n, const int order[], double v[])
{
    (void)vr; (void)order; (void)v;
    return n == 0 ? fmi2OK : (fmi2Status)report(c, fmi2Error, "derivatives of outputs are not provided");
}
API fmi2Status fmi2CancelStep(void *c) { return report(c, fmi2Error, "steps are not asynchronous"); }
API fmi2Status fmi2GetStatus(void *c, int kind, fmi2Status *value) { (void)kind; *value = fmi2OK; (void)c; return fmi2Discard; }
API fmi2Status fmi2GetRealStatus(void *c, int kind, double *value)
{
    if (kind != 2) return fmi2Discard;
    *value = ((Instance *)c)->data.t;
    return fmi2OK;
}
API fmi2Status fmi2GetIntegerStatus(void *c, int kind, int *value) { (void)c; (void)kind; *value = 0; return fmi2Discard; }
API fmi2Status fmi2GetBooleanStatus(void *c, int kind, int *value) { (void)c; (void)kind; *value = 0; return fmi2Discard; }
API fmi2Status fmi2GetStringStatus(void *c, int kind, const char **value) { (void)c; (void)kind; *value = ""; return fmi2Discard; }
