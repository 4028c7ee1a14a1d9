"""The text of docs/formulations.md about each formulation, beyond what the program states."""

from __future__ import annotations

TURNER = "Jeremy Turner, \"I've got n problems but dynamics ain't one\""
TATARU = 'Vladimir Dragos Tataru, "Dynamics survey of physical pendulum with two degrees of freedom"'

TEXTS: dict[str, tuple[str, str, str]] = {
    "lagrange": (
        "Lagrange",
        """Write down the kinetic energy T, the potential energy V and the virtual work of all other loads in any coordinates;
the rest is differentiation:

    d/dt (dT/dv) - dT/ds + dV/ds = Q + G^T lam

ds is the displacement that belongs to a speed, dq = N ds. The angular velocity of a ball joint is a quasi-velocity, not the
rate of any coordinate, and adds the term omega x dT/domega (Boltzmann and Hamel). Velocities propagate from body to body, in
world axes if all rotations are about z and in body axes otherwise, which keeps the energies short. Constraint forces in
joints never appear: that is the charm of the method, and why it cannot give reactions.

In the papers: """
        + TURNER
        + """, section 2 (eq. 15 needs a sum over all links: see
[examples/published](../examples/published/README.md)).""",
        """model = pendula.library.double_pendulum()
text = pendula.print_equations(pendula.derive(model, "lagrange"))
assert "M[theta2_dot, theta1_dot] = l**2*m*cos(theta1 - theta2)/2" in text""",
    ),
    "kane": (
        "Kane",
        """Every body's velocity is linear in the speeds. Its coefficients, the partial velocities V_k and partial angular
velocities W_k, are the motion of the body per unit of speed k. The generalized force on speed k is the power of all forces
and torques on V_k and W_k:

    sum over bodies of  V_k . (F - m a) + W_k . (T - d(I omega)/dt) = 0      for every speed k

Partial velocities and accelerations propagate from body to body in world axes. Only each joint's short list of rotations and
translations is differentiated. So this is the quickest formulation to derive in joint coordinates, and the default.

In the papers: in none of ours; it is an independent check on all of them.""",
        """system = pendula.compile_system(pendula.library.cart_pole())         # formulation="kane" is the default
accelerations = system.accelerations(q=[0.0, 0.3], v=[0.0, 0.0])
assert system.equations.formulation == "kane" and len(accelerations) == 2""",
    ),
    "newton-euler": (
        "Newton-Euler",
        """Accelerations propagate outward, from ground to the tips; then force and moment are balanced inward. The wrench that
a joint must transmit is the rate of change of momentum of all bodies beyond it, minus the loads on them:

    F_joint = sum beyond it of (m a - F)      T_joint = sum beyond it of (d(I omega)/dt + r x (m a - F) - T)

Its component along the joint's motion subspace must equal the force of springs and motors there: that is the equation of
motion. All other components are the reactions, which cost nothing extra.

In the papers: """
        + TURNER
        + """, section 3 (in eqs. 28 and 29 the sums run over the links below: see
[examples/published](../examples/published/README.md)).""",
        """from pendula.system.joint_forces import joint_wrenches

system = pendula.compile_system(pendula.library.pendulum(), "newton-euler")
held = joint_wrenches(system, q=[0.0], v=[2.0])                # passing straight down at 2 rad/s
assert abs(held.force[0, 1] - (9.81 + 0.5 * 2.0**2)) < 1e-12      # weight, and m v^2/(l/2)""",
    ),
    "maximal": (
        "Maximal coordinates",
        """Every body has its own coordinates: its mass centre, and its angle (in the plane) or a quaternion. Its
equations are those of a free body, so M is constant and block-diagonal; each joint is a few constraints between two bodies:

    m a = F + ...      I alpha + omega x I omega = T + ...      g(q) = 0      G v = b      G v' = c

The dots are G^T lam, the constraint wrenches that the joints transmit. Each equation involves only one body or one joint. The
solver eliminates one small block per body, from the tips to ground, with closing joints as a border, so everything grows in
proportion to the number of bodies. The price: three or six speeds per body, constraints that must be maintained (projection
maintains them to rounding), and coordinates that are not those of the model. You still set and read states by the names of
the joints. With prescribed motions Jacobi's integral is not available, since body speeds contain the prescribed motions.

In the papers: """
        + TURNER
        + """, sections 4.1 and 4.2 (differential-algebraic equations for
pendulums and linkages).""",
        """system = pendula.compile_system(pendula.library.chain(links=100), "maximal")
run = pendula.simulate(system, 1.0, tol=1e-6)
assert len(system.layout.speeds) == 300
assert run.outcome.ok and run.energy_drift < 1e-6 and run.constraint_violation < 1e-12
print(run["theta1"][-1])                                   # by the joint's name, as always""",
    ),
    "projection": (
        "Projection",
        """Write every body as if it were free, M_free V' + Omega V = Q + reactions, with V its velocity and angular velocity.
Joints forbid some V and allow the others, V = L v. The allowed motions are an orthogonal complement of the forbidden ones.
Reactions do no work on them, so multiplying by the transpose of L eliminates the reactions:

    M = L^T M_free L      f = L^T (Q - Omega V - M_free L' v)

L is found analytically from body to body. Closing joints are treated in the same way, but numerically: the solver seeks
accelerations along the null space of G, from an orthogonal factorization that tolerates redundant rows. Substituting the
motion into the equations of the free bodies gives the reactions.

In the papers: """
        + TATARU
        + """ (eqs. 1 to 81; corrections are
listed in `equations/formulations/projection.py`).""",
        """system = pendula.compile_system(pendula.library.four_bar(), "projection")
run = pendula.simulate(system, 1.0)
forces = pendula.reactions(run)                    # by the same formulation
assert forces.formulation == "projection" and forces["pin"].force.shape == (len(run.t), 3)
found = pendula.derivation.projection_matrices("double-physical-pendulum", {"phi1": 0.3})     # all matrices of a tree in numbers
print(found.L_tau.round(3), found.reduced_M, found.multipliers)""",
    ),
}
"""Name -> title, text, example."""
