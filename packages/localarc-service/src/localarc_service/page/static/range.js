// The fields that select a time range: all, the last part, or from one time to another.

import { byId } from "./dom.js";
import { localTime } from "./section.js";

/** @import { Address } from "./address.js" */
/** @import { Interval } from "./scale.js" */

const select = /** @type {HTMLSelectElement} */ (byId("range"));
const fromField = /** @type {HTMLInputElement} */ (byId("from"));
const toField = /** @type {HTMLInputElement} */ (byId("to"));

/**
 * Show the range of the address in its fields, and report what the reader selects.
 * @param {Address} address
 * @param {() => Interval} shown the times that the charts show
 * @param {(changes: Partial<Address>) => void} onChange
 */
export function connectRange(address, shown, onChange) {
  showRange(address, shown);
  select.onchange = () => {
    const [from, to] = shown();
    const isCustom = select.value === "custom";
    onChange(isCustom ? { range: "", from, to } : { range: select.value, from: null, to: null });
  };
  fromField.onchange = toField.onchange = () => {
    const [from, to] = [fromField, toField].map(({ value }) => Date.parse(value) / 1000);
    if (from < to) onChange({ range: "", from, to });
  };
}

/**
 * @param {Address} address
 * @param {() => Interval} shown
 */
export function showRange(address, shown) {
  const isCustom = address.from !== null || address.to !== null;
  select.value = isCustom ? "custom" : address.range;
  if (select.selectedIndex < 0) select.value = "";
  byId("custom-range").hidden = !isCustom;
  if (!isCustom) return;
  const [from, to] = shown();
  fromField.value = localTime(from);
  toField.value = localTime(to);
}
