// Finding and changing elements of the page.

/**
 * The element with this id, which index.html contains.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no element with the id ${id}`);
  return element;
}

/**
 * The first descendant that matches.
 * @param {Element} parent
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function child(parent, selector) {
  const element = parent.querySelector(selector);
  if (!(element instanceof HTMLElement)) throw new Error(`no element matches ${selector}`);
  return element;
}

/**
 * A copy of what the template with this id contains.
 * @param {string} id
 */
export function clone(id) {
  const template = byId(id);
  if (!(template instanceof HTMLTemplateElement)) throw new Error(`${id} is not a template`);
  return /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
}

/**
 * Replace the text of an element only where it differs, so that a selection in it survives.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Show one element per item. An item keeps its element from one call to the next, and with it
 * the focus and the selection.
 * @template T
 * @param {HTMLElement} list
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {() => HTMLElement} create
 * @param {(element: HTMLElement, item: T) => void} update
 */
export function updateList(list, items, key, create, update) {
  const old = new Map(
    [...list.children].map((element) => [element instanceof HTMLElement ? element.dataset.key : "", element]),
  );
  const focused = document.activeElement;
  items.forEach((item, index) => {
    const found = old.get(key(item));
    const element = found instanceof HTMLElement ? found : create();
    old.delete(key(item));
    element.dataset.key = key(item);
    update(element, item);
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
  for (const element of old.values()) element.remove();
  const lost = focused !== document.activeElement && focused instanceof HTMLElement;
  if (lost && list.contains(focused)) focused.focus({ preventScroll: true }); // moved with its card
}
