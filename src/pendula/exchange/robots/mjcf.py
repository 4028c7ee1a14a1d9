"""Reads MJCF files: MuJoCo's compiler resolves defaults, includes, frames and inertias, and this module its result.

Every body of the file becomes a body. A body with several joints gets a massless carrier for each joint but the last.
Coordinates and speeds are those of MuJoCo, in value and meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.exchange.robots import frames as fr
from pendula.exchange.robots import shapes as sh
from pendula.exchange.robots.draft import Draft, Imported, check_without, existing
from pendula.exchange.robots.limits import Limit, add_limits, check_limits
from pendula.exchange.robots.mjcf_forces import HINGE, SLIDE
from pendula.extras import needed
from pendula.system.orientation.rotations import about, multiply

WITHOUT = ("fluid", "springs", "tendons", "actuators", "equality", "flex", "plugins", "plasticity")
"""Kinds of things that :func:`load_mjcf` can leave out although the motion depends on them."""


def load_mjcf(
    path: str | Path,
    *,
    without: Iterable[str] = (),
    keyframe: str | int | None = None,
    limits: float | None = None,
    dissipation: float = 0.0,
) -> Imported:
    """The model of an MJCF file, with notes of what it does not hold.

    MuJoCo's compiler reads the file, so defaults, includes, frames and inertias from geometry are resolved as MuJoCo
    resolves them. Contacts, limits and friction loss are left out, with notes. Anything else that the motion depends on
    and a model cannot hold is an error, unless ``without`` names it.

    Args:
        path: the file.
        without: kinds of things to leave out: "fluid", "springs", "tendons", "actuators", "equality", "flex",
            "plugins", "plasticity".
        keyframe: name or number of the keyframe for the initial state; default: the reference pose.
        limits: stiffness [N m/rad, N/m] of stops at the limits of hinges and slides (see
            :class:`pendula.model.ForceJointLimit`); MuJoCo's own limits are soft constraints without a stiffness.
            Default: no stops.
        dissipation: of these stops [s/rad, s/m].

    Raises:
        UsageError: there is no such file or keyframe, or MuJoCo cannot compile the file.
        NotSupported: MuJoCo is not installed, or the file has something that changes the motion and has no counterpart;
            the message names it.

    Example:
        >>> import pendula
        >>> pendula.exchange.load_mjcf("cartpole.xml").model  # doctest: +SKIP
        <Model: cart-pole, 2 bodies, 2 joints, 3 forces, 2 speeds>
    """
    file = existing(path, "load_mjcf")
    mujoco = needed("mujoco", "reading MJCF")
    chosen = check_without(without, WITHOUT, "load_mjcf")
    check_limits(limits, dissipation, "load_mjcf")
    model, warnings = _compiled(mujoco, file)
    draft = Draft(str(file), chosen, name=_title(model, file.stem))
    for warning in warnings:
        draft.note(f"MuJoCo's compiler: {warning}")
    return read_compiled(model, draft, keyframe, limits, dissipation)


def _compiled(mujoco: Any, file: Path) -> tuple[Any, list[str]]:
    """The compiled file, and what the compiler warned of."""
    warnings: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        return mujoco.MjModel.from_xml_path(str(file)), warnings
    except ValueError as error:
        raise UsageError(f"{file}: MuJoCo cannot compile it: {error}") from None
    finally:
        mujoco.set_mju_user_warning(before)


def read_compiled(
    model: Any, draft: Draft, keyframe: str | int | None = None, limits: float | None = None, dissipation: float = 0.0
) -> Imported:
    """The model of a compiled ``mujoco.MjModel``."""
    from pendula.exchange.robots.mjcf_forces import Forces
    from pendula.exchange.robots.mjcf_loops import add_loops

    reader = Reader(model, draft)
    reader.refuse_others()
    reader.add_bodies()
    forces = Forces(reader)
    forces.add()
    add_loops(reader, forces)
    reader.note_others(limits, dissipation)
    reader.set_initial(keyframe)
    return reader.draft.finish()


def _title(model: Any, otherwise: str) -> str:
    name = model.names[: model.names.index(b"\0")].decode(errors="replace") if model.names else ""
    name = "".join(c for c in name if c.isprintable()).strip()[:100]
    return name if name and name != "MuJoCo Model" else otherwise


class Reader:
    """Reads one compiled model; the names of its parts are those of the draft."""

    def __init__(self, model: Any, draft: Draft) -> None:
        self.mj = needed("mujoco", "reading MJCF")
        self.m, self.draft = model, draft
        self.body: list[str] = ["ground"]
        """label of each body"""
        self.joint: dict[int, str] = {}
        """name of each joint"""
        self.off = int(model.opt.disableflags)
        self.size = float(model.stat.extent)

    def name_of(self, kind: str, k: int, otherwise: str) -> str:
        """The name of an object in the file, or a made one."""
        return self.mj.mj_id2name(self.m, getattr(self.mj.mjtObj, f"mjOBJ_{kind}"), k) or f"{otherwise}_{k}"

    def is_off(self, flag: str) -> bool:
        """Whether an option of the file disables something."""
        return bool(self.off & int(getattr(self.mj.mjtDisableBit, f"mjDSBL_{flag}", 0)))

    def refuse(self, kind: str, what: str) -> None:
        """An error, unless the caller leaves this kind of thing out."""
        self.draft.refuse(kind, what, WITHOUT)

    # -- bodies and joints --------------------------------------------------------------------------------

    def add_bodies(self) -> None:
        """Bodies with their joints, parents first."""
        m, draft = self.m, self.draft
        draft.gravity = [0.0, 0.0, 0.0] if self.is_off("GRAVITY") else fr.floats(m.opt.gravity)
        for b in range(1, m.nbody):
            self.body.append(draft.label(self.name_of("BODY", b, "body")))
        self.drawn = self._drawn()
        for b in range(1, m.nbody):
            self._body(b)

    def _body(self, b: int) -> None:
        m, draft = self.m, self.draft
        parent, pos, quat = self.body[m.body_parentid[b]], m.body_pos[b], m.body_quat[b]
        joints = range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]) if m.body_jntnum[b] else range(0)
        for k, j in enumerate(joints):
            last = k == len(joints) - 1
            child = self.body[b] if last else draft.label(f"{self.body[b]} carrier {k + 1}")
            if not last:
                draft.bodies.append({"name": child, "mass": 0, "shapes": []})
            self._joint(j, parent, child, pos, quat)
            parent, pos, quat = child, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if not len(joints):
            fields = {"parent": fr.side(parent, pos, quat), "child": {"body": self.body[b]}}
            draft.joints.append({"name": draft.joint_name(f"{self.body[b]} mount", "fixed"), "type": "fixed", **fields})
            draft.renamed.pop(f"{self.body[b]} mount", None)
            if m.body_mocapid[b] >= 0:
                draft.note(f'body "{self.body[b]}": a mocap body, held at its place in the file')
        draft.bodies.append(self._mass(b))

    def _mass(self, b: int) -> dict[str, Any]:
        m = self.m
        R = fr.quaternion_matrix(m.body_iquat[b])
        found: dict[str, Any] = {"name": self.body[b], "mass": float(m.body_mass[b])}
        if m.body_mass[b] > 0:
            inertia = (R * m.body_inertia[b]) @ R.T
            found["com"] = fr.floats(m.body_ipos[b])
            found["inertia"] = [fr.floats(row) for row in (inertia + inertia.T) / 2]
        return {**found, "shapes": self.drawn[b]}

    def _joint(self, j: int, parent: str, child: str, pos: Any, quat: Any) -> None:
        m, draft = self.m, self.draft
        kind = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}[int(m.jnt_type[j])]
        name = self.joint[j] = draft.joint_name(self.name_of("JOINT", j, "joint"), kind)
        fields: dict[str, Any] = {"name": name, "type": kind}
        anchor, axis, ref = m.jnt_pos[j], m.jnt_axis[j], float(m.qpos0[m.jnt_qposadr[j]])
        R = fr.quaternion_matrix(quat)
        if kind == "free":  # placed by its coordinates, in world axes
            fields |= {"parent": {"body": "ground"}, "child": {"body": child}}
        elif kind == "prismatic":
            fields |= {"axis": fr.floats(axis), "child": fr.side(child)}
            fields["parent"] = fr.side(parent, pos - ref * (R @ axis), quat)
        else:
            if kind == "revolute":
                fields["axis"] = fr.floats(axis)
                quat = np.array(multiply(quat, about(axis, -ref))) if ref else quat
            fields |= {"parent": fr.side(parent, pos + R @ anchor, quat), "child": fr.side(child, anchor)}
        dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + {"free": 6, "spherical": 3}.get(kind, 1))
        if np.any(m.dof_armature[dofs] != 0):
            fields["armature"] = fr.floats(m.dof_armature[dofs])
        draft.add_joint(fields)

    # -- drawing ------------------------------------------------------------------------------------------

    def _drawn(self) -> list[list[dict[str, Any]]]:
        """Shapes of every body; bodies with meshes are drawn as lines to the joints they carry."""
        m, kinds = self.m, self.mj.mjtGeom
        found: list[list[dict[str, Any]]] = [[] for _ in range(m.nbody)]
        meshes: set[int] = set()
        ellipsoids: set[int] = set()
        for g in range(m.ngeom):
            b, pos, R, size = m.geom_bodyid[g], m.geom_pos[g], fr.quaternion_matrix(m.geom_quat[g]), m.geom_size[g]
            match int(m.geom_type[g]):
                case kinds.mjGEOM_SPHERE:
                    found[b].append(sh.ball(pos, size[0]))
                case kinds.mjGEOM_ELLIPSOID:
                    found[b].append(sh.ball(pos, float(np.cbrt(np.prod(size)))))
                    ellipsoids.add(b)
                case kinds.mjGEOM_CAPSULE | kinds.mjGEOM_CYLINDER:
                    found[b].append(sh.cylinder(pos, R, size[0], size[1]))
                case kinds.mjGEOM_BOX:
                    found[b].append(sh.box(pos, R, size))
                case kinds.mjGEOM_MESH | kinds.mjGEOM_SDF:
                    meshes.add(b)
                case _:
                    pass  # planes and height fields: parts of the world
        for b in sorted(meshes - {0}):
            if not found[b]:
                carried = [m.body_pos[c] for c in range(1, m.nbody) if m.body_parentid[c] == b]
                found[b] = sh.skeleton(m.body_ipos[b], carried, self.size)
        names = [self.body[b] for b in sorted(meshes - {0})]
        self.draft.note_all("meshes", names, "drawn as lines to the joints that they carry")
        self.draft.note_all("ellipsoids", [self.body[b] for b in sorted(ellipsoids)], "drawn as spheres")
        if m.body_geomnum[0]:
            self.draft.note("geometry of the world, such as the floor: not drawn")
        return found

    # -- what is left out ---------------------------------------------------------------------------------

    def refuse_others(self) -> None:
        """Errors for what changes the motion and has no counterpart."""
        m = self.m
        if (m.opt.density or m.opt.viscosity) and np.any(m.body_mass > 0):
            self.refuse("fluid", f"a fluid of density {m.opt.density:g} and viscosity {m.opt.viscosity:g}")
        if m.nflex:
            self.refuse("flex", f"{m.nflex} deformable bodies (flex)")
        if m.nplugin:
            self.refuse("plugins", f"{m.nplugin} plugins")
        if getattr(m, "nplastic", 0):
            self.refuse("plasticity", "springs that yield")

    def note_others(self, limits: float | None, dissipation: float) -> None:
        """Limits, and notes of what has no effect on smooth motion."""
        m, draft = self.m, self.draft
        collides = np.any(m.geom_contype | m.geom_conaffinity) if m.ngeom else False
        if ((collides and m.ngeom > 1) or m.npair) and not self.is_off("CONTACT"):
            draft.note("contacts: left out")
        limited = [j for j in range(m.njnt) if m.jnt_limited[j]]
        single = [j for j in limited if int(m.jnt_type[j]) in (SLIDE, HINGE)]
        found = [
            Limit(self.joint[j], float(m.jnt_range[j, 0]), float(m.jnt_range[j, 1]), int(m.jnt_type[j]) == SLIDE)
            for j in single
        ]
        off = self.is_off("LIMIT") or self.is_off("CONSTRAINT")
        add_limits(draft, found, None if off else limits, dissipation)
        balls = [f"{self.joint[j]} up to {m.jnt_range[j, 1]:.4g}" for j in limited if j not in single]
        if balls:
            draft.note(f"limits of ball joints: left out: {'; '.join(balls)}")
        rough = [self.joint[m.dof_jntid[k]] for k in range(m.nv) if m.dof_frictionloss[k] > 0]
        draft.note_all("friction loss", dict.fromkeys(rough), "left out")
        if m.nsensor:
            draft.note(f"sensors: {m.nsensor} left out")

    def set_initial(self, keyframe: str | int | None) -> None:
        """Initial values: the reference pose, or a keyframe."""
        m, draft = self.m, self.draft
        q, v = m.qpos0, np.zeros(m.nv)
        if keyframe is not None:
            q, v = self._keyframe(keyframe)
        for name, value in zip((*draft.coordinates, *draft.speeds), (*q, *v), strict=True):
            if value != 0.0:
                draft.initial[name] = float(value)

    def _keyframe(self, keyframe: str | int) -> tuple[Any, Any]:
        m = self.m
        names = [self.name_of("KEY", k, "key") for k in range(m.nkey)]
        number = names.index(keyframe) if keyframe in names else keyframe
        if not isinstance(number, int) or not 0 <= number < m.nkey:
            known = f"it has {', '.join(names)}" if names else "it has none"
            raise UsageError(f'{self.draft.source}: there is no keyframe "{keyframe}"; {known}')
        return m.key_qpos[number], m.key_qvel[number]
