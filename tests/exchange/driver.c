/* Runs an FMU of FMI 2.0 for co-simulation without Python: driver LIBRARY GUID END STEPS N, prints t and N states. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { void (*logger)(void *, const char *, int, const char *, const char *, ...); void *a, *b, *c, *environment; } Callbacks;

static void logger(void *e, const char *name, int status, const char *category, const char *message, ...)
{
    va_list arguments;
    (void)e;
    fprintf(stderr, "%s %d %s: ", name, status, category);
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
}

int main(int count, char **words)
{
    Callbacks callbacks = {logger, NULL, NULL, NULL, NULL};
    void *library = dlopen(words[1], RTLD_NOW);
    if (count < 6 || library == NULL) return 2;
    void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int) = dlsym(library, "fmi2Instantiate");
    int (*setup)(void *, int, double, double, int, double) = dlsym(library, "fmi2SetupExperiment");
    int (*enter)(void *) = dlsym(library, "fmi2EnterInitializationMode"), (*leave)(void *) = dlsym(library, "fmi2ExitInitializationMode");
    int (*step)(void *, double, double, int) = dlsym(library, "fmi2DoStep");
    int (*get)(void *, const unsigned *, size_t, double *) = dlsym(library, "fmi2GetReal");
    void (*release)(void *) = dlsym(library, "fmi2FreeInstance");
    double end = atof(words[3]);
    int steps = atoi(words[4]), n = atoi(words[5]);
    void *me = instantiate("toy", 1, words[2], "", &callbacks, 0, 0);
    if (me == NULL || setup(me, 1, 1e-10, 0.0, 0, 0.0) || enter(me) || leave(me)) return 3;
    for (int k = 0; k <= steps; ++k) {
        if (k > 0 && step(me, (k - 1) * end / steps, end / steps, 1)) return 4;
        printf("%.17g", k * end / steps);
        for (unsigned i = 1; i <= (unsigned)n; ++i) { double value; if (get(me, &i, 1, &value)) return 5; printf(" %.17g", value); }
        printf("\n");
    }
    release(me);
    return 0;
}
