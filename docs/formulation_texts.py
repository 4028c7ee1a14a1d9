"""What docs/formulations.md says about each formulation, besides what the program says itself."""

from __future__ import annotations

TURNER = "Jeremy Turner, \"I've got n problems but dynamics ain't one\""
TATARU = 'Vladimir Dragos Tataru, "Dynamics survey of physical pendulum with two degrees of freedom"'

TEXTS: dict[str, tuple[str, str, str]] = {
    "lagrange": (
        "Lagrange",
        """Write down kinetic energy T, potential energy V and the work of all other loads in any coordinates; all the rest
is differentiation:

    d/dt (dT/dv) - dT/ds + dV/ds = Q + G^T lam

ds is the displacement that belongs to a speed, dq = N ds. For the angular velocity of a ball joint, which is no rate of
any coordinate, the term omega x dT/domega is added (Boltzmann and Hamel). Velocities are followed from body to body, in
world axes while everything turns about z and in body axes otherwise, which keeps the energies short. No force inside a
joint appears anywhere: that is the charm of the method, and why it cannot give reactions.

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
        """Every body's velocity is linear in the speeds. Its coefficients, the partial velocities V_k and angular velocities
W_k, say how a unit of speed k moves the body; a force has as much to say about speed k as it has power on V_k and W_k:

    sum over bodies of  V_k . (F - m a) + W_k . (T - d(I omega)/dt) = 0      for every speed k

Partial velocities and accelerations go from body to body in world axes; nothing is differentiated but each joint's own
short list of turns and shifts. So this is the quickest to derive in joint coordinates, and the default.

In the papers: none of ours; it is the independent witness for all of them.""",
        """system = pendula.compile_system(pendula.library.cart_pole())         # formulation="kane" is the default
accelerations = system.accelerations(q=[0.0, 0.3], v=[0.0, 0.0])
assert system.equations.formulation == "kane" and len(accelerations) == 2""",
    ),
    "newton-euler": (
        "Newton-Euler",
        """Accelerations are found outward, from ground to the tips; then force and moment are balanced inward. What a joint
must supply is the rate of momentum of all that hangs on it, less the loads there:

    F_joint = sum beyond it of (m a - F)      T_joint = sum beyond it of (d(I omega)/dt + r x (m a - F) - T)

The component of this along the joint's own freedom must be what springs and motors there give: that is the equation of
motion. All other components are the reactions, which come for nothing.

In the papers: """
        + TURNER
        + """, section 3 (in eqs. 28 and 29 the sums go over the links below: see
[examples/published](../examples/published/README.md)).""",
        """system = pendula.compile_system(pendula.library.pendulum(), "newton-euler")
held = joint_wrenches(system, q=[0.0], v=[2.0])                # passing straight down at 2 rad/s
assert abs(held.force[0, 1] - (9.81 + 0.5 * 2.0**2)) < 1e-12      # weight, and m v^2/(l/2)""",
    ),
    "maximal": (
        "Maximal coordinates",
        """Every body has coordinates of its own: its mass centre, and its angle (in the plane) or a quaternion. Its
equations are those of a free body, so M is constant and block-diagonal; each joint is a few constraints between two bodies:

    m a = F + ...      I alpha + omega x I omega = T + ...      g(q) = 0      G v = b      G v' = c

The dots are G^T lam, which is what the joints transmit. Each equation knows one body or one joint, whatever the size of
the mechanism. Accelerations are found from the tips to ground, one small block per body, closing joints as a border; so
everything grows like the number of bodies. The price: three or six speeds per body, constraints that must be kept (they
are, to rounding, by projection), and coordinates that are not those of the model. States are still set and read by
the joints' names. With prescribed motions the integral of Jacobi is not available, since body speeds contain them.

In the papers: """
        + TURNER
        + """, sections 4.1 and 4.2 (differential algebraic equations for
pendulums and linkages).""",
        """system = pendula.compile_system(pendula.library.chain(links=100), "maximal")
run = pendula.simulate(system, 1.0, tol=1e-6)
assert len(system.layout.speeds) == 300
assert run.outcome.ok and run.energy_drift < 1e-6 and run.constraint_violation < 1e-12
print(run["theta1"][-1])                                   # by the joint's name, as ever""",
    ),
    "projection": (
        "Projection",
        """Write every body as if it were free, M_free V' + Omega V = Q + reactions, with V its velocity and angular velocity.
Joints forbid some V and allow the others, V = L v. What they allow is an orthogonal complement of what they forbid, and
reactions do no work on it, so they vanish when all is multiplied by the transpose of L:

    M = L^T M_free L      f = L^T (Q - Omega V - M_free L' v)

L is found analytically from body to body. Closing joints are treated the same way by numbers: accelerations are
sought along the null space of G, from an orthogonal factorization that does not mind redundant rows. Put back into the
free bodies' equations, the motion gives the reactions.

In the papers: """
        + TATARU
        + """ (eqs. 1 to 81; corrections are
listed in `equations/projection.py`).""",
        """system = pendula.compile_system(pendula.library.four_bar(), "projection")
run = pendula.simulate(system, 1.0)
forces = pendula.reactions(run)                    # found by the same formulation
assert forces.formulation == "projection" and forces["pin"].force.shape == (len(run.t), 3)""",
    ),
}
"""Name -> title, text, example."""
