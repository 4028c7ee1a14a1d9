"""The compiled callback that writes the inputs of a run before it calls the equations of motion."""

from __future__ import annotations

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import call_native, doubles_at, integers_at
from pendula.numerics.compiled.records import reader, record_dtype

FEED = record_dtype(
    reals="late window latest",
    whole="inner inner_context n nu u state targets target_count series series_count laws law_count held held_count",
)
"""Fields of the context: the equations (``inner``), the number ``n`` of coordinates and speeds, the values ``u`` of
all inputs, the addresses ``targets`` to which they are copied, a buffer for a measured ``state``, and tables of time
series, continuous laws and sampled controllers. ``late`` is the longest delay with which a controller saw its sample;
an evaluation at most ``window`` after a sampling time has the state of that time. Series and controllers are evaluated
no later than ``latest``: just before the end of a run, if something switches there."""
feed_at = reader(FEED)

SERIES_WIDTH, LAW_WIDTH, HELD_WIDTH = 4, 5, 12
SLOT, COUNT, TIMES, PIECES = range(SERIES_WIDTH)
CODE, CONTEXT, FOUND, OUTPUTS, SLOTS = range(LAW_WIDTH)
SAMPLES, TAKEN, ACTING, VALUES, NOISE, HAVE, SURE = range(LAW_WIDTH, HELD_WIDTH)


@compiled_part
def passed(times, count, t):
    """How many of the sorted times are not later than t."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_part(allocates=True)
def _series(table, u, t):
    """A time series at t: a cubic in the time since the last knot."""
    count = table[COUNT]
    times, pieces = doubles_at(table[TIMES], count), doubles_at(table[PIECES], (count, 4))
    k = max(passed(times, count, t) - 1, 0)
    d = t - times[k]
    u[table[SLOT]] = pieces[k, 0] + d * (pieces[k, 1] + d * (pieces[k, 2] + d * pieces[k, 3]))


@compiled_part(allocates=True)
def _sample(ctx, table, inp, k):
    """Calls a controller with the state, plus the noise of its sensors, and keeps the result as sample k."""
    n, m = ctx.n, table[OUTPUTS]
    given, state = doubles_at(inp, 1 + n), doubles_at(ctx.state, 1 + n)
    for i in range(1 + n):
        state[i] = given[i]
    state[0] = doubles_at(table[TAKEN], table[SAMPLES])[k]
    if table[NOISE] != 0:
        noise = doubles_at(table[NOISE] + 8 * n * k, n)
        for i in range(n):
            state[1 + i] += noise[i]
    call_native(table[CODE], table[FOUND], ctx.state, table[CONTEXT])
    found, kept = doubles_at(table[FOUND], m), doubles_at(table[VALUES] + 8 * m * k, m)
    for i in range(m):
        kept[i] = found[i]
    ctx.late = max(ctx.late, given[0] - state[0])


@compiled_part(allocates=True)
def _hold(ctx, table, u, inp, t):
    """The held output of a sampled controller at t; it is called at the first evaluation after a sampling time.

    Steps end at sampling times, and the next evaluation is just after them with the state there. If a step is
    rejected, or a part of the run is looked at again, evaluations go back in time: samples after that (those from
    ``SURE`` on) are taken again when an evaluation at their sampling time comes, and serve until then.
    """
    count, m = table[SAMPLES], table[OUTPUTS]
    taken = doubles_at(table[TAKEN], count)
    reached = passed(taken, count, t)
    table[SURE] = min(table[SURE], reached)
    for k in range(table[HAVE], reached):
        _sample(ctx, table, inp, k)
    if reached > table[HAVE]:
        table[HAVE] = table[SURE] = reached
    elif reached > table[SURE] and t - taken[reached - 1] <= ctx.window:
        _sample(ctx, table, inp, reached - 1)
        table[SURE] = reached
    acting = passed(doubles_at(table[ACTING], count), count, t) - 1
    slots = integers_at(table[SLOTS], m)
    if acting >= 0:
        values = doubles_at(table[VALUES] + 8 * m * acting, m)
        for i in range(m):
            u[slots[i]] = values[i]


@compiled_callback
def feed(out, inp, context):
    """[t, q, v, ...] -> the rates of the equations, with the inputs of the run at t."""
    ctx = feed_at(context)
    t, u = min(doubles_at(inp, 1)[0], ctx.latest), doubles_at(ctx.u, ctx.nu)
    series = integers_at(ctx.series, (ctx.series_count, SERIES_WIDTH))
    for i in range(ctx.series_count):
        _series(series[i], u, t)
    laws = integers_at(ctx.laws, (ctx.law_count, LAW_WIDTH))
    for i in range(ctx.law_count):
        law = laws[i]
        call_native(law[CODE], law[FOUND], inp, law[CONTEXT])
        found, slots = doubles_at(law[FOUND], law[OUTPUTS]), integers_at(law[SLOTS], law[OUTPUTS])
        for j in range(law[OUTPUTS]):
            u[slots[j]] = found[j]
    held = integers_at(ctx.held, (ctx.held_count, HELD_WIDTH))
    for i in range(ctx.held_count):
        _hold(ctx, held[i], u, inp, t)
    targets = integers_at(ctx.targets, ctx.target_count)
    for i in range(ctx.target_count):
        target = doubles_at(targets[i], ctx.nu)
        for j in range(ctx.nu):
            target[j] = u[j]
    call_native(ctx.inner, out, inp, ctx.inner_context)
