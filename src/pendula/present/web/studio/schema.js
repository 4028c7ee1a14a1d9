// The schema of model files as descriptions of fields, from which the form is made.

/**
 * @typedef {Object} FieldAbout
 * @property {string} name
 * @property {string} kind scalar, vector, text, choice, side, rotation, names, table, record, matrix, other
 * @property {string} words what it means
 * @property {boolean} required
 * @property {any} [standard] its value if it is not given
 * @property {string[]} [choices]
 * @property {string} [pattern]
 * @property {string} [record] the definition of a nested record
 */

const PLAIN_KINDS = new Set(["number", "string", "null"]);

/** Reads a JSON schema of model files. @param {any} schema */
export function createSchema(schema) {
  const named = (/** @type {string} */ ref) => ref.replace("#/$defs/", "");

  /** The fields of a definition, required ones first. @param {string} definition @returns {FieldAbout[]} */
  function fields(definition) {
    const about = definition ? schema.$defs[definition] : schema, required = new Set(about.required || []);
    const found = Object.entries(about.properties).map(([name, given]) => describe(name, given, required.has(name)));
    return [...found.filter(f => f.required), ...found.filter(f => !f.required)];
  }

  /** Definitions of a list of variants (joints, forces) by type. @param {string} list @returns {Map<string, string>} */
  function variants(list) {
    const mapping = schema.properties[list].items.discriminator.mapping;
    return new Map(Object.entries(mapping).map(([type, ref]) => [type, named(/** @type {string} */ (ref))]));
  }

  /** The first line of the description of a definition. @param {string} definition */
  function words(definition) {
    return tidy((schema.$defs[definition].description || "").split("\n\n")[0]);
  }

  /** @param {string} name @param {any} given @param {boolean} required @returns {FieldAbout} */
  function describe(name, given, required) {
    const options = (given.anyOf || given.oneOf || [given]).filter((/** @type {any} */ o) => o.type !== "null");
    const refs = options.filter((/** @type {any} */ o) => o.$ref).map((/** @type {any} */ o) => named(o.$ref));
    const base = { name, words: tidy(given.description || ""), required, standard: given.default };
    const list = options.find((/** @type {any} */ o) => o.type === "array");
    if (refs.includes("Side")) return { ...base, kind: "side" };
    if (refs.includes("Rotation")) return { ...base, kind: "rotation" };
    if (refs.length === 1 && options.length === 1) return { ...base, kind: "record", record: refs[0] };
    if (given.const !== undefined) return { ...base, kind: "constant", standard: given.const };
    const choice = options.find((/** @type {any} */ o) => o.enum);
    if (choice) return { ...base, kind: "choice", choices: choice.enum };
    if (options.every((/** @type {any} */ o) => PLAIN_KINDS.has(o.type))) {
      const number = options.some((/** @type {any} */ o) => o.type === "number");
      return { ...base, kind: number ? "scalar" : "text", pattern: options[0].pattern };
    }
    if (list && options.length > 1) return { ...base, kind: "matrix" };
    if (list && isScalar(list.items) && list.maxItems === 3) return { ...base, kind: "vector" };
    if (list && list.items && list.items.type === "string") return { ...base, kind: "names" };
    if (options.some((/** @type {any} */ o) => o.type === "object")) return { ...base, kind: "table" };
    return { ...base, kind: "other" };
  }

  return { fields, variants, words };
}

/** @param {any} items */
function isScalar(items) {
  return Boolean(items && items.anyOf && items.anyOf.every((/** @type {any} */ o) => PLAIN_KINDS.has(o.type)));
}

/** A description as plain text. @param {string} text */
function tidy(text) {
  return text.replaceAll("``", "").replace(/\s+/g, " ").trim();
}
