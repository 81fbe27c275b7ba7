// The threshold over two features that the reader selects; read only while it is in view.

import { fetchJson, streamPath } from "./api.js";
import { mapFigure } from "./charts.js";
import { byId, setText } from "./dom.js";
import { featureNames, formatCount, formatNumber } from "./format.js";
import { extent } from "./scale.js";
import { isLocal } from "./settings.js";

/** @import { Chart } from "./chart.js" */
/** @import { StreamSummary, ThresholdMap } from "../wire" */

const firstSelect = /** @type {HTMLSelectElement} */ (byId("first"));
const secondSelect = /** @type {HTMLSelectElement} */ (byId("second"));

export class ThresholdMapView {
  /**
   * @param {Chart} chart
   * @param {StreamSummary} summary
   * @param {AbortSignal} signal
   */
  constructor(chart, summary, signal) {
    this.chart = chart;
    this.signal = signal;
    this.summary = summary;
    this.isLocal = isLocal(summary.config);
    this.featureName = featureNames(summary.config.feature_names);
    this.isVisible = false;
    /** @type {ThresholdMap | null} */
    this.map = null;
    this.setUp(summary.config.features);
  }

  /** @param {number} count of features */
  setUp(count) {
    const features = [...Array(count).keys()];
    const names = features.map(this.featureName);
    fillSelect(firstSelect, names, 0);
    fillSelect(secondSelect, names, Math.min(1, count - 1));
    byId("axes").hidden = !this.isLocal || count < 2;
    byId("colour-scale").hidden = true;
    setText(byId("map-note"), "");
    this.chart.drawEmpty(
      this.isLocal
        ? "Waiting for the first feedback."
        : "Thresholds of this stream do not depend on features.",
    );
    firstSelect.onchange = secondSelect.onchange = () => this.load();
    const observer = new IntersectionObserver(
      ([entry]) => {
        this.isVisible = entry.isIntersecting;
        this.refresh();
      },
      { rootMargin: "200px" },
    ); // so that it is there before a reader scrolls to it
    observer.observe(this.chart.element);
    this.signal.addEventListener("abort", () => observer.disconnect(), { once: true });
  }

  /** @param {StreamSummary} summary */
  update(summary) {
    this.summary = summary;
    this.refresh();
  }

  /** Read the map again if somebody sees it and the stream has learned since. */
  refresh() {
    if (this.isVisible && this.summary.rounds !== this.map?.rounds) this.load();
  }

  async load() {
    if (!this.isLocal || this.summary.rounds === 0) return;
    const [first, second] = [firstSelect.value, secondSelect.value];
    const query = first === second ? `first=${first}` : `first=${first}&second=${second}`;
    try {
      const map = await fetchJson(streamPath(this.summary.stream, `map?${query}`), { signal: this.signal });
      if (firstSelect.value !== first || secondSelect.value !== second) return; // a newer one is on its way
      this.map = map;
    } catch {
      return; // the event connection reports failures; the next summary tries again
    }
    this.draw();
  }

  draw() {
    if (this.map === null || this.signal.aborted) return;
    const [low, high] = extent(this.map.thresholds.flat());
    this.chart.draw(mapFigure(this.map, this.featureName));
    byId("colour-scale").hidden = this.map.second === null;
    setText(byId("scale-low"), formatNumber(low));
    setText(byId("scale-high"), formatNumber(high));
    setText(byId("map-note"), describeMap(this.map, this.featureName));
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} names
 * @param {number} selected
 */
function fillSelect(select, names, selected) {
  select.replaceChildren(...names.map((name, index) => new Option(name, String(index))));
  select.value = String(selected);
}

/**
 * @param {ThresholdMap} map
 * @param {(index: number) => string} featureName
 */
export function describeMap(map, featureName) {
  const fixed = map.others
    .map((value, index) => ({ index, value }))
    .filter(({ index }) => index !== map.first && index !== map.second)
    .map(({ index, value }) => `${featureName(index)} = ${formatNumber(value)}`);
  const shown = fixed.slice(0, 6).join(", ") + (fixed.length > 6 ? ", …" : "");
  const rest = fixed.length ? `. Other features are at their means: ${shown}` : "";
  return `The threshold for the next input, after ${formatCount(map.rounds)} rounds${rest}.`;
}
