// One chart in the page: drawn to its size, described to screen readers, read with pointer or keys.

import { setText } from "./dom.js";
import { createSvg, node } from "./svg.js";

/** @import { Plot, Size } from "./plot.js" */

/**
 * A chart: its current state in one sentence, its drawing, and the text of each target, of which
 * the first line is the heading.
 * @typedef {object} Figure
 * @property {string} label
 * @property {(size: Size) => Plot} plot
 * @property {(index: number) => string[]} describe
 * @property {number} [height] in pixels, where the style sheet's does not suit
 */

export class Chart {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.svg = createSvg(node("svg", { role: "img", tabindex: 0 }));
    this.tooltip = document.createElement("div");
    this.tooltip.className = "tooltip";
    this.tooltip.setAttribute("role", "status");
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {Plot | null} */
    this.plot = null;
    /** @type {number | null} */
    this.index = null;
    this.marker = createSvg(node("g"));
    this.listen();
  }

  /** @param {Figure} figure */
  draw(figure) {
    this.figure = figure;
    if (!this.element.contains(this.svg)) {
      this.element.replaceChildren(this.svg, this.tooltip);
      this.element.classList.remove("empty");
    }
    this.svg.setAttribute("aria-label", figure.label);
    this.element.style.height = figure.height ? `${figure.height}px` : "";
    this.render();
  }

  /**
   * Explain why there is nothing to draw.
   * @param {string} text
   */
  drawEmpty(text) {
    this.figure = null;
    this.plot = null;
    this.index = null;
    this.element.style.height = "";
    this.element.classList.add("empty");
    setText(this.element, text);
  }

  render() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (this.figure === null || width === 0) return; // hidden: drawn when its size changes
    this.plot = this.figure.plot({ width, height });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...this.plot.nodes.map(createSvg), this.marker);
    this.point(this.index);
  }

  /**
   * Show the tooltip of a target, or none.
   * @param {number | null} index
   */
  point(index) {
    const { plot, figure, tooltip } = this;
    if (index === null || plot === null || figure === null || plot.targets.count === 0) {
      this.index = null;
      tooltip.hidden = true;
      this.marker.replaceChildren();
      return;
    }
    this.index = Math.min(index, plot.targets.count - 1);
    this.marker.replaceChildren(createSvg(plot.targets.marker(this.index)));
    tooltip.hidden = false;
    this.write(figure.describe(this.index));
    const { x, y } = plot.targets.position(this.index);
    const before = x > this.element.clientWidth / 2;
    tooltip.style.left = `${before ? x - tooltip.offsetWidth - 10 : x + 10}px`;
    tooltip.style.top = `${Math.min(y, Math.max(0, this.element.clientHeight - tooltip.offsetHeight))}px`;
  }

  /** @param {string[]} lines */
  write(lines) {
    while (this.tooltip.children.length > lines.length) this.tooltip.lastElementChild?.remove();
    lines.forEach((line, index) => {
      const element = this.tooltip.children[index] ?? this.tooltip.appendChild(document.createElement("div"));
      setText(element, line);
    });
  }

  listen() {
    this.tooltip.hidden = true;
    new ResizeObserver(() => this.render()).observe(this.element);
    for (const kind of ["pointermove", "pointerdown"]) {
      this.svg.addEventListener(kind, (event) => this.pointAt(/** @type {PointerEvent} */ (event)));
    }
    this.svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.point(null); // a finger leaves at once: its tooltip stays
    });
    this.svg.addEventListener("blur", () => this.point(null));
    this.svg.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {PointerEvent} event */
  pointAt(event) {
    const box = this.svg.getBoundingClientRect();
    this.point(this.plot?.targets.find(event.clientX - box.left, event.clientY - box.top) ?? null);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const targets = this.plot?.targets;
    if (!targets || event.ctrlKey || event.altKey || event.metaKey) return;
    const last = targets.count - 1;
    if (event.key === "Escape") this.point(null);
    else if (event.key === "Home") this.point(0);
    else if (event.key === "End") this.point(last);
    else if (event.key.startsWith("Arrow"))
      this.point(this.index === null ? last : targets.move(this.index, event.key));
    else return;
    event.preventDefault(); // the arrows would scroll the page
  }
}
