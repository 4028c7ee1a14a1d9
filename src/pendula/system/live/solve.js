// Linear systems of the equations of motion: M a = f + G^T lam, G a = c.

const PIVOT = 1e-13; // a pivot this small relative to its diagonal entry counts as zero
const SMALLEST = 1e-12; // so does a pivot of scaled rows below this
const INDEPENDENT = 0.01; // a pivot of scaled rows beyond their known rank counts above this
const NEGLIGIBLE = 1e-13; // a row of G smaller than this times a typical length constrains nothing
const VANISHING = 1e8; // among redundant rows, one below this multiple of the least counts for less

/**
 * Factors the upper triangle of a symmetric matrix in place: A = U^T D U with unit U, 1 / D on the diagonal.
 * @param {Float64Array} A rows of the matrix
 * @param {number} n
 * @returns {boolean} whether the matrix is positive definite
 */
export function factorSymmetric(A, n) {
  for (let k = 0; k < n; k++) {
    const row = k * n, first = A[row + k];
    let pivot = first;
    for (let i = 0; i < k; i++) {
      const at = i * n, factor = A[at + k] * A[at + i];
      pivot -= factor * A[at + k];
      for (let j = k + 1; j < n; j++) A[row + j] -= factor * A[at + j];
    }
    if (!(pivot > PIVOT * first && pivot < Infinity)) return false;
    A[row + k] = 1 / pivot;
  }
  return true;
}

/**
 * Solves A x = b in place for x, with A as `factorSymmetric` left it.
 * @param {Float64Array} A
 * @param {number} n
 * @param {Float64Array} b
 */
export function solveFactored(A, n, b) {
  for (let k = 0; k < n; k++) {
    const row = k * n, factor = b[k] * A[row + k];
    for (let j = k + 1; j < n; j++) b[j] -= factor * A[row + j];
  }
  for (let k = n - 1; k >= 0; k--) {
    const row = k * n;
    let sum = b[k];
    for (let j = k + 1; j < n; j++) sum -= A[row + j] * b[j];
    b[k] = sum * A[row + k];
  }
}

/**
 * Solves a system with complete pivoting; unknowns without an independent equation become zero. Overwrites A and b.
 * @param {Float64Array} A
 * @param {number} n
 * @param {Float64Array} b
 * @param {Float64Array} x the solution
 */
export function solvePivoted(A, n, b, x) {
  const order = Array.from({ length: n }, (_, k) => k);
  let rank = 0;
  for (; rank < n; rank++) {
    let row = rank, column = rank, largest = 0;
    for (let i = rank; i < n; i++) for (let j = rank; j < n; j++) {
      const size = Math.abs(A[i * n + j]);
      if (size > largest) { largest = size; row = i; column = j; }
    }
    if (!(largest > 1e-12)) break;
    for (let j = 0; j < n; j++) [A[rank * n + j], A[row * n + j]] = [A[row * n + j], A[rank * n + j]];
    for (let i = 0; i < n; i++) [A[i * n + rank], A[i * n + column]] = [A[i * n + column], A[i * n + rank]];
    [b[rank], b[row]] = [b[row], b[rank]];
    [order[rank], order[column]] = [order[column], order[rank]];
    for (let i = rank + 1; i < n; i++) {
      const factor = A[i * n + rank] / A[rank * n + rank];
      for (let j = rank; j < n; j++) A[i * n + j] -= factor * A[rank * n + j];
      b[i] -= factor * b[rank];
    }
  }
  x.fill(0);
  for (let i = rank - 1; i >= 0; i--) {
    let sum = b[i];
    for (let j = i + 1; j < rank; j++) sum -= A[i * n + j] * x[order[j]];
    x[order[i]] = sum / A[i * n + i];
  }
}

/**
 * Solves S x = b for a positive semidefinite matrix with a diagonal of at most 1, up to its rank: by least squares, with x
 * of minimum norm, so that the order of the pivots changes nothing. Overwrites S and b.
 * @param {Float64Array} S
 * @param {number} m
 * @param {number} most largest rank, beyond which only clearly independent rows count
 * @param {Float64Array} b
 * @param {Float64Array} x the solution
 */
function solveSemidefinite(S, m, most, b, x) {
  const order = Array.from({ length: m }, (_, r) => r);
  let rank = 0;
  for (; rank < m; rank++) { // S = L L^T with pivots
    let best = rank;
    for (let i = rank + 1; i < m; i++) if (S[order[i] * (m + 1)] > S[order[best] * (m + 1)]) best = i;
    const left = S[order[best] * (m + 1)];
    if (!(left > (rank < most ? SMALLEST : INDEPENDENT))) break;
    [order[rank], order[best]] = [order[best], order[rank]];
    const p = order[rank], root = Math.sqrt(left);
    S[p * m + p] = root;
    for (let i = rank + 1; i < m; i++) S[order[i] * m + p] /= root;
    for (let i = rank + 1; i < m; i++) for (let j = rank + 1; j <= i; j++) {
      const r = order[i], s = order[j];
      S[r * m + s] = S[s * m + r] = S[r * m + s] - S[r * m + p] * S[s * m + p];
    }
  }
  const L = (/** @type {number} */ i, /** @type {number} */ k) => S[order[i] * m + order[k]];
  const y = new Float64Array(rank);
  if (rank === m) {
    for (let k = 0; k < m; k++) {
      let sum = b[order[k]];
      for (let j = 0; j < k; j++) sum -= L(k, j) * y[j];
      y[k] = sum / L(k, k);
    }
    for (let k = m - 1; k >= 0; k--) {
      for (let i = k + 1; i < m; i++) y[k] -= L(i, k) * y[i];
      y[k] /= L(k, k);
      x[order[k]] = y[k];
    }
    return;
  }
  const normal = new Float64Array(rank * rank); // x = L (L^T L)^-2 L^T b
  for (let k = 0; k < rank; k++) {
    for (let i = k; i < m; i++) y[k] += L(i, k) * b[order[i]];
    for (let l = k; l < rank; l++) for (let i = l; i < m; i++) normal[k * rank + l] += L(i, k) * L(i, l);
  }
  factorSymmetric(normal, rank);
  solveFactored(normal, rank, y);
  solveFactored(normal, rank, y);
  for (let i = 0; i < m; i++) {
    let sum = 0;
    for (let k = 0; k <= i && k < rank; k++) sum += L(i, k) * y[k];
    x[order[i]] = sum;
  }
}

/**
 * A solver for n accelerations and m multipliers. Constraint rows may depend on each other, or pass through zero: what
 * rounding leaves of such a row is not scaled up.
 *
 * The multipliers come from G M^-1 G^T. Where only constraints hold a massless body, M + G^T W G takes the place of M,
 * which leaves the motion as it is.
 * @param {number} n
 * @param {number} m
 * @param {number} most number of independent rows at regular poses
 * @param {number} length a typical length, to which the entries of the rows are compared
 */
export function makeSolver(n, m, most = m, length = 1) {
  const factored = new Float64Array(n * n), column = new Float64Array(n), answers = new Float64Array(m * n);
  const schur = new Float64Array(m * m), right = new Float64Array(m), weight = new Float64Array(m), least = NEGLIGIBLE * length;

  /** How much every row counts: 1, less for what is left of a redundant row, 0 for nothing. @param {Float64Array} G */
  function weigh(G) {
    for (let r = 0; r < m; r++) {
      let largest = 0;
      for (let j = 0; j < n; j++) largest = Math.max(largest, Math.abs(G[r * n + j]));
      weight[r] = !(largest > least) ? 0 : most < m ? Math.min(1, largest / (VANISHING * least)) : 1;
    }
  }

  /** Factors M + G^T W G, with W so that both are of one size. @param {Float64Array} M @param {Float64Array} f
   * @param {Float64Array} G @param {Float64Array} c @param {Float64Array} a receives f + G^T W c */
  function held(M, f, G, c, a) {
    let size = 0;
    for (let i = 0; i < n * n; i++) size = Math.max(size, Math.abs(M[i]));
    factored.set(M);
    for (let i = 0; i < n; i++) a[i] = f[i];
    for (let r = 0; r < m; r++) if (weight[r] > 0) {
      let square = 0;
      for (let j = 0; j < n; j++) square += G[r * n + j] ** 2;
      const w = weight[r] ** 2 * size / square;
      for (let i = 0; i < n; i++) {
        a[i] += G[r * n + i] * w * c[r];
        for (let j = i; j < n; j++) factored[i * n + j] += G[r * n + i] * w * G[r * n + j];
      }
    }
    return factorSymmetric(factored, n);
  }

  /**
   * Solves M a = f + G^T lam, G a = c. M is overwritten; without rows only its upper triangle is read.
   * @param {Float64Array} M
   * @param {Float64Array} f
   * @param {Float64Array} G
   * @param {Float64Array} c
   * @param {Float64Array} a
   * @param {Float64Array} lam
   * @returns {boolean} whether there is a finite result
   */
  return function solve(M, f, G, c, a, lam) {
    if (m === 0) {
      if (!factorSymmetric(M, n)) return false;
      for (let i = 0; i < n; i++) a[i] = f[i];
      solveFactored(M, n, a);
      return n === 0 || Number.isFinite(a[0]);
    }
    weigh(G);
    factored.set(M);
    for (let i = 0; i < n; i++) a[i] = f[i];
    if (!factorSymmetric(factored, n) && !held(M, f, G, c, a)) return false;
    solveFactored(factored, n, a);
    for (let r = 0; r < m; r++) {
      for (let j = 0; j < n; j++) column[j] = G[r * n + j];
      solveFactored(factored, n, column);
      let gap = c[r], own = 0;
      for (let j = 0; j < n; j++) {
        answers[r * n + j] = column[j];
        gap -= G[r * n + j] * a[j];
        own += G[r * n + j] * column[j];
      }
      weight[r] = weight[r] > 0 ? weight[r] / Math.sqrt(own) : 0;
      right[r] = weight[r] * gap;
    }
    for (let r = 0; r < m; r++) for (let s = 0; s < m; s++) {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += G[r * n + j] * answers[s * n + j];
      schur[r * m + s] = weight[r] * weight[s] * sum;
    }
    solveSemidefinite(schur, m, most, right, lam);
    for (let r = 0; r < m; r++) {
      lam[r] *= weight[r];
      for (let j = 0; j < n; j++) a[j] += answers[r * n + j] * lam[r];
    }
    return Number.isFinite(a[0]);
  };
}
