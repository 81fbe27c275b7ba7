// The figures of a run: one function each, from what is known to a drawing in an element.

import { smooth } from "./run.js";
import { count, feature } from "./words.js";

/* global Plotly */

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const touch = matchMedia("(pointer: coarse)");

/** The blue of the page, seen through. */
function tint(opacity) {
  const [red, green, blue] = colour("blue").match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return `rgba(${red},${green},${blue},${opacity})`;
}

function axis(title, more = {}) {
  return {
    title: { text: title, font: { size: 12 }, standoff: 6 },
    gridcolor: colour("line"),
    linecolor: colour("line"),
    zeroline: false,
    fixedrange: touch.matches, // on a phone a finger scrolls the page
    automargin: true,
    ...more,
  };
}

function draw(element, traces, layout) {
  element.classList.remove("empty");
  if (!element.classList.contains("js-plotly-plot")) element.textContent = "";
  const common = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: colour("soft") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("ink") } },
    hovermode: "x unified",
    margin: { l: 48, r: 10, t: 8, b: 36 },
    showlegend: false,
    dragmode: touch.matches ? false : "zoom",
    uirevision: location.hash, // what a reader zoomed to survives new data
  };
  return Plotly.react(element, traces, { ...common, ...layout }, { responsive: true, displayModeBar: false });
}

/** Say in the figure's place why there is nothing to draw. */
export function nothing(element, words) {
  if (element.classList.contains("js-plotly-plot")) Plotly.purge(element);
  element.classList.add("empty");
  element.textContent = words;
}

const line = (x, y, name, more = {}) => ({
  x, y, name, mode: "lines", line: { color: colour("blue"), width: 2 }, hovertemplate: "%{y:.4f}", ...more,
});

/** The target and as much as a bound says on both sides; where it says nothing, nothing is drawn. */
function band(run, bounds, furthest, style) {
  const says = (value) => value !== null && value < furthest;
  const quiet = { mode: "lines", line: { width: 0 }, hoverinfo: "skip", ...style };
  const at = run.rounds.filter((_, index) => says(bounds[index]));
  const width = bounds.filter(says);
  return [
    { ...quiet, x: at, y: width.map((value) => run.target - value), fill: "none" },
    { ...quiet, x: at, y: width.map((value) => run.target + value) },
  ];
}

/** What the eye needs: the target, and the risk once its first jumps are over. */
export function visibleRisks(run) {
  const settled = run.risk.slice(Math.min(20, Math.floor(run.risk.length / 10)));
  const low = Math.min(run.target, ...settled);
  const high = Math.max(run.target, ...settled);
  const margin = Math.max(high - low, 0.2 * run.target) * 0.25;
  return [Math.max(0, low - margin), high + margin];
}

export function riskChart(element, run, lossBound) {
  const furthest = Math.max(run.target, lossBound - run.target);
  const target = { color: colour("ink"), width: 1.5, dash: "dash" };
  const ends = [run.rounds[0], run.rounds.at(-1)];
  return draw(
    element,
    [
      ...band(run, run.observed, furthest, { fill: "tonexty", fillcolor: tint(0.17) }),
      ...band(run, run.bound, furthest, { line: { color: colour("blue"), width: 1.5, dash: "dot" } }),
      line(ends, [run.target, run.target], "target", { line: target }),
      line(run.rounds, run.risk, "risk", { line: { color: colour("blue"), width: 2.5 } }),
    ],
    { xaxis: axis("rounds"), yaxis: axis("mean loss", { range: visibleRisks(run) }) },
  );
}

/** A dot for each round, and a line through the mean of its neighbours. */
export function scatterChart(element, run, values, title) {
  const width = Math.max(2, Math.round(values.length / 60));
  return draw(
    element,
    [
      { x: run.rounds, y: values, mode: "markers", name: "round", hovertemplate: "%{y:.4f}",
        marker: { color: colour("blue"), size: 4, opacity: 0.3 } },
      line(run.rounds, smooth(values, width), "mean nearby", { line: { color: colour("blue"), width: 2 } }),
    ],
    { xaxis: axis("rounds"), yaxis: axis(title) },
  );
}

export function feedbackChart(element, run) {
  const step = (name) => ({ color: colour(name), shape: "hv", width: 2 });
  const whole = { hovertemplate: "%{y}" };
  const area = { fill: "tozeroy", fillcolor: tint(0.15) };
  return draw(
    element,
    [
      line(run.rounds, run.pending, "awaited", { ...whole, ...area, line: step("blue") }),
      line(run.rounds, run.late, "late", { ...whole, yaxis: "y2", line: step("warn") }),
      line(run.rounds, run.expired, "expired", { ...whole, yaxis: "y2", line: step("bad") }),
    ],
    {
      xaxis: axis("rounds", { anchor: "y2" }),
      yaxis: axis("awaited", { domain: [0.56, 1], rangemode: "tozero" }),
      yaxis2: axis("in all", { domain: [0, 0.44], rangemode: "tozero" }),
    },
  );
}

/** Plotly reads markup in labels; names are text. */
const literal = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Bars by group; no loss in [0, B] with this mean varies more than the whiskers say. */
export function groupChart(element, groups, target, lossBound) {
  const rows = [...groups].sort((a, b) => a.risk - b.risk).slice(-20);
  const error = rows.map((row) => Math.sqrt((row.risk * (lossBound - row.risk)) / row.rounds));
  return draw(
    element,
    [{
      type: "bar", orientation: "h", x: rows.map((row) => row.risk), y: rows.map((row) => literal(row.group)),
      width: 0.6, marker: { color: colour("blue"), opacity: 0.8 },
      customdata: rows.map((row) => count(row.rounds)),
      hovertemplate: "%{x:.4f} over %{customdata} rounds<extra></extra>",
      error_x: { type: "data", array: error, color: colour("soft"), thickness: 1.5, width: 4 },
    }],
    {
      hovermode: "closest", xaxis: axis("mean loss", { rangemode: "tozero" }),
      yaxis: axis("", { type: "category", gridcolor: "rgba(0,0,0,0)" }),
      shapes: [{ type: "line", x0: target, x1: target, y0: 0, y1: 1, yref: "paper",
        line: { color: colour("ink"), width: 1.5, dash: "dash" } }],
    },
  );
}

export function mapChart(element, map) {
  if (map.second === null) {
    return draw(element, [line(map.first_values, map.thresholds[0], "threshold")],
      { xaxis: axis(feature(map.first)), yaxis: axis("threshold") });
  }
  // Smoothed and without a colour bar of its own: both would need inline styles.
  return draw(
    element,
    [{ type: "heatmap", x: map.first_values, y: map.second_values, z: map.thresholds, zsmooth: "best",
      showscale: false, colorscale: "Viridis",
      hovertemplate: "threshold %{z:.4f}<extra>(%{x:.3g}, %{y:.3g})</extra>" }],
    { hovermode: "closest", xaxis: axis(feature(map.first)), yaxis: axis(feature(map.second)) },
  );
}
