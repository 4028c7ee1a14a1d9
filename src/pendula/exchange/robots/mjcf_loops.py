"""Equality constraints of MJCF files as joints that close loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.exchange.robots import frames as fr
from pendula.exchange.robots.mjcf_forces import number, total

if TYPE_CHECKING:
    from pendula.exchange.robots.mjcf import Reader
    from pendula.exchange.robots.mjcf_forces import Forces


def add_loops(reader: Reader, forces: Forces) -> None:
    """All equality constraints that the file activates; MuJoCo's are soft, those of a model are exact."""
    m, mj = reader.m, reader.mj
    if reader.is_off("EQUALITY") or reader.is_off("CONSTRAINT"):
        return
    for k in range(m.neq):
        name = reader.name_of("EQUALITY", k, "loop")
        if not m.eq_active0[k]:
            reader.draft.note(f'equality "{name}": not active in the file; left out')
            continue
        kind = int(m.eq_type[k])
        if kind in (mj.mjtEq.mjEQ_CONNECT, mj.mjtEq.mjEQ_WELD):
            _add_pin(reader, k, name, weld=kind == mj.mjtEq.mjEQ_WELD)
        elif (text := _coupling(reader, forces, k)) is not None:
            fields = {"name": reader.draft.joint_name(name, "coupling"), "type": "coupling", "value": text}
            reader.draft.joints.append(fields)
        else:
            reader.refuse("equality", f'equality "{name}" couples tendons over points, or deformable bodies')
    if m.neq:
        reader.draft.note("equality constraints: exact here, soft in MuJoCo")


def _coupling(reader: Reader, forces: Forces, k: int) -> str | None:
    """A polynomial between two coordinates or lengths of fixed tendons, as an expression that stays zero."""
    m, mj, ends = reader.m, reader.mj, []
    for i in (int(m.eq_obj1id[k]), int(m.eq_obj2id[k])):
        if i < 0:
            continue
        if int(m.eq_type[k]) == mj.mjtEq.mjEQ_JOINT:
            ends.append(f"({reader.joint[i]} - {number(m.qpos0[m.jnt_qposadr[i]])})")
        elif int(m.eq_type[k]) == mj.mjtEq.mjEQ_TENDON and (shares := forces.fixed_tendon(i)) is not None:
            length = total([f"{number(c)}*{q}" for q, c in shares.items()])
            ends.append(f"({length} - {number(m.tendon_length0[i])})")
        else:
            return None
    terms = [ends[0]]
    for power, c in enumerate(m.eq_data[k][:5]):
        if c and (power == 0 or len(ends) > 1):
            terms.append(f"{number(-c)}*{ends[1]}**{power}" if power else number(-c))
    return total(terms)


def _add_pin(reader: Reader, k: int, name: str, *, weld: bool) -> None:
    """Two points that coincide, or two frames."""
    m, mj, data = reader.m, reader.mj, reader.m.eq_data[k]
    first, second = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    kind = "loop" if weld else "coincident"
    fields: dict[str, Any] = {"name": reader.draft.joint_name(name, kind), "type": kind}
    if int(m.eq_objtype[k]) == mj.mjtObj.mjOBJ_SITE:
        ends = [(m.site_bodyid[s], m.site_pos[s], m.site_quat[s] if weld else None) for s in (first, second)]
    elif weld:
        # data: a point of the second body, and the pose of its frame in the axes of the first
        point, position, turn = data[:3], data[3:6], data[6:10]
        at = position + fr.quaternion_matrix(turn) @ point
        ends = [(first, at, turn), (second, point, None)]
    else:
        ends = [(first, data[:3], None), (second, data[3:6], None)]
    parent, child = (fr.side(reader.body[b], np.array(p), q) for b, p, q in ends)
    reader.draft.joints.append({**fields, "parent": parent, "child": child, **({"kind": "fixed"} if weld else {})})
