// A stream's config as one line of text.

import { formatCount, formatDuration, formatNumber } from "./format.js";

/** @import { KernelConfig, StreamConfig, StreamSummary } from "../wire" */

const KERNELS = {
  rbf: "RBF",
  laplace: "Laplace",
  matern32: "Matérn 3/2",
  matern52: "Matérn 5/2",
  cauchy: "Cauchy",
  triangular: "triangular",
  "rational-quadratic": "rational quadratic",
};

/** @param {Pick<StreamSummary, "config" | "predictions" | "memory">} summary */
export function describeSettings({ config, predictions, memory }) {
  const parts = [
    config.kernel ? `L-ARC, ${describeKernel(config.kernel)}` : "ARC, one threshold for all inputs",
  ];
  if (config.kernel) {
    parts.push(`${config.features} feature${config.features === 1 ? "" : "s"}`);
    parts.push(`${memory.split("(")[0]} memory`);
  }
  if ((config.timeout ?? null) !== null) parts.push(describeTimeout(config));
  parts.push(`${formatCount(predictions)} predictions`);
  return parts.join(" · ");
}

/** @param {KernelConfig} kernel */
function describeKernel({ kind, length_scale: scale }) {
  const scales = Array.isArray(scale) ? scale.slice(0, 4).map(formatNumber).join(", ") : formatNumber(scale);
  return `${KERNELS[kind]} kernel with length scale ${scales}`;
}

/** @param {StreamConfig} config */
function describeTimeout({ timeout, default_loss: loss }) {
  const outcome =
    (loss ?? null) === null ? "are dropped" : `count as a loss of ${formatNumber(loss ?? null)}`;
  return `predictions without feedback for ${formatDuration(timeout ?? 0)} ${outcome}`;
}
