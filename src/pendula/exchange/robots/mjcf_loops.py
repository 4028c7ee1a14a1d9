"""Equality constraints of MJCF files as joints that close loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.exchange.robots import frames as fr

if TYPE_CHECKING:
    from pendula.exchange.robots.mjcf import Reader


def add_loops(reader: Reader) -> None:
    """All equality constraints that the file activates; MuJoCo's are soft, those of a model are exact."""
    m, mj = reader.m, reader.mj
    if reader.is_off("EQUALITY"):
        return
    for k in range(m.neq):
        name = reader.name_of("EQUALITY", k, "loop")
        if not m.eq_active0[k]:
            reader.draft.note(f'equality "{name}": not active in the file; left out')
            continue
        kind = int(m.eq_type[k])
        if kind in (mj.mjtEq.mjEQ_CONNECT, mj.mjtEq.mjEQ_WELD):
            _add_pin(reader, k, name, weld=kind == mj.mjtEq.mjEQ_WELD)
        else:
            reader.refuse("equality", f'equality "{name}" couples coordinates, tendons or deformable bodies')
    if m.neq:
        reader.draft.note("equality constraints: exact here, soft in MuJoCo")


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
