"""Forces of MJCF files: springs and dampers of joints and tendons, gravity compensation, actuators as inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.exchange.robots import frames as fr

if TYPE_CHECKING:
    from pendula.exchange.robots.mjcf import Reader

FREE, BALL, SLIDE, HINGE = range(4)
"""types of joints in MuJoCo"""


def number(value: float) -> str:
    """A number inside an expression."""
    return f"({float(value)!r})"


def total(terms: list[str]) -> str:
    """A sum of terms."""
    return " + ".join(terms) if terms else "0"


def clipped(text: str, limits: Any) -> str:
    """An expression kept between two limits."""
    return f"min(max({text}, {number(limits[0])}), {number(limits[1])})"


def polynomial(x: str, first: float, more: Any, *, odd: bool) -> str:
    """x (first + more[0] x + more[1] x^2 ...); ``odd`` takes |x| in the bracket, as for drag."""
    inner = [number(first)]
    base = f"abs({x})" if odd else f"({x})"
    inner += [f"{number(c)}*{base}**{k}" for k, c in enumerate(more, start=1) if c != 0.0]
    return f"({x})*({' + '.join(inner)})"


class Forces:
    """Adds the forces of a compiled model to a draft."""

    def __init__(self, reader: Reader) -> None:
        self.r, self.m, self.draft = reader, reader.m, reader.draft
        self.springs = not reader.is_off("SPRING") and not reader.is_off("PASSIVE")
        self.dampers = not reader.is_off("DAMPER") and not reader.is_off("PASSIVE")
        self.driven: dict[str, list[str]] = {}
        """terms of the actuators' generalized forces by speed or coordinate"""
        self.controls = getattr(self.m, "actuator_ctrladr", range(self.m.nu))
        """the control of each actuator; older versions of MuJoCo number both alike"""
        self.gears = [self.m.actuator_gear[at] for at in getattr(self.m, "actuator_outadr", range(self.m.nu))]

    def add(self) -> None:
        """All forces, in the order of the file."""
        for j in range(self.m.njnt):
            self._joint(j)
        for k in range(self.m.ntendon):
            self._tendon(k)
        self._gravity_compensation()
        for i in range(getattr(self.m, "nactuator", self.m.nu)):
            self._actuator(i)
        self._add_drives()

    def poly(self, what: str, k: int) -> Any:
        """Higher coefficients of a force law; older versions of MuJoCo have none."""
        found = getattr(self.m, what, None)
        return found[k] if found is not None else ()

    # -- joints ---------------------------------------------------------------------------------------------

    def _joint(self, j: int) -> None:
        m, name, kind = self.m, self.r.joint[j], int(self.m.jnt_type[j])
        at = m.jnt_dofadr[j]
        stiffness = float(m.jnt_stiffness[j]) if self.springs else 0.0
        damping = float(m.dof_damping[at]) if self.dampers else 0.0
        bends = self.poly("jnt_stiffnesspoly", j) if self.springs else ()
        drags = self.poly("dof_dampingpoly", at) if self.dampers else ()
        if kind in (FREE, BALL):
            if stiffness or np.any(bends) or np.any(drags):
                self.r.refuse("springs", f'joint "{name}" has a spring or a nonlinear damper about a ball')
            if damping:
                self.draft.forces.append({"type": "friction", "joint": name, "coefficient": damping})
            return
        rest = float(m.qpos_spring[m.jnt_qposadr[j]])
        if np.any(bends):
            value = polynomial(f"{name} - {number(rest)}", stiffness, bends, odd=False)
            self.draft.forces.append({"type": "generalized", "coordinate": name, "value": f"-{value}"})
            self._note_work(f'joint "{name}"', "is not linear")
            stiffness = 0.0
        if np.any(drags):
            value = polynomial(f"{name}_dot", damping, drags, odd=True)
            self.draft.forces.append({"type": "generalized", "coordinate": name, "value": f"-{value}"})
            damping = 0.0
        self._spring(name, kind, stiffness, damping, rest)

    def _spring(self, joint: str, kind: int, stiffness: float, damping: float, rest: float) -> None:
        """A linear spring with a damper along the coordinate of a hinge or slide."""
        if damping and not stiffness:
            self.draft.forces.append({"type": "friction", "joint": joint, "coefficient": damping})
        elif stiffness:
            law, free = ("torsion-spring", "rest") if kind == HINGE else ("spring", "length")
            fields = {"type": law, "joint": joint, "stiffness": stiffness} | ({free: rest} if rest else {})
            self.draft.forces.append(fields | ({"damping": damping} if damping else {}))

    def _note_work(self, where: str, why: str) -> None:
        """A note about a spring that a model can only hold as generalized forces."""
        self.draft.note(
            f"{where}: its spring {why}, so it acts as generalized forces: its energy appears in their "
            "work, not in the potential energy"
        )

    def _gravity_compensation(self) -> None:
        """Forces that carry bodies: passive ones, off with springs and dampers together, or those of actuators."""
        m, gravity = self.m, np.array(self.draft.gravity)
        carried = np.any(m.body_gravcomp) and np.any(gravity)
        if not carried or self._weak_actuators_carry() or not (self.springs or self.dampers):
            return
        for b in range(1, m.nbody):
            push = -gravity * m.body_mass[b] * m.body_gravcomp[b]
            if np.any(push):
                label = self.r.body[b]
                fields = {"name": f"{label} balance"[:64], "type": "force", "body": label, "at": "com"}
                self.draft.forces.append({**fields, "vector": fr.floats(push)})

    def _weak_actuators_carry(self) -> bool:
        """Whether joints compensate gravity by actuators that are limited or off: refused, or left out."""
        m, off = self.m, self.m.nu == 0 or self.r.is_off("ACTUATION") or not (self.springs or self.dampers)
        by_actuators = getattr(m, "jnt_actgravcomp", np.zeros(m.njnt))
        weak = [self.r.joint[j] for j in range(m.njnt) if by_actuators[j] and (off or m.jnt_actfrclimited[j])]
        if weak:
            what = f'joint "{weak[0]}" compensates gravity by actuators that are limited or switched off'
            self.r.refuse("actuators", what)
        return bool(weak)

    # -- tendons --------------------------------------------------------------------------------------------

    def fixed_tendon(self, k: int) -> dict[str, float] | None:
        """Coefficients of the coordinates in the length of a tendon; None if it is not fixed."""
        m = self.m
        wraps = range(m.tendon_adr[k], m.tendon_adr[k] + m.tendon_num[k])
        if any(int(m.wrap_type[w]) != self.r.mj.mjtWrap.mjWRAP_JOINT for w in wraps):
            return None
        found: dict[str, float] = {}
        for w in wraps:
            name = self.r.joint[int(m.wrap_objid[w])]
            found[name] = found.get(name, 0.0) + float(m.wrap_prm[w])
        return {name: share for name, share in found.items() if share}

    def _tendon(self, k: int) -> None:
        m, name = self.m, self.r.name_of("TENDON", k, "tendon")
        bends = self.poly("tendon_stiffnesspoly", k) if self.springs else ()
        drags = self.poly("tendon_dampingpoly", k) if self.dampers else ()
        stiffness = float(m.tendon_stiffness[k]) if self.springs else 0.0
        damping = float(m.tendon_damping[k]) if self.dampers else 0.0
        if m.tendon_limited[k] or m.tendon_frictionloss[k]:
            self.draft.note(f'tendon "{name}": its limits and friction loss are left out')
        if getattr(m, "tendon_armature", np.zeros(m.ntendon))[k]:
            self.r.refuse("tendons", f'tendon "{name}" has armature')
        if not (stiffness or damping or np.any(bends) or np.any(drags)):
            return
        low, high = (float(x) for x in m.tendon_lengthspring[k])
        shares = self.fixed_tendon(k)
        if shares is None:
            self._straight_tendon(k, name, stiffness, damping, low, high, bool(np.any(bends) or np.any(drags)))
            return
        curved = bool(np.any(bends) or np.any(drags)) or (stiffness and low != high)
        if len(shares) == 1 and not curved:
            ((joint, c),) = shares.items()
            kind = int(m.jnt_type[next(j for j, label in self.r.joint.items() if label == joint)])
            self._spring(joint, kind, c**2 * stiffness, c**2 * damping, low / c)
            return
        if stiffness or np.any(bends):
            why = "stretches by several coordinates" if len(shares) > 1 else "is not linear"
            self._note_work(f'tendon "{name}"', why)
        length = total([f"{number(c)}*{q}" for q, c in shares.items()])
        rate = total([f"{number(c)}*{q}_dot" for q, c in shares.items()])
        stretch = f"({length} - {number(low)})"
        if low != high:  # slack between two lengths
            stretch = f"(max({length} - {number(high)}, 0) + min({length} - {number(low)}, 0))"
        terms = []
        if stiffness or np.any(bends):
            terms.append(polynomial(stretch, stiffness, bends, odd=False))
        if damping or np.any(drags):
            terms.append(polynomial(rate, damping, drags, odd=True))
        for q, c in shares.items():
            self.draft.forces.append(
                {"type": "generalized", "coordinate": q, "value": f"-{number(c)}*({total(terms)})"}
            )

    def _straight_tendon(
        self, k: int, name: str, stiffness: float, damping: float, low: float, high: float, bent: bool
    ) -> None:
        """A spring between two sites; with more points or a slack range it has no counterpart."""
        m, adr = self.m, self.m.tendon_adr[k]
        sites = [w for w in range(adr, adr + m.tendon_num[k]) if int(m.wrap_type[w]) == self.r.mj.mjtWrap.mjWRAP_SITE]
        if len(sites) != 2 or m.tendon_num[k] != 2 or bent or (stiffness and low != high):
            self.r.refuse("tendons", f'tendon "{name}" runs over several points or pulleys, or is slack in a range')
            return
        ends = []
        for w in sites:
            s = int(m.wrap_objid[w])
            ends.append({"body": self.r.body[m.site_bodyid[s]], "position": fr.floats(m.site_pos[s])})
        fields = {"type": "spring", "from": ends[0], "to": ends[1], "stiffness": stiffness, "damping": damping}
        self.draft.forces.append({**fields, "length": low})

    # -- actuators ------------------------------------------------------------------------------------------

    def _actuator(self, i: int) -> None:
        m, mj = self.m, self.r.mj
        name = self.r.name_of("ACTUATOR", i, "actuator")
        disabled = bool(int(m.opt.disableactuator) >> int(m.actuator_group[i]) & 1)
        if disabled or self.r.is_off("ACTUATION"):
            if disabled:
                self.draft.note(f'actuator "{name}": its group is disabled in the file; left out')
            if self._rotor(i) or any(self._drag(i)):
                self.r.refuse("actuators", f'actuator "{name}" is disabled, but its armature and damping still act')
            return
        simple = int(m.actuator_dyntype[i]) == mj.mjtDyn.mjDYN_NONE
        simple &= int(m.actuator_gaintype[i]) in (mj.mjtGain.mjGAIN_FIXED, mj.mjtGain.mjGAIN_AFFINE)
        simple &= int(m.actuator_biastype[i]) in (mj.mjtBias.mjBIAS_NONE, mj.mjtBias.mjBIAS_AFFINE)
        simple &= getattr(m, "actuator_ctrlnum", np.ones(i + 1))[i] == 1
        simple &= getattr(m, "actuator_outnum", np.ones(i + 1))[i] == 1
        if int(m.actuator_trntype[i]) == mj.mjtTrn.mjTRN_BODY:
            self.draft.note(f'actuator "{name}": adhesion acts through contacts; left out')
            return
        if not simple:
            self.r.refuse("actuators", f'actuator "{name}" has dynamics, or is a muscle or another special type')
            return
        if delay := float(getattr(m, "actuator_delay", np.zeros(i + 1))[i]):
            self.r.refuse("actuators", f'actuator "{name}" delays its control by {delay:g} s')
            return
        u, at = self.draft.input_name(name), self.controls[i]
        limits = bool(m.actuator_ctrllimited[at]) and not self.r.is_off("CLAMPCTRL")
        ctrl = clipped(u, m.actuator_ctrlrange[at]) if limits else u
        match int(m.actuator_trntype[i]):
            case mj.mjtTrn.mjTRN_JOINT | mj.mjtTrn.mjTRN_JOINTINPARENT:
                done = self._on_joint(i, ctrl)
            case mj.mjtTrn.mjTRN_TENDON:
                done = self._on_tendon(i, ctrl)
            case mj.mjtTrn.mjTRN_SITE:
                done = self._on_site(i, ctrl)
            case _:
                done = False
        if not done:
            self.r.refuse("actuators", f'actuator "{name}" has a transmission that has no counterpart')
            return
        self.draft.inputs[u] = 0

    def _rotor(self, i: int) -> float:
        """Armature of an actuator."""
        return float(getattr(self.m, "actuator_armature", np.zeros(i + 1))[i])

    def _drag(self, i: int) -> list[float]:
        """Damping of an actuator and its higher coefficients, which are passive: off with all dampers."""
        damping = float(getattr(self.m, "actuator_damping", np.zeros(i + 1))[i])
        drag = [damping, *(float(x) for x in self.poly("actuator_dampingpoly", i))]
        return drag if self.dampers else [0.0] * len(drag)

    def _force(self, i: int, ctrl: str, length: str | None, rate: str | None) -> str | None:
        """Scalar force of an actuator: gain times control plus bias; None if it needs a length that is not known."""
        m, mj = self.m, self.r.mj
        gain, bias = [float(x) for x in m.actuator_gainprm[i][:3]], [float(x) for x in m.actuator_biasprm[i][:3]]
        if int(m.actuator_gaintype[i]) == mj.mjtGain.mjGAIN_FIXED:
            gain = [gain[0], 0.0, 0.0]
        if int(m.actuator_biastype[i]) == mj.mjtBias.mjBIAS_NONE:
            bias = [0.0, 0.0, 0.0]
        damping, *drags = self._drag(i)
        if (length is None or rate is None) and any([*gain[1:], *bias[1:], damping, *drags]):
            return None
        measured = ["1", f"({length})", f"({rate})"]
        terms = [f"{number(c)}*{x}*{ctrl}" for c, x in zip(gain, measured, strict=True) if c]
        terms += [f"{number(c)}*{x}" for c, x in zip(bias, measured, strict=True) if c]
        text = total(terms)
        if m.actuator_forcelimited[i]:
            text = clipped(text, m.actuator_forcerange[i])
        if damping or np.any(drags):  # passive, so not limited
            assert rate is not None
            text = f"{text} - {polynomial(rate, damping, drags, odd=True)}"
        return text

    def _on_joint(self, i: int, ctrl: str) -> bool:
        m = self.m
        j, gear = int(m.actuator_trnid[i, 0]), self.gears[i]
        joint, kind = self.r.joint[j], int(m.jnt_type[j])
        rotor = self._rotor(i)
        if kind in (HINGE, SLIDE):
            force = self._force(i, ctrl, f"{number(gear[0])}*{joint}", f"{number(gear[0])}*{joint}_dot")
            if rotor:
                fields = next(x for x in self.draft.joints if x["name"] == joint)
                fields["armature"] = [fields.get("armature", [0.0])[0] + float(gear[0]) ** 2 * rotor]
            self.driven.setdefault(joint, []).append(f"{number(gear[0])}*({force})")
            return True
        force = self._force(i, ctrl, None, None)
        if force is None or rotor or int(m.actuator_trntype[i]) != self.r.mj.mjtTrn.mjTRN_JOINT:
            return False
        fields = next(x for x in self.draft.joints if x["name"] == joint)
        for speed, share in zip(self.draft.parsed(fields).speeds(), gear, strict=False):
            if share:
                target = speed.name.removesuffix("_dot")  # of a translation: its coordinate
                self.driven.setdefault(target, []).append(f"{number(share)}*({force})")
        return True

    def _on_tendon(self, i: int, ctrl: str) -> bool:
        m, k = self.m, int(self.m.actuator_trnid[i, 0])
        shares, gear = self.fixed_tendon(k), float(self.gears[i][0])
        limited = getattr(m, "tendon_actfrclimited", np.zeros(m.ntendon))[k]
        if shares is None or limited or self._rotor(i):
            return False
        length = total([f"{number(gear * c)}*{q}" for q, c in shares.items()])
        rate = total([f"{number(gear * c)}*{q}_dot" for q, c in shares.items()])
        force = self._force(i, ctrl, length, rate)
        for q, c in shares.items():
            self.driven.setdefault(q, []).append(f"{number(gear * c)}*({force})")
        return True

    def _on_site(self, i: int, ctrl: str) -> bool:
        """A wrench in the axes of a site."""
        m, s = self.m, int(self.m.actuator_trnid[i, 0])
        force = self._force(i, ctrl, None, None)
        if m.actuator_trnid[i, 1] >= 0 or force is None:
            return False
        R, gear, label = fr.quaternion_matrix(m.site_quat[s]), self.gears[i], self.r.body[m.site_bodyid[s]]
        if label == "ground":
            return True
        push, twist = R @ gear[:3], R @ gear[3:]
        fields: dict[str, Any] = {"body": label, "axes": "body"}
        if np.any(push):
            vector = [f"{number(x)}*({force})" for x in push]
            self.draft.forces.append(
                {**fields, "type": "force", "position": fr.floats(m.site_pos[s]), "vector": vector}
            )
        if np.any(twist):
            self.draft.forces.append({**fields, "type": "torque", "vector": [f"{number(x)}*({force})" for x in twist]})
        return True

    def _add_drives(self) -> None:
        """One generalized force for each driven speed; joints may limit the sum of their actuators."""
        m = self.m
        limits = {
            self.r.joint[j]: m.jnt_actfrcrange[j]
            for j in range(m.njnt)
            if getattr(m, "jnt_actfrclimited", np.zeros(m.njnt))[j]
        }
        for target, terms in self.driven.items():
            value = total(terms)
            if target in limits:
                value = clipped(value, limits[target])
            self.draft.forces.append({"type": "generalized", "coordinate": target, "value": value})
