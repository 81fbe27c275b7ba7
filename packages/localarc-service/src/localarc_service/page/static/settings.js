// A stream's config as one line of text.

import { formatCount, formatDuration, formatNumber } from "./format.js";

/** @import { KernelConfig, StreamConfig, StreamSummary } from "../wire" */

/**
 * Kernels that are not written as their kind with spaces.
 * @type {Partial<Record<KernelConfig["kind"], string>>}
 */
const KERNELS = {
  rbf: "RBF",
  laplace: "Laplace",
  matern32: "Matérn 3/2",
  matern52: "Matérn 5/2",
  cauchy: "Cauchy",
};

/** @param {Pick<StreamSummary, "config" | "predictions" | "memory">} summary */
export function describeSettings({ config, predictions, memory }) {
  const parts = [describeMethod(config)];
  if (isLocal(config)) parts.push(`${config.features} feature${config.features === 1 ? "" : "s"}`);
  if (config.method === "larc") parts.push(`${memory.split("(")[0]} memory`);
  if ((config.timeout ?? null) !== null) parts.push(describeTimeout(config));
  if ((config.retention ?? null) !== null) {
    parts.push(`records are kept for ${formatDuration(config.retention ?? 0)}`);
  }
  parts.push(`${formatCount(predictions)} predictions`);
  return parts.join(" · ");
}

/**
 * Whether thresholds depend on the features of an input.
 * @param {Pick<StreamConfig, "method" | "features">} config
 */
export const isLocal = ({ method, features }) => features > 0 && (method === "larc" || method === "auto");

/**
 * The largest possible loss; that of a gate is a wrong answer.
 * @param {StreamConfig} config
 */
export const lossBound = (config) => (config.method === "gate" ? 1 : config.loss_bound);

/** @param {StreamConfig} config */
function describeMethod(config) {
  if (config.method === "larc") return `L-ARC, ${describeKernel(config.kernel)}`;
  if (config.method === "arc") return "ARC, one threshold for all inputs";
  if (config.method === "mondrian") return "Mondrian, one threshold per group";
  if (config.method === "gate") return "Gate, answer or escalate";
  const { promise, limits } = config;
  const [floor, ceiling] = limits.map((limit) => (limit === null ? null : formatNumber(limit)));
  const parts = ["AutoLARC, a threshold for every place and group"];
  if (floor !== null) parts.push(`at least ${floor}`);
  if (ceiling !== null) parts.push(`at most ${ceiling}`);
  if (promise === "at most") parts.push("risk guaranteed from above");
  return parts.join(", ");
}

/** @param {KernelConfig} kernel */
function describeKernel({ kind, length_scale: scale }) {
  const scales = Array.isArray(scale) ? scale.slice(0, 4).map(formatNumber).join(", ") : formatNumber(scale);
  return `${KERNELS[kind] ?? kind.replaceAll("-", " ")} kernel with length scale ${scales}`;
}

/** @param {StreamConfig} config */
function describeTimeout({ timeout, default_loss: loss }) {
  const outcome =
    (loss ?? null) === null ? "are dropped" : `count as a loss of ${formatNumber(loss ?? null)}`;
  return `predictions without feedback for ${formatDuration(timeout ?? 0)} ${outcome}`;
}
