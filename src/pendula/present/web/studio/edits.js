// Changes of a model: new bodies, joints and springs with fresh names and parameters; renaming; removing.

/** A name that is not taken: the base itself, or with a number. @param {string} base @param {Iterable<string>} taken */
export function freshName(base, taken) {
  const known = new Set(taken);
  if (!known.has(base)) return base;
  for (let k = 2; ; k++) if (!known.has(`${base}${k}`)) return `${base}${k}`;
}

/** Names of a list of the model. @param {any} data @param {"bodies" | "joints" | "forces"} list @returns {string[]} */
export function namesOf(data, list) {
  return (data[list] || []).map((/** @type {any} */ item) => item.name).filter(Boolean);
}

/** Everything that an expression may name, so that a new name means nothing else. @param {any} data */
function taken(data) {
  const joints = (data.joints || []).flatMap((/** @type {any} */ j) => [
    j.name, `${j.name}_dot`, ...(j.names || []), ...(j.coordinates || []),
  ]);
  return [...Object.keys(data.parameters || {}), ...Object.keys(data.inputs || {}), ...joints, "t", "pi", "e"];
}

/** A new parameter; returns its name. @param {any} data @param {string} base @param {number} value */
export function addParameter(data, base, value) {
  data.parameters ||= {};
  const name = freshName(base.replace(/[^A-Za-z0-9_]/g, "_"), taken(data));
  data.parameters[name] = value;
  return name;
}

/**
 * The value of a scalar: a number, or the value of a parameter. NaN for other expressions.
 * @param {any} data
 * @param {any} scalar
 */
export function numberOf(data, scalar) {
  if (typeof scalar === "number") return scalar;
  const direct = Number(scalar);
  if (Number.isFinite(direct) && String(scalar).trim()) return direct;
  const negative = /^-\s*(\w+)$/.exec(String(scalar)), name = negative ? negative[1] : String(scalar);
  const value = (data.parameters || {})[name];
  return typeof value === "number" ? (negative ? -value : value) : NaN;
}

/**
 * Points of a body that have names, in body axes.
 * @param {any} data
 * @param {string} body
 * @returns {Map<string, number[]>}
 */
export function pointsOf(data, body) {
  const found = new Map(), given = (data.bodies || []).find((/** @type {any} */ b) => b.name === body);
  if (!given) return found;
  if (given.rod) {
    const length = numberOf(data, given.rod.length);
    const axis = (given.rod.axis || [0, -1, 0]).map((/** @type {any} */ x) => numberOf(data, x));
    const size = Math.hypot(...axis) || 1;
    const at = (/** @type {number} */ f) => [0, 1, 2].map(k => f * length * (axis[k] || 0) / size);
    found.set("start", [0, 0, 0]).set("end", at(1)).set("center", at(0.5));
  }
  for (const [name, place] of Object.entries(given.points || {})) {
    found.set(name, [0, 1, 2].map(k => numberOf(data, /** @type {any} */ (place)[k] ?? 0)));
  }
  return found;
}

/**
 * The side of a joint or a force at a point of a body: a named point if one is close.
 * @param {any} data @param {string} body @param {number[]} at in body axes @param {number} near distance that counts as close
 */
export function sideAt(data, body, at, near) {
  let best = "", least = near;
  for (const [name, place] of pointsOf(data, body)) {
    const far = Math.hypot(...place.map((x, k) => x - at[k]));
    if (far < least) [best, least] = [name, far];
  }
  if (best) return { body, at: best };
  const step = 10 ** Math.floor(Math.log10(near || 1e-3)); // a click is not more exact than this
  const position = at.map(x => (Math.abs(x) < near ? 0 : Number((step * Math.round(x / step)).toPrecision(6))));
  return position.every(x => x === 0) ? { body } : { body, position };
}

/** The box of a new body. @param {any} data @param {string} base */
function newBody(data, base) {
  data.bodies ||= [];
  return freshName(base, [...namesOf(data, "bodies"), "ground"]);
}

/** @param {any} data @param {any} body @param {any} joint @param {Record<string, any>} start initial values */
function addPair(data, body, joint, start = {}) {
  data.bodies.push(body);
  data.joints ||= [];
  data.joints.push(joint);
  if (Object.keys(start).length) Object.assign(data.initial ||= {}, start);
  return body.name;
}

/** A name for a joint and its coordinate. @param {any} data @param {string} base */
function newJoint(data, base) {
  return freshName(base, taken(data));
}

const AXIS_VECTORS = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

/** The direction in which things fall, along an axis; without gravity, as in a new model. @param {any} data @returns {number[]} */
export function downOf(data) {
  const pull = [0, 1, 2].map(k => numberOf(data, (data.gravity || [])[k] ?? 0) || 0);
  const k = pull.reduce((best, value, i) => (Math.abs(value) > Math.abs(pull[best]) ? i : best), 1);
  return [0, 1, 2].map(i => (i === k ? Math.sign(pull[k]) || -1 : 0));
}

/**
 * @typedef {Object} NewJoint how a new body is connected
 * @property {"revolute" | "spherical" | "universal" | "prismatic"} type
 * @property {"x" | "y" | "z"} [axis] of a revolute or prismatic joint
 */

/**
 * A rod, or a ball on a massless rod, that hangs from a point.
 * @param {any} data @param {any} side @param {number} length
 * @param {"rod" | "ball"} kind @param {NewJoint} by
 */
export function hang(data, side, length, kind = "rod", by = { type: "revolute" }) {
  const name = newBody(data, kind), down = downOf(data), axis = AXIS_VECTORS[by.axis || "z"];
  const upright = by.type === "revolute" && axis.some((x, k) => x !== 0 && down[k] !== 0);
  const along = upright ? AXIS_VECTORS[down[0] === 0 ? "x" : "y"] : down; // what turns about the vertical reaches out
  const mass = addParameter(data, `m_${name}`, 1), l = addParameter(data, `l_${name}`, length);
  const at = along.map(x => (x === 0 ? 0 : x < 0 ? `-${l}` : l)), thick = Number((length / 10).toPrecision(2));
  const free = by.type === "spherical"; // it can spin about itself, so it needs inertia about its own axis
  const body = kind === "rod"
    ? { name, rod: { mass, length: l, ...(along[1] === -1 ? {} : { axis: along }), ...(free ? { diameter: thick } : {}) } }
    : free ? { name, sphere: { mass, radius: thick, at } } : { name, point: { mass, at } };
  const joint = newJoint(data, free ? "pivot" : by.type === "universal" ? "cross" : "theta");
  const across = /** @type {("x" | "y" | "z")[]} */ (["x", "y", "z"]).filter((_, k) => down[k] === 0);
  const leaning = down.map(x => (x === 0 ? 1 : 0)); // out of every plane of the axes
  const start = free ? { [joint]: { axis: leaning, angle: "30deg" } }
    : by.type === "universal" ? { [`${joint}_1`]: "30deg", [`${joint}_2`]: "20deg" } : upright ? {} : { [joint]: "30deg" };
  return addPair(data, body, {
    name: joint, type: by.type, parent: side, child: { body: name }, ...(by.axis && by.axis !== "z" ? { axis } : {}),
    ...(by.type === "universal" ? { sequence: across.join("") } : {}),
  }, start);
}

/** A body that slides along an axis. @param {any} data @param {any} side @param {number} size @param {"x" | "y" | "z"} axis */
export function addSlider(data, side, size, axis = "x") {
  const name = newBody(data, side.body === "ground" ? "cart" : "slider"), joint = newJoint(data, axis);
  const mass = addParameter(data, `m_${name}`, 2), half = Number((size / 2).toPrecision(3));
  const body = { name, box: { mass, size: [0, 1, 2].map(k => (AXIS_VECTORS[axis][k] ? size : half)) } };
  return addPair(data, body, {
    name: joint, type: "prismatic", parent: side, child: { body: name }, ...(axis === "x" ? {} : { axis: AXIS_VECTORS[axis] }),
  });
}

/** A body that nothing holds. @param {any} data @param {any} side @param {number} size */
export function addFree(data, side, size) {
  const name = newBody(data, "body"), mass = addParameter(data, `m_${name}`, 1);
  const body = { name, box: { mass, size: [size, Number((size / 2).toPrecision(3)), Number((size / 4).toPrecision(3))] } };
  return addPair(data, body, { name: newJoint(data, "free"), type: "free", parent: side, child: { body: name } });
}

/** A joint at which two points stay together, so that a loop closes. @param {any} data @param {any} from @param {any} to */
export function addPin(data, from, to) {
  data.joints ||= [];
  data.joints.push({ name: newJoint(data, "pin"), type: "coincident", parent: to, child: from });
}

/**
 * A spring between two points, relaxed at a length.
 * @param {any} data
 * @param {any} from
 * @param {any} to
 * @param {number} length
 */
export function addSpring(data, from, to, length) {
  data.forces ||= [];
  const name = freshName("spring", namesOf(data, "forces"));
  const stiffness = addParameter(data, `k_${name}`, 20), free = addParameter(data, `l_${name}`, length);
  data.forces.push({ name, type: "spring", from, to, stiffness, length: free });
  return name;
}

/** A spring (and damper) at a joint that turns. @param {any} data @param {string} joint */
export function addTorsion(data, joint) {
  data.forces ||= [];
  const name = freshName("torsion", namesOf(data, "forces"));
  data.forces.push({ name, type: "torsion-spring", joint, stiffness: addParameter(data, `k_${name}`, 5) });
}

/** A new entry of a list, as the form adds it. @param {any} data @param {"bodies" | "joints" | "forces"} list */
export function addEntry(data, list) {
  data[list] ||= [];
  const bodies = namesOf(data, "bodies"), last = bodies[bodies.length - 1] || "ground";
  if (list === "bodies") {
    const name = newBody(data, "body");
    data.bodies.push({ name, rod: { mass: 1, length: 1 } });
  } else if (list === "joints") {
    const placed = new Set((data.joints || []).map((/** @type {any} */ j) => bodyOf(j.child)));
    const child = bodies.find(name => !placed.has(name)) || last;
    data.joints.push({
      name: newJoint(data, "theta"), type: "revolute", parent: { body: "ground" }, child: { body: child },
    });
  } else {
    data.forces.push({
      name: freshName("spring", namesOf(data, "forces")), type: "spring", from: { body: "ground" }, to: { body: last },
      stiffness: 10, length: 0,
    });
  }
  return data[list].length - 1;
}

/**
 * A copy of an entry, right after it.
 * @param {any} data
 * @param {"bodies" | "joints" | "forces"} list
 * @param {number} index
 */
export function duplicateEntry(data, list, index) {
  const copy = structuredClone(data[list][index]);
  if (copy.name) copy.name = freshName(
    copy.name.replace(/\d+$/, "") || copy.name, list === "joints" ? taken(data) : namesOf(data, list),
  );
  data[list].splice(index + 1, 0, copy);
}

/** The name of the body of a side. @param {any} side */
export function bodyOf(side) {
  return typeof side === "string" ? side : side && side.body;
}

/**
 * Removes an entry, and with a body the joints and forces that need it.
 * @param {any} data
 * @param {"bodies" | "joints" | "forces"} list
 * @param {number} index
 */
export function removeEntry(data, list, index) {
  const [gone] = data[list].splice(index, 1);
  if (list === "bodies" && gone.name) {
    const uses = (/** @type {any} */ item) => [
      item.parent, item.child, item.from, item.to, item.body,
    ].some(side => side && bodyOf(side) === gone.name);
    for (const joint of (data.joints || []).filter(uses)) forgetJoint(data, joint);
    data.forces = (data.forces || []).filter((/** @type {any} */ force) => !uses(force));
  }
  if (list === "joints") forgetJoint(data, gone);
}

/** @param {any} data @param {any} joint */
function forgetJoint(data, joint) {
  for (const name of initialOf(data, joint)) delete data.initial[name];
  data.joints = (data.joints || []).filter((/** @type {any} */ j) => j !== joint);
  data.forces = (data.forces || []).filter((/** @type {any} */ force) => force.joint !== joint.name);
  if (data.initial && !Object.keys(data.initial).length) delete data.initial;
}

/** Initial values that belong to a joint: theta, theta_dot, pivot_q0. @param {any} data @param {any} joint @returns {string[]} */
function initialOf(data, joint) {
  const own = new Set((joint.names || []).concat(joint.coordinates || []).flatMap((/** @type {string} */ n) => [n, `${n}_dot`]));
  const others = namesOf(data, "joints").filter(name => name !== joint.name && name.length > joint.name.length);
  const begins = (/** @type {string} */ key, /** @type {string} */ name) => key === name || key.startsWith(`${name}_`);
  return Object.keys(data.initial || {}).filter(
    key => own.has(key) || (begins(key, joint.name) && !others.some(name => begins(key, name))),
  );
}

/** Gives a body another name, wherever it is used. @param {any} data @param {string} from @param {string} to */
export function renameBody(data, from, to) {
  const rename = (/** @type {any} */ item, /** @type {string} */ key) => {
    if (item[key] === from) item[key] = to;
    else if (item[key] && item[key].body === from) item[key].body = to;
  };
  for (const item of [...(data.joints || []), ...(data.forces || [])]) {
    for (const key of ["parent", "child", "from", "to", "body"]) rename(item, key);
  }
}

/**
 * Gives a joint another name, wherever it is used; its only coordinate follows.
 * @param {any} data
 * @param {string} from
 * @param {string} to
 */
export function renameJoint(data, from, to) {
  for (const force of data.forces || []) {
    if (force.joint === from) force.joint = to;
    if (force.coordinate === from) force.coordinate = to;
  }
  for (const key of initialOf(data, { name: from })) renameKey(data.initial, key, to + key.slice(from.length));
}

/**
 * Gives an entry of a table another name and keeps its place.
 * @param {any} table
 * @param {string} from
 * @param {string} to
 */
export function renameKey(table, from, to) {
  if (!table || !(from in table)) return;
  const entries = Object.entries(table).map(([key, value]) => [key === from ? to : key, value]);
  for (const key of Object.keys(table)) delete table[key];
  Object.assign(table, Object.fromEntries(entries));
}
