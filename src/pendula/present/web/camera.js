// The camera: from points in the world to pixels and back. The projection is parallel (no perspective).

import { add, clamp, cross, dot, norm, scaled, unit } from "./vectors.js";

const HOME_VIEW = { az: -0.62, el: 0.33, zoom: 1, x: 0, y: 0 };

/**
 * A camera that shows the whole box of a scene, in the plane or from a direction (`az`, `el`) in space.
 * @param {any} scene with `planar`, `up`, `low`, `high`, `radius`, `halfHeight`
 */
export function createCamera(scene) {
  const up = unit(scene.up);
  const x = add([1, 0, 0], up, -up[0]), y = add([0, 1, 0], up, -up[1]);
  const flat1 = unit(x.some(c => Math.abs(c) > 0.3) ? x : y), flat2 = cross(up, flat1);
  const view = { ...HOME_VIEW };
  const camera = {
    view, up, flat1, flat2,
    size: 1, middle: [0, 0, 0], floor: 0,                       // set by measure()
    width: 1, height: 1, scale: 1, x: 0, y: 0,                  // set by aim(): pixels per length, centre in pixels
    right: [1, 0, 0], over: [0, 1, 0], toward: [0, 0, 1],       // directions to the right, upwards, and to the eye
    measure, aim, show, toWorld, home, zoom, spin, pan,
  };

  /** Reads the box of the scene; to be called again when it has changed. */
  function measure() {
    camera.size = Math.max(...scene.high.map((/** @type {number} */ h, /** @type {number} */ i) => h - scene.low[i])) || 1;
    camera.middle = scene.low.map((/** @type {number} */ l, /** @type {number} */ i) => (l + scene.high[i]) / 2);
    camera.floor = dot(up, camera.middle) - scene.halfHeight;
  }

  /** Sets directions and scale for a picture of this size in pixels. @param {number} width @param {number} height */
  function aim(width, height) {
    let halfWidth = (scene.high[0] - scene.low[0]) / 2, halfHeight = (scene.high[1] - scene.low[1]) / 2;
    if (!scene.planar) {
      const ca = Math.cos(view.az), sa = Math.sin(view.az), ce = Math.cos(view.el), se = Math.sin(view.el);
      const deep = add(scaled(flat1, sa), flat2, ca);           // points away from the eye, horizontally
      camera.right = add(scaled(flat1, ca), flat2, -sa);
      camera.over = add(scaled(up, ce), deep, se);
      camera.toward = add(scaled(up, se), deep, -ce);
      halfWidth = scene.radius;
      halfHeight = scene.halfHeight * Math.abs(ce) + scene.radius * Math.abs(se);
    }
    const pad = clamp(0.09 * Math.min(width, height), 22, 64), least = 0.02 * camera.size;
    const fits = Math.min(
      (width - 2 * pad) / (2 * Math.max(halfWidth, least)),
      (height - 2 * pad) / (2 * Math.max(halfHeight, least)),
    );
    camera.width = width;
    camera.height = height;
    camera.scale = Math.max(view.zoom * fits, 1e-9 / camera.size);
    camera.x = width / 2 + view.x;
    camera.y = height / 2 + view.y;
  }

  /** A world point as x and y in pixels and depth towards the eye. @param {number[]} p @returns {number[]} */
  function show(p) {
    const d = add(p, camera.middle, -1);
    return [
      camera.x + camera.scale * dot(camera.right, d),
      camera.y - camera.scale * dot(camera.over, d),
      dot(camera.toward, d),
    ];
  }

  /**
   * The world point under a pixel, in the plane parallel to the screen through the world point `through`.
   * @param {number} px @param {number} py @param {number[]} through
   */
  function toWorld(px, py, through = camera.middle) {
    const depth = dot(camera.toward, add(through, camera.middle, -1));
    let p = add(camera.middle, camera.right, (px - camera.x) / camera.scale);
    p = add(p, camera.over, (camera.y - py) / camera.scale);
    return add(p, camera.toward, depth);
  }

  /** Back to the first view. */
  function home() {
    Object.assign(view, HOME_VIEW);
  }

  /** Zooms by a factor about a pixel. @param {number} by @param {number} px @param {number} py */
  function zoom(by, px = camera.width / 2, py = camera.height / 2) {
    const next = clamp(view.zoom * by, 0.2, 60), f = next / view.zoom;
    const x0 = px - camera.width / 2, y0 = py - camera.height / 2;
    view.x = x0 - f * (x0 - view.x);
    view.y = y0 - f * (y0 - view.y);
    view.zoom = next;
  }

  /** Turns the view by a movement in pixels. @param {number} dx @param {number} dy */
  function spin(dx, dy) {
    view.az = (view.az + dx * 0.008) % (2 * Math.PI);
    view.el = clamp(view.el + dy * 0.008, -1.55, 1.55);
  }

  /** Moves the picture by pixels. @param {number} dx @param {number} dy */
  function pan(dx, dy) {
    view.x += dx;
    view.y += dy;
  }

  measure();
  if (norm(scene.up) === 0) throw new Error("the scene has no direction upwards");
  return camera;
}
