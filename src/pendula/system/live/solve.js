// Linear systems of the equations of motion: M a = f + G^T lam, G a = c.

const PIVOT = 1e-13; // a pivot this small relative to its diagonal entry counts as zero

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
 * A solver for n accelerations and m multipliers; constraint rows may depend on each other.
 *
 * If M is positive definite, the multipliers come from G M^-1 G^T. Otherwise (massless bodies that constraints hold),
 * all unknowns are eliminated together.
 * @param {number} n
 * @param {number} m
 */
export function makeSolver(n, m) {
  const factored = new Float64Array(n * n), column = new Float64Array(n), N = n + m;
  const answers = new Float64Array(m * n), schur = new Float64Array(m * m), right = new Float64Array(m);
  const rowSize = new Float64Array(m), all = new Float64Array(N * N), rest = new Float64Array(N), x = new Float64Array(N);

  /**
   * Both at once, scaled by the largest mass and the largest entry of each row.
   * @param {Float64Array} M
   * @param {Float64Array} f
   * @param {Float64Array} G
   * @param {Float64Array} c
   * @param {Float64Array} a
   * @param {Float64Array} lam
   */
  function solveTogether(M, f, G, c, a, lam) {
    let size = 0;
    for (let i = 0; i < n * n; i++) size = Math.max(size, Math.abs(M[i]));
    all.fill(0);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) all[i * N + j] = M[i * n + j] / size;
      rest[i] = f[i] / size;
    }
    for (let r = 0; r < m; r++) {
      let largest = 0;
      for (let j = 0; j < n; j++) largest = Math.max(largest, Math.abs(G[r * n + j]));
      rowSize[r] = largest || 1;
      for (let j = 0; j < n; j++) {
        all[(n + r) * N + j] = G[r * n + j] / rowSize[r];
        all[j * N + n + r] = -G[r * n + j] / rowSize[r];
      }
      rest[n + r] = c[r] / rowSize[r];
    }
    solvePivoted(all, N, rest, x);
    for (let i = 0; i < n; i++) a[i] = x[i];
    for (let r = 0; r < m; r++) lam[r] = x[n + r] * size / rowSize[r];
  }

  /**
   * Solves M a = f + G^T lam, G a = c. M is overwritten; without rows only its upper triangle is read.
   * @param {Float64Array} M
   * @param {Float64Array} f
   * @param {Float64Array} G
   * @param {Float64Array} c
   * @param {Float64Array} a
   * @param {Float64Array} lam
   * @returns {boolean} whether the result is finite
   */
  return function solve(M, f, G, c, a, lam) {
    if (m === 0) {
      if (!factorSymmetric(M, n)) return false;
      for (let i = 0; i < n; i++) a[i] = f[i];
      solveFactored(M, n, a);
      return n === 0 || Number.isFinite(a[0]);
    }
    factored.set(M);
    if (!factorSymmetric(factored, n)) {
      solveTogether(M, f, G, c, a, lam);
      return Number.isFinite(a[0]);
    }
    for (let i = 0; i < n; i++) a[i] = f[i];
    solveFactored(factored, n, a);
    for (let r = 0; r < m; r++) {
      for (let j = 0; j < n; j++) column[j] = G[r * n + j];
      solveFactored(factored, n, column);
      for (let j = 0; j < n; j++) answers[r * n + j] = column[j];
    }
    for (let r = 0; r < m; r++) {
      let gap = c[r], own = 0;
      for (let j = 0; j < n; j++) { gap -= G[r * n + j] * a[j]; own += G[r * n + j] * answers[r * n + j]; }
      right[r] = gap;
      rowSize[r] = Math.sqrt(own) || 1;
    }
    for (let r = 0; r < m; r++) {
      right[r] /= rowSize[r];
      for (let s = 0; s < m; s++) {
        let sum = 0;
        for (let j = 0; j < n; j++) sum += G[r * n + j] * answers[s * n + j];
        schur[r * m + s] = sum / (rowSize[r] * rowSize[s]);
      }
    }
    solvePivoted(schur, m, right, lam);
    for (let r = 0; r < m; r++) {
      lam[r] /= rowSize[r];
      for (let j = 0; j < n; j++) a[j] += answers[r * n + j] * lam[r];
    }
    return Number.isFinite(a[0]);
  };
}
