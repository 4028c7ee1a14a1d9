// Eigenvalues: of symmetric matrices, of real ones in general, and the shapes of a quadratic eigenproblem.

/**
 * Eigenvalues and eigenvectors (rows) of a symmetric matrix, by Jacobi's rotations.
 * @param {number[][]} A is overwritten
 * @returns {{value: number, vector: number[]}[]}
 */
export function eigenSymmetric(A) {
  const n = A.length, V = A.map((_, i) => A.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0, all = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) { all += A[i][j] ** 2; if (i !== j) off += A[i][j] ** 2; }
    if (off <= 1e-28 * all) break;
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
      if (A[i][j] === 0) continue;
      const tau = (A[j][j] - A[i][i]) / (2 * A[i][j]);
      const t = (tau < 0 ? -1 : 1) / (Math.abs(tau) + Math.sqrt(1 + tau * tau)), c = 1 / Math.sqrt(1 + t * t), s = c * t;
      for (let k = 0; k < n; k++) [A[k][i], A[k][j]] = [c * A[k][i] - s * A[k][j], s * A[k][i] + c * A[k][j]];
      for (let k = 0; k < n; k++) [A[i][k], A[j][k]] = [c * A[i][k] - s * A[j][k], s * A[i][k] + c * A[j][k]];
      for (let k = 0; k < n; k++) [V[i][k], V[j][k]] = [c * V[i][k] - s * V[j][k], s * V[i][k] + c * V[j][k]];
    }
  }
  return V.map((vector, i) => ({ value: A[i][i], vector }));
}

/**
 * Eigenvalues of a real matrix: Hessenberg form by elimination, then complex QR steps with Wilkinson's shifts.
 * @param {number[][]} A is overwritten
 * @returns {{re: number, im: number}[]} NaN where no step converges
 */
export function eigenvaluesOf(A) {
  toHessenberg(A);
  const n = A.length, re = A, im = A.map(row => row.map(() => 0)), found = [];
  const sizeAt = (/** @type {number} */ i, /** @type {number} */ j) => Math.hypot(re[i][j], im[i][j]);
  let last = n - 1;
  for (let tries = 0; last >= 0; ) {
    let first = last;
    while (first > 0 && sizeAt(first, first - 1) > 1e-15 * (sizeAt(first, first) + sizeAt(first - 1, first - 1))) first--;
    if (first === last || tries > 60) {
      found.push(first === last ? { re: re[last][last], im: im[last][last] } : { re: NaN, im: NaN });
      last--;
      tries = 0;
    } else {
      qrStep(re, im, first, last, tries++ % 12 === 11);
    }
  }
  return found;
}

/** Eliminates below the first subdiagonal, with pivots; eigenvalues stay. @param {number[][]} A */
function toHessenberg(A) {
  const n = A.length;
  for (let k = 1; k < n - 1; k++) {
    let pivot = k;
    for (let i = k; i < n; i++) if (Math.abs(A[i][k - 1]) > Math.abs(A[pivot][k - 1])) pivot = i;
    if (A[pivot][k - 1] === 0) continue;
    [A[k], A[pivot]] = [A[pivot], A[k]];
    for (const row of A) [row[k], row[pivot]] = [row[pivot], row[k]];
    for (let i = k + 1; i < n; i++) {
      const factor = A[i][k - 1] / A[k][k - 1];
      for (let j = 0; j < n; j++) A[i][j] -= factor * A[k][j];
      for (let j = 0; j < n; j++) A[j][k] += factor * A[j][i];
    }
  }
}

/**
 * One QR step of rows first to last of a complex Hessenberg matrix.
 * @param {number[][]} re @param {number[][]} im @param {number} first @param {number} last
 * @param {boolean} odd another shift, after many steps without success
 */
function qrStep(re, im, first, last, odd) {
  const [sr, si] = odd ? [Math.abs(re[last][last - 1]) + re[last][last], im[last][last]] : wilkinson(re, im, last);
  const turns = [];
  for (let k = first; k <= last; k++) { re[k][k] -= sr; im[k][k] -= si; }
  for (let k = first; k < last; k++) { // rows k and k + 1: rotate the entry below the diagonal away
    const ar = re[k][k], ai = im[k][k], br = re[k + 1][k], bi = im[k + 1][k], size = Math.hypot(ar, ai, br, bi) || 1;
    const [cr, ci, tr, ti] = [ar / size, ai / size, br / size, bi / size];
    for (let j = k; j <= last; j++) {
      const xr = re[k][j], xi = im[k][j], yr = re[k + 1][j], yi = im[k + 1][j];
      re[k][j] = cr * xr + ci * xi + tr * yr + ti * yi;
      im[k][j] = cr * xi - ci * xr + tr * yi - ti * yr;
      re[k + 1][j] = cr * yr - ci * yi - tr * xr + ti * xi;
      im[k + 1][j] = cr * yi + ci * yr - tr * xi - ti * xr;
    }
    turns.push([cr, ci, tr, ti]);
  }
  turns.forEach(([cr, ci, tr, ti], step) => { // columns, by the conjugate rotations
    const k = first + step;
    for (let i = first; i <= Math.min(k + 1, last); i++) {
      const xr = re[i][k], xi = im[i][k], yr = re[i][k + 1], yi = im[i][k + 1];
      re[i][k] = xr * cr - xi * ci + yr * tr - yi * ti;
      im[i][k] = xr * ci + xi * cr + yr * ti + yi * tr;
      re[i][k + 1] = yr * cr + yi * ci - xr * tr - xi * ti;
      im[i][k + 1] = yi * cr - yr * ci + xr * ti - xi * tr;
    }
  });
  for (let k = first; k <= last; k++) { re[k][k] += sr; im[k][k] += si; }
}

/** The eigenvalue of the last 2 x 2 block that is next to its last entry. @returns {[number, number]} */
function wilkinson(/** @type {number[][]} */ re, /** @type {number[][]} */ im, /** @type {number} */ k) {
  const j = k - 1, hr = (re[j][j] - re[k][k]) / 2, hi = (im[j][j] - im[k][k]) / 2;
  const pr = re[j][k] * re[k][j] - im[j][k] * im[k][j], pi = re[j][k] * im[k][j] + im[j][k] * re[k][j];
  const dr = hr * hr - hi * hi + pr, di = 2 * hr * hi + pi, size = Math.hypot(dr, di); // half the difference, squared
  let rr = Math.sqrt((size + dr) / 2), ri = Math.sign(di || 1) * Math.sqrt(Math.max(0, (size - dr) / 2));
  if (rr * hr + ri * hi < 0) [rr, ri] = [-rr, -ri];
  const qr = hr + rr, qi = hi + ri, q2 = qr * qr + qi * qi;
  if (q2 === 0) return [re[k][k], im[k][k]];
  return [re[k][k] - (pr * qr + pi * qi) / q2, im[k][k] - (pi * qr - pr * qi) / q2];
}

/**
 * A vector s with (root^2 M + root C + K) s = 0, by inverse iteration.
 * @param {number[][]} M @param {number[][]} C @param {number[][]} K @param {{re: number, im: number}} root
 * @param {number} number of the root: roots that coincide get different vectors
 * @returns {{re: number, im: number}[]}
 */
export function quadraticShape(M, C, K, root, number) {
  const n = M.length, near = { re: root.re * (1 + 1e-9), im: root.im * (1 + 1e-9) };
  const square = { re: near.re ** 2 - near.im ** 2, im: 2 * near.re * near.im };
  const matrix = M.map((row, i) => row.map((m, j) =>
    ({ re: square.re * m + near.re * C[i][j] + K[i][j], im: square.im * m + near.im * C[i][j] })));
  let s = M.map((_, i) => ({ re: Math.cos(1.7 * i * number + number), im: 0 }));
  for (let pass = 0; pass < 3; pass++) {
    s = solveComplex(matrix, s);
    const size = Math.max(...s.map(({ re, im }) => Math.hypot(re, im)));
    s = s.map(({ re, im }) => ({ re: re / size, im: im / size }));
  }
  return n ? s : [];
}

/** Solves a complex system, with pivots by columns. @param {{re: number, im: number}[][]} A @param {{re: number, im: number}[]} b */
function solveComplex(A, b) {
  const n = b.length, rows = A.map((row, i) => [...row, b[i]].map(({ re, im }) => [re, im]));
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k; i < n; i++) if (Math.hypot(...rows[i][k]) > Math.hypot(...rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    const [pr, pi] = rows[k][k], size = pr * pr + pi * pi || 1e-300;
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const [ar, ai] = rows[i][k], fr = (ar * pr + ai * pi) / size, fi = (ai * pr - ar * pi) / size;
      for (let j = k; j <= n; j++) {
        const [xr, xi] = rows[k][j];
        rows[i][j][0] -= fr * xr - fi * xi;
        rows[i][j][1] -= fr * xi + fi * xr;
      }
    }
  }
  return rows.map((row, k) => {
    const [pr, pi] = row[k], [br, bi] = row[n], size = pr * pr + pi * pi || 1e-300;
    return { re: (br * pr + bi * pi) / size, im: (bi * pr - br * pi) / size };
  });
}
