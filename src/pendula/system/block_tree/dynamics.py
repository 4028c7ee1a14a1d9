"""Right-hand side and projection of a mechanism in maximal coordinates."""

from __future__ import annotations

import numpy as np

from pendula.numerics.block_tree.elimination import block_shape
from pendula.numerics.compiled.records import Memory
from pendula.system.block_tree import kernels as tk
from pendula.system.block_tree.layout import TreeLayout
from pendula.system.code.programs import Programs
from pendula.system.dynamics import Bindings, Dynamics, Workspace
from pendula.system.orientation.turning import has_quaternions


def bind_tree(programs: Programs, tree: TreeLayout, to: Bindings) -> Dynamics:
    """New callbacks for one run. All constraint rows must be independent."""
    sizes, ny, m = to.sizes, tree.unknowns, tree.border
    code, gaps = programs.tree_dynamics(to.parameters, tree), programs.tree_gaps(to.parameters, tree)
    _, small_width = block_shape(m, 0, 0)
    terms = tree.matrix_size + ny + m + sizes.q + 1 + 2 * sizes.drives + sizes.rows * sizes.drives
    context = Memory(
        tk.TREE, **to.fields(), code=code.native.evaluate, parameters=code.context, gaps_code=gaps.native.evaluate,
        gaps_parameters=gaps.context, gaps=np.zeros(tree.matrix_size + 2 * (ny + m)), terms=np.zeros(terms),
        node_count=len(tree.nodes), blocks=tree.blocks, matrix=tree.matrix_size, unknowns=ny, border=m,
        largest=max(tree.largest, m), small_width=small_width, nodes=tree.nodes, speed_at=tree.speed_at,
        row_at=tree.row_at, z=np.zeros((ny, 1 + m)), blocks_work=np.zeros(tree.blocks),
        sizes=np.zeros(max(tree.largest, m)), small=np.zeros((m + 1, small_width)), nu_border=np.zeros(m + 1),
        rest=np.zeros(3 * (ny + m)),
    )  # fmt: skip
    context.keep((code, gaps))
    workspace = Workspace(context)
    project = tk.project if sizes.rows or has_quaternions(to.turnings) else None
    return Dynamics(tk.right_hand_side, project, int(to.has_power), workspace)
