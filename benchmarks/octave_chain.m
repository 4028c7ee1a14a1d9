% The chain of equal rods by ode45 with its mass matrix: octave-cli octave_chain.m LINKS SPAN TOL
1;
function dy = rates(t, y, n, a, b)
  q = y(1:n); v = y(n+1:end); apart = q - q';
  dy = [v; (a .* cos(apart)) \ (-(a .* sin(apart)) * v.^2 - b .* sin(q))];
end
function E = energy(y, n)
  E = zeros(rows(y), 1); vx = 0; vy = 0; h = 0;
  for i = 1:n
    s = sin(y(:, i)); c = cos(y(:, i)); w = y(:, n + i);
    E = E + 0.5 * ((vx + 0.5 * c .* w).^2 + (vy + 0.5 * s .* w).^2) + w.^2 / 24 + 9.81 * (h - 0.5 * c);
    vx = vx + c .* w; vy = vy + s .* w; h = h - c;
  end
end
given = argv(); n = str2double(given{1}); span = str2double(given{2}); tol = str2double(given{3});
k = (1:n)'; a = 0.5 + n - max(k, k'); a(1:n+1:end) = 1 / 3 + n - k; b = 9.81 * (0.5 + n - k);
y0 = [repmat(pi / 2, n, 1); zeros(n, 1)]; options = odeset("RelTol", tol, "AbsTol", tol);
best = Inf;
for r = 1:3
  tic; [t, y] = ode45(@(t, y) rates(t, y, n, a, b), [0 span], y0, options); best = min(best, toc);
end
E = energy(y, n); printf("wall %.6f error %.6e\n", best, max(abs(E - E(1))));
