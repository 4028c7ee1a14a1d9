"""States of any batch shape as rows [t, q, v, u, ...] for compiled programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import UsageError
from pendula.system.layout import Array, Layout

if TYPE_CHECKING:
    from pendula.system.system import System


def state_rows(
    layout: Layout, q: Any, v: Any, t: Any, u: Array, extra: Sequence[tuple[Any, int]] = ()
) -> tuple[Array, tuple[int, ...]]:
    """One row [t, q, v, u, ...] per state, and the batch shape; ``v`` of None means zero speeds.

    Args:
        u: values of the inputs, with or without batch dimensions.
        extra: further arrays, each with the required length of its last dimension.
    """
    q, t = np.asarray(q, dtype=float), np.asarray(t, dtype=float)
    nq, nv = len(layout.coordinates), len(layout.speeds)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else np.asarray(v, dtype=float)
    extras = [(np.asarray(array, dtype=float), count) for array, count in extra]
    if q.shape == (nq,) and v.shape == (nv,) and t.ndim == 0 and u.ndim == 1:  # the usual single state
        if not extras:
            return np.concatenate((t[None], q, v, u))[None], ()
        if all(array.shape == (count,) for array, count in extras):
            return np.concatenate((t[None], q, v, u, *[array for array, _ in extras]))[None], ()
    for name, array, names in (("q", q, layout.coordinates), ("v", v, layout.speeds)):
        if array.shape[-1:] != (len(names),):
            raise UsageError(
                f"{name} must end in {len(names)} entries ({', '.join(names[:6])}), got shape {array.shape}"
            )
    for array, count in extras:
        if array.shape[-1:] != (count,):
            raise UsageError(f"an argument must end in {count} entries, got shape {array.shape}")
    blocks = [t[..., None], q, v, u, *(array for array, _ in extras)]
    try:
        batch = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
    except ValueError:
        shapes = ", ".join(str(b.shape[:-1]) for b in blocks)
        raise UsageError(f"the batch shapes of t, q, v, u do not fit together: {shapes}") from None
    rows, at = np.empty((*batch, sum(b.shape[-1] for b in blocks))), 0
    for b in blocks:
        rows[..., at : at + b.shape[-1]] = b
        at += b.shape[-1]
    return rows.reshape(-1, at), batch


def rows_with_inputs(
    system: System, q: Any, v: Any, t: Any, inputs: Any, parameters: Array, extra: Sequence[tuple[Any, int]] = ()
) -> tuple[Array, tuple[int, ...]]:
    """:func:`state_rows` with the inputs of a system: the given ones, or those of its model."""
    u = system.inputs.rows(np.asarray(t, dtype=float), inputs, parameters, (q, v))
    return state_rows(system.layout, q, v, t, u, extra)


def column_count(layout: Layout, by: str) -> int:
    """Number of columns of a Jacobian by ``q``, ``v``, ``u`` or ``p``.

    Raises:
        UsageError: ``by`` is another letter.
    """
    names = {"q": layout.coordinates, "v": layout.speeds, "u": layout.inputs, "p": layout.parameters}
    if by not in names:
        raise UsageError(f'derivatives are available by "q", "v", "u" or "p", not by "{by}"')
    return len(names[by])
