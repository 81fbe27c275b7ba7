// The threshold over two features that the reader chooses.

import { mapChart, nothing } from "./charts.js";
import { ask, streamPath } from "./service.js";
import { count, feature, figure } from "./words.js";

const part = (id) => document.getElementById(id);

export class HeatMap {
  constructor(summary, signal) {
    this.stream = summary.stream;
    this.seen = false; // whether there was an input yet, and so something to draw
    this.local = summary.config.kernel !== null && summary.config.features > 0;
    this.signal = signal;
    const features = [...Array(summary.config.features).keys()];
    choose(part("first"), features, 0);
    choose(part("second"), features, Math.min(1, features.length - 1));
    part("axes").hidden = !this.local || features.length < 2;
    part("scale").hidden = true;
    part("map-words").textContent = "";
    part("first").onchange = part("second").onchange = () => this.refresh();
    if (!this.local) nothing(part("map-chart"), "This stream has no kernel: one threshold serves all inputs.");
  }

  async refresh() {
    if (!this.local || !this.seen) return;
    const [first, second] = [part("first").value, part("second").value];
    const across = first === second ? `first=${first}` : `first=${first}&second=${second}`;
    this.map = await ask(streamPath(this.stream, `map?${across}`), { signal: this.signal });
    this.draw();
  }

  draw() {
    if (!this.local) return;
    if (!this.map || this.map.rounds === 0) {
      nothing(part("map-chart"), "Nothing was learnt yet.");
      return;
    }
    mapChart(part("map-chart"), this.map);
    const all = this.map.thresholds.flat();
    part("scale").hidden = this.map.second === null;
    part("scale-low").textContent = figure(Math.min(...all));
    part("scale-high").textContent = figure(Math.max(...all));
    part("map-words").textContent = words(this.map);
  }
}

function choose(select, features, chosen) {
  select.replaceChildren(...features.map((index) => new Option(feature(index), index)));
  select.value = String(chosen);
}

function words(map) {
  const fixed = map.others
    .map((value, index) => [index, value])
    .filter(([index]) => index !== map.first && index !== map.second)
    .map(([index, value]) => `${feature(index)} = ${figure(value)}`);
  const few = fixed.slice(0, 6).join(", ") + (fixed.length > 6 ? " and so on" : "");
  const rest = fixed.length ? `, with the other features at their means: ${few}` : "";
  return `The threshold that the next input would get, after ${count(map.rounds)} rounds${rest}.`;
}
