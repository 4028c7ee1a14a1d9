"""Right-hand side and projection of a mechanism whose bodies have their own coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pendula.numerics.block_tree.elimination import block_shape
from pendula.system import kernels as kn
from pendula.system.block_tree import kernels as tk
from pendula.system.block_tree.layout import TreeLayout
from pendula.system.code.programs import Programs
from pendula.system.dynamics import MOST_PASSES, Dynamics, Sizes, Workspace
from pendula.system.layout import Array


def bind_tree(
    programs: Programs,
    tree: TreeLayout,
    sizes: Sizes,
    parameters: Array,
    inputs: Array,
    *,
    balls: Sequence[tuple[int, int]],
    speed_of: Sequence[int],
    has_power: bool,
    length: float,
    rank: int,
    complement: bool = False,
    baumgarte: float | None = None,
) -> Dynamics:
    """Fresh callbacks for one run; arguments as for ``bind_dynamics``. Rows are independent, or this does not apply."""
    nq, nv, ny, m = sizes.q, sizes.v, tree.unknowns, tree.border
    code, gaps = programs.tree_dynamics(parameters, tree), programs.tree_gaps(parameters, tree)
    x = np.zeros(1 + nq + nv + sizes.u)
    x[1 + nq + nv :] = inputs
    _, small_width = block_shape(m, 0, 0)
    terms = tree.matrix_size + ny + m + nq + 1 + 2 * sizes.drives + sizes.rows * sizes.drives
    arrays = {
        kn.X: x,
        kn.TERMS: np.zeros(terms),
        kn.GAPS: np.zeros(tree.matrix_size + 2 * (ny + m)),
        kn.WORK: np.zeros(nv),
        kn.MULTIPLIERS: np.zeros(sizes.rows + 1),
        kn.STATUS: np.zeros(1, dtype=np.int64),
        kn.BALL_AT: np.array(balls, dtype=np.int64).reshape(-1, 2),
        kn.SPEED_OF: np.array(speed_of, dtype=np.int64),
        kn.LENGTH: np.array([length]),
        kn.RATE: np.array([baumgarte or 0.0]),
        tk.NODES: tree.nodes,
        tk.SPEED_AT: tree.speed_at,
        tk.ROW_AT: tree.row_at,
        tk.Z: np.zeros((ny, 1 + m)),
        tk.BLOCKS_WORK: np.zeros(tree.blocks),
        tk.SIZES: np.zeros(max(tree.largest, m)),
        tk.SMALL: np.zeros((m + 1, small_width)),
        tk.NU: np.zeros(m + 1),
        tk.REST: np.zeros(3 * (ny + m)),
    }
    context = np.zeros(tk.SIZE, dtype=np.int64)
    context[kn.CODE], context[kn.PARAMETERS] = code.native.evaluate, code.context
    context[kn.GAPS_CODE], context[kn.GAPS_PARAMETERS] = gaps.native.evaluate, gaps.context
    context[[kn.NQ, kn.NV, kn.NU, kn.ROWS, kn.DRIVES]] = nq, nv, sizes.u, sizes.rows, sizes.drives
    context[[kn.QUADRATURES, kn.BALLS, kn.MAX_PASSES]] = int(has_power), len(balls), MOST_PASSES
    context[[kn.RANK, kn.BAUMGARTE]] = rank, baumgarte is not None and sizes.rows > 0
    context[[tk.NODE_COUNT, tk.BLOCKS, tk.MATRIX]] = len(tree.nodes), tree.blocks, tree.matrix_size
    context[[tk.UNKNOWNS, tk.BORDER, tk.LARGEST, tk.SMALL_WIDTH]] = ny, m, max(tree.largest, m), small_width
    for entry, array in arrays.items():
        context[entry] = array.ctypes.data
    workspace = Workspace(context, arrays[kn.STATUS], (code, gaps, *arrays.values()))
    project = workspace.callback(tk.project.address) if sizes.rows or balls else None
    return Dynamics(workspace.callback(tk.right_hand_side.address), project, int(has_power), workspace)
