// Building by clicking in the scene: a click on a body or on the ground offers what can be added at that point.

import { nice } from "../numbers.js";
import { byId, element } from "../page.js";
import { add, norm, place } from "../vectors.js";
import { addFree, addPin, addSlider, addSpring, addTorsion, bodyOf, hang, numberOf, pointsOf, sideAt } from "./edits.js";

const CLOSE = 14; // pixels within which a named point is meant
const FAR = 0.7; // the view while something is added
const MOVED = 5; // pixels that a pointer may move during a click
const TURNING = new Set(["revolute"]);
const AXIS_NAMES = /** @type {("x" | "y" | "z")[]} */ (["x", "y", "z"]);
const ENDS = { spring: "click where the spring ends", pin: "click the point of another body, or of the ground, that stays with it" };

/** @param {any} scene @param {any} model the document */
export function createBuilder(scene, model) {
  const button = byId("build"), menu = byId("menu");
  let active = false;
  /** @type {any} */ let pending = null; // the first end of a spring or of a pin: `what`, `side`, `world`
  /** @type {any} */ let from = null;

  /** @param {boolean} on */
  function setActive(on) {
    active = on;
    pending = null;
    closeMenu();
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Done" : "+ Add";
    if (on && scene.show.kind === "motion") scene.live(null, false);
    dress(scene.show);
  }

  /** Shows that clicks add something. @param {any} show */
  function dress(show) {
    const { view } = show.stage;
    if (active && view.zoom === 1) view.zoom = FAR; // room for what is added beside the mechanism
    else if (!active && view.zoom === FAR) show.stage.home();
    if (show.build) show.build(active);
    show.canvas.classList.toggle("building", active);
    show.setMarks([]);
    if (active) say(pending ? ends() : "click a point of a body, or beside it for the ground");
  }

  const ends = () => /** @type {any} */ (ENDS)[pending.what];

  /** @param {string} text */
  function say(text) {
    const hint = document.getElementById("hint");
    if (hint) hint.textContent = text;
  }

  /** Listens to clicks on a canvas. @param {any} show */
  function attach(show) {
    show.canvas.addEventListener(
      "pointerdown", (/** @type {PointerEvent} */ event) => { from = [event.clientX, event.clientY]; }, true,
    );
    show.canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (!active || (from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > MOVED)) return;
      const area = show.canvas.getBoundingClientRect();
      choose(show, event.clientX - area.left, event.clientY - area.top, event);
    });
    if (active) dress(show);
  }

  /**
   * The point under a pixel: its side in the model and its place in the world.
   * @param {any} show
   * @param {number} x
   * @param {number} y
   */
  function pointAt(show, x, y) {
    const { stage } = show, near = CLOSE / stage.camera.scale, found = stage.pick(x, y, 8);
    if (found && show.bodies[found.body].ground !== true) {
      const body = show.bodies[found.body].name, side = sideAt(model.data, body, found.at, near);
      const at = side.position || pointsOf(model.data, body).get(side.at || "") || [0, 0, 0];
      return { side, world: place(show.poses()[found.body], at), near }; // where the side is, not where the click was
    }
    // In space: the point of the plane parallel to the screen through the last point of the ground that is in use.
    const step = nice(show.size / 50), lines = linesOf(), under = stage.toWorld(x, y, (!show.planar && lines[0]) || [0, 0, 0]);
    const world = under.map((/** @type {number} */ value, /** @type {number} */ k) => {
      const close = lines.map(line => line[k]).find(line => Math.abs(line - value) < near);
      return close ?? Number((step * Math.round(value / step)).toPrecision(6)) + 0;
    });
    return {
      side: world.every((/** @type {number} */ value) => value === 0) ? { body: "ground" } : { body: "ground", position: world },
      world, near,
    };
  }

  /** @param {any} show @param {number} x @param {number} y @param {MouseEvent} event */
  function choose(show, x, y, event) {
    const point = pointAt(show, x, y);
    if (pending) {
      connect(show, point);
      return;
    }
    show.setMarks([{ at: point.world, colour: null }]);
    const title = titleOf(point.side), open = (/** @type {any[]} */ items) => openMenu(title, items, event.clientX, event.clientY);
    open(show.planar ? planeItems(show, point, () => open(spaceItems(show, point, open))) : spaceItems(show, point, open));
  }

  /** The second end of a spring or a pin. @param {any} show @param {any} point */
  function connect(show, point) {
    const length = norm(add(point.world, pending.world, -1)), { what, side } = pending;
    pending = null;
    show.setMarks([]);
    if (side.body === point.side.body) {
      say(`a ${what} connects two bodies, and both points are on ${point.side.body}: choose the first again`);
    } else if (what === "pin") {
      model.edit((/** @type {any} */ data) => addPin(data, side, point.side));
    } else {
      model.edit((/** @type {any} */ data) => addSpring(data, side, point.side, Number(length.toPrecision(3))));
    }
  }

  /** Where a click was, in words. @param {any} side */
  function titleOf(side) {
    const place = side.at || (side.position ? `(${side.position.join(", ")})` : side.body === "ground" ? "origin" : "");
    return [side.body, place].filter(Boolean).join(", ");
  }

  /** What can be added anywhere. @param {any} show @param {any} point */
  function commonItems(show, point) {
    const begin = (/** @type {"spring" | "pin"} */ what) => () => {
      pending = { ...point, what };
      say(ends());
      show.setMarks([{ at: point.world, colour: null }]);
    };
    return [
      { text: "Spring from here to \u2026", act: begin("spring") },
      ...(point.side.body === "ground" ? [] : [{
        text: show.planar ? "Pin to another point \u2026" : "Ball joint to another point \u2026", act: begin("pin"),
      }]),
      ...jointsNear(show, point).map(name => ({ text: `Torsion spring at ${name}`, act: edit(data => addTorsion(data, name)) })),
    ];
  }

  const edit = (/** @type {(data: any) => void} */ change) => () => model.edit(change);

  /** What can be added in the plane. @param {any} show @param {any} point @param {() => void} inSpace */
  function planeItems(show, point, inSpace) {
    const size = lengthFor(show), box = Number((0.4 * size).toPrecision(3));
    return [
      { text: "Hang a rod here", act: edit(data => hang(data, point.side, size)) },
      { text: "Hang a ball here", act: edit(data => hang(data, point.side, size, "ball")) },
      {
        text: point.side.body === "ground" ? "Slider here: a cart on a rail" : "Slider here",
        act: edit(data => addSlider(data, point.side, box)),
      },
      ...commonItems(show, point), { text: "In space \u25b8", act: inSpace },
    ];
  }

  /** What can be added in space. @param {any} show @param {any} point @param {(items: any[]) => void} open another menu */
  function spaceItems(show, point, open) {
    const size = lengthFor(show), box = Number((0.4 * size).toPrecision(3)), { side } = point;
    const along = (/** @type {string} */ words, /** @type {(data: any, axis: "x" | "y" | "z") => void} */ change) => ({
      text: `${words} \u25b8`, act: () => open(AXIS_NAMES.map(axis => (
        { text: `${words} ${axis}`, act: edit(data => change(data, axis)) }
      ))),
    });
    return [
      { text: "Rod on a ball joint", act: edit(data => hang(data, side, size, "rod", { type: "spherical" })) },
      { text: "Ball on a ball joint", act: edit(data => hang(data, side, size, "ball", { type: "spherical" })) },
      { text: "Rod on a universal joint", act: edit(data => hang(data, side, size, "rod", { type: "universal" })) },
      along("Rod on a hinge about", (data, axis) => hang(data, side, size, "rod", { type: "revolute", axis })),
      along("Slider along", (data, axis) => addSlider(data, side, box, axis)),
      { text: "Free body", act: edit(data => addFree(data, side, box)) },
      ...(show.planar ? [] : commonItems(show, point)),
    ];
  }

  /**
   * Points of the ground that new ones line up with: those of joints and forces, and the first end of a spring.
   * @returns {number[][]}
   */
  function linesOf() {
    const sides = [
      ...(model.data.joints || []), ...(model.data.forces || []),
    ].flatMap(item => [item.parent, item.child, item.from, item.to]);
    const ofGround = sides.filter(side => side && bodyOf(side) === "ground");
    const fixed = ofGround.map(side => [0, 1, 2].map(k => numberOf(model.data, side.position?.[k] ?? 0)));
    return [
      ...(pending ? [pending.world.map((/** @type {number} */ x) => Number(x.toPrecision(6)))] : []), ...fixed,
    ].reverse();
  }

  /** The length of a new rod: that of the last one, or what suits the picture. @param {any} show */
  function lengthFor(show) {
    const rods = (model.data.bodies || []).map((/** @type {any} */ b) => numberOf(model.data, b.rod?.length)).filter(Number.isFinite);
    return rods.pop() ?? Number(nice(show.kind === "empty" ? 1 : 2 * show.size).toPrecision(3));
  }

  /** Joints that turn, at a point. @param {any} show @param {any} point @returns {string[]} */
  function jointsNear(show, point) {
    const place3 = (/** @type {any} */ side) => {
      const body = bodyOf(side), k = show.bodies.findIndex((/** @type {any} */ b) => b.name === body);
      const at = (side.position || [0, 0, 0]).map((/** @type {any} */ x) => numberOf(model.data, x));
      return k < 0 ? null : place(show.poses()[k], [at[0], at[1], at[2] ?? 0]);
    };
    return (model.data.joints || []).filter((/** @type {any} */ joint) => {
      if (!TURNING.has(joint.type) || typeof joint.child !== "object") return false;
      const at = place3(joint.child);
      return at && norm(add(at, point.world, -1)) < 1.5 * point.near;
    }).map((/** @type {any} */ joint) => joint.name);
  }

  /**
   * A menu at a place of the window.
   * @param {string} title
   * @param {{text: string, act: () => void}[]} items
   * @param {number} x
   * @param {number} y
   */
  function openMenu(title, items, x, y) {
    menu.replaceChildren(element("p", "menu-title", title), ...items.map(({ text, act }) => {
      const item = element("button", "", text);
      item.type = "button";
      item.setAttribute("role", "menuitem");
      item.addEventListener("click", () => {
        closeMenu();
        scene.show.canvas.focus();
        act();
      });
      return item;
    }));
    menu.hidden = false;
    menu.style.left = `${Math.max(8, Math.min(x + 8, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(8, Math.min(y + 8, innerHeight - menu.offsetHeight - 8))}px`;
    menu.querySelector("button").focus();
  }

  function closeMenu() {
    menu.hidden = true;
    if (!pending) scene.show.setMarks([]);
  }

  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const items = [...menu.querySelectorAll("button")], k = items.indexOf(/** @type {any} */ (document.activeElement));
    if (event.key === "ArrowDown") items[(k + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(k + items.length - 1) % items.length].focus();
    else if (event.key === "Escape") {
      closeMenu();
      scene.show.canvas.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation(); // the next Escape ends building
  });
  addEventListener("pointerdown", event => {
    if (!menu.hidden && !menu.contains(/** @type {Node} */ (event.target))) closeMenu();
  }, true);
  addEventListener("keydown", event => {
    if (event.key === "Escape" && active && menu.hidden) setActive(false);
  });
  button.addEventListener("click", () => setActive(!active));
  scene.watch(attach);
  attach(scene.show);
  return { get active() { return active; }, setActive };
}
