/* The linear system of the equations of motion: M v' = f + G^T lam, G v' = c. The generated part above defines its sizes:
   NV speeds, ROWS rows, of which RANK are independent at regular poses. */

#include <string.h>

#define PIVOT 1e-13       /* a pivot this small relative to its diagonal entry counts as zero */
#define SMALLEST 1e-12    /* so does a pivot of scaled rows below this */
#define INDEPENDENT 0.01  /* a pivot of scaled rows beyond their known rank counts above this */
#define NEGLIGIBLE 1e-13  /* a row of G smaller than this times a typical size constrains nothing */
#define VANISHING 1e8     /* among redundant rows, one below this multiple of the least counts for less */

/* Factors the upper triangle of a symmetric matrix, A = U^T D U with unit U and 1 / D on the diagonal; 0 if it is not
   positive definite. */
static int factor_symmetric(double *a, int n)
{
    for (int k = 0; k < n; ++k) {
        double first = a[k * n + k], pivot = first;
        for (int i = 0; i < k; ++i) {
            double factor = a[i * n + k] * a[i * n + i];
            pivot -= factor * a[i * n + k];
            for (int j = k + 1; j < n; ++j) a[k * n + j] -= factor * a[i * n + j];
        }
        if (!(pivot > PIVOT * first && isfinite(pivot))) return 0;
        a[k * n + k] = 1.0 / pivot;
    }
    return 1;
}

/* Solves A x = b in place, with A as factor_symmetric left it. */
static void solve_factored(const double *a, int n, double *b)
{
    for (int k = 0; k < n; ++k) {
        double factor = b[k] * a[k * n + k];
        for (int j = k + 1; j < n; ++j) b[j] -= factor * a[k * n + j];
    }
    for (int k = n - 1; k >= 0; --k) {
        double sum = b[k];
        for (int j = k + 1; j < n; ++j) sum -= a[k * n + j] * b[j];
        b[k] = sum * a[k * n + k];
    }
}

#if ROWS > 0
/* Solves S x = b for a positive semidefinite matrix, up to its rank: by least squares, with x of minimum norm, so that the
   order of the pivots changes nothing. Overwrites S and b. */
static void solve_semidefinite(double *s, double *b, double *x)
{
    double l[ROWS * ROWS], normal[ROWS * ROWS], y[ROWS];
    int order[ROWS], rank = 0;
    for (int r = 0; r < ROWS; ++r) order[r] = r;
    for (; rank < ROWS; ++rank) { /* S = L L^T with pivots; row i of L belongs to row order[i] of S */
        int best = rank;
        for (int i = rank + 1; i < ROWS; ++i) if (s[order[i] * (ROWS + 1)] > s[order[best] * (ROWS + 1)]) best = i;
        double left = s[order[best] * (ROWS + 1)], root = sqrt(left);
        if (!(left > (rank < RANK ? SMALLEST : INDEPENDENT))) break;
        int p = order[best];
        order[best] = order[rank];
        order[rank] = p;
        s[p * ROWS + p] = root;
        for (int i = rank + 1; i < ROWS; ++i) s[order[i] * ROWS + p] /= root;
        for (int i = rank + 1; i < ROWS; ++i)
            for (int j = rank + 1; j < ROWS; ++j)
                s[order[i] * ROWS + order[j]] -= s[order[i] * ROWS + p] * s[order[j] * ROWS + p];
    }
    for (int i = 0; i < ROWS; ++i)
        for (int k = 0; k < rank; ++k) l[i * ROWS + k] = k <= i ? s[order[i] * ROWS + order[k]] : 0.0;
    if (rank == ROWS) {
        for (int k = 0; k < ROWS; ++k) {
            y[k] = b[order[k]];
            for (int j = 0; j < k; ++j) y[k] -= l[k * ROWS + j] * y[j];
            y[k] /= l[k * ROWS + k];
        }
        for (int k = ROWS - 1; k >= 0; --k) {
            for (int i = k + 1; i < ROWS; ++i) y[k] -= l[i * ROWS + k] * y[i];
            y[k] /= l[k * ROWS + k];
            x[order[k]] = y[k];
        }
        return;
    }
    for (int k = 0; k < rank; ++k) { /* x = L (L^T L)^-2 L^T b */
        y[k] = 0.0;
        for (int i = k; i < ROWS; ++i) y[k] += l[i * ROWS + k] * b[order[i]];
        for (int j = 0; j < rank; ++j) {
            normal[k * rank + j] = 0.0;
            for (int i = 0; i < ROWS; ++i) normal[k * rank + j] += l[i * ROWS + k] * l[i * ROWS + j];
        }
    }
    factor_symmetric(normal, rank);
    solve_factored(normal, rank, y);
    solve_factored(normal, rank, y);
    for (int i = 0; i < ROWS; ++i) {
        x[order[i]] = 0.0;
        for (int k = 0; k < rank; ++k) x[order[i]] += l[i * ROWS + k] * y[k];
    }
}

/* Adds G^T W G to M, and G^T W c to f, with W so that both are of one size: the motion remains as it is. */
static void hold(const double *M, const double *G, const double *c, const double *weight, double *sum, double *force)
{
    double size = 0.0;
    for (int i = 0; i < NV * NV; ++i) if (fabs(M[i]) > size) size = fabs(M[i]);
    for (int r = 0; r < ROWS; ++r) if (weight[r] > 0.0) {
        const double *row = G + r * NV;
        double square = 0.0;
        for (int j = 0; j < NV; ++j) square += row[j] * row[j];
        double w = weight[r] * weight[r] * size / square;
        for (int i = 0; i < NV; ++i) {
            force[i] += row[i] * w * c[r];
            for (int j = i; j < NV; ++j) sum[i * NV + j] += row[i] * w * row[j];
        }
    }
}
#endif

/* M x = f + G^T lam, G x = c. Rows may depend on each other, or pass through zero: what rounding leaves of one, compared to
   a typical size of the rows, is not scaled up. The multipliers come from G M^-1 G^T; where only constraints hold a
   massless body, M + G^T W G takes the place of M. */
static void solve_constrained(const double *M, const double *f, const double *G, const double *c, double typical, double *x,
                              double *lam)
{
    double factored[NV * NV];
    memcpy(factored, M, sizeof factored);
    memcpy(x, f, sizeof(double) * NV);
    int solved = factor_symmetric(factored, NV);
#if ROWS > 0
    double answers[ROWS * NV], schur[ROWS * ROWS], right[ROWS], weight[ROWS], least = NEGLIGIBLE * typical;
    for (int r = 0; r < ROWS; ++r) {
        double largest = 0.0;
        for (int j = 0; j < NV; ++j) if (fabs(G[r * NV + j]) > largest) largest = fabs(G[r * NV + j]);
        weight[r] = largest > least ? 1.0 : 0.0;
        if (RANK < ROWS && largest < VANISHING * least) weight[r] *= largest / (VANISHING * least);
    }
    if (!solved) {
        memcpy(factored, M, sizeof factored);
        hold(M, G, c, weight, factored, x);
        solved = factor_symmetric(factored, NV);
    }
    solve_factored(factored, NV, x);
    for (int r = 0; r < ROWS; ++r) {
        const double *row = G + r * NV;
        double *answer = answers + r * NV, gap = c[r], own = 0.0;
        memcpy(answer, row, sizeof(double) * NV);
        solve_factored(factored, NV, answer);
        for (int j = 0; j < NV; ++j) { gap -= row[j] * x[j]; own += row[j] * answer[j]; }
        weight[r] = weight[r] > 0.0 ? weight[r] / sqrt(own) : 0.0;
        right[r] = weight[r] * gap;
    }
    for (int r = 0; r < ROWS; ++r) for (int s = 0; s < ROWS; ++s) {
        double sum = 0.0;
        for (int j = 0; j < NV; ++j) sum += G[r * NV + j] * answers[s * NV + j];
        schur[r * ROWS + s] = weight[r] * weight[s] * sum;
    }
    solve_semidefinite(schur, right, lam);
    for (int r = 0; r < ROWS; ++r) {
        lam[r] *= weight[r];
        for (int j = 0; j < NV; ++j) x[j] += answers[r * NV + j] * lam[r];
    }
#else
    (void)G; (void)c; (void)typical; (void)lam;
    solve_factored(factored, NV, x);
#endif
    if (!solved) for (int i = 0; i < NV; ++i) x[i] = NAN;
}

