// The address of a view: everything that a link must carry so that somebody else sees the same.

/**
 * What the part of the address after `#` says. Overview: `search`, `status` and `cursor`. A stream:
 * `stream`, `group`, and its time range, either `range` (the last part, such as "6h") or `from` and
 * `to` in seconds since 1970.
 * @typedef {object} Address
 * @property {string} stream
 * @property {string} search
 * @property {string} status
 * @property {string} cursor
 * @property {string} group
 * @property {string} range
 * @property {number | null} from
 * @property {number | null} to
 */

const TEXTS = /** @type {const} */ (["search", "status", "cursor", "group", "range"]);
const TIMES = /** @type {const} */ (["from", "to"]);

/** @type {Readonly<Address>} */
export const HOME = {
  stream: "",
  search: "",
  status: "",
  cursor: "",
  group: "",
  range: "",
  from: null,
  to: null,
};

/**
 * Read `#NAME?group=...`; what was mistyped is left out.
 * @param {string} hash
 * @returns {Address}
 */
export function parseAddress(hash) {
  const [name, ...rest] = hash.replace(/^#/, "").split("?");
  const query = new URLSearchParams(rest.join("?"));
  /** @type {Address} */
  const address = { ...HOME, stream: decode(name) };
  for (const key of TEXTS) address[key] = query.get(key) ?? "";
  for (const key of TIMES) address[key] = parseTime(query.get(key));
  return address;
}

/**
 * The part of a link after the page, beginning with `#`.
 * @param {Partial<Address>} address
 */
export function formatAddress(address) {
  const query = new URLSearchParams();
  for (const key of TEXTS) if (address[key]) query.set(key, address[key]);
  for (const key of TIMES) {
    const time = address[key] ?? null;
    if (time !== null) query.set(key, new Date(time * 1000).toISOString().replace(".000", ""));
  }
  const text = query.toString().replaceAll("%3A", ":");
  return `#${encodeURIComponent(address.stream ?? "")}${text && `?${text}`}`;
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // an address that somebody typed, not one of the page's links
  }
}

/** @param {string | null} text */
function parseTime(text) {
  const milliseconds = Date.parse(text ?? "");
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
