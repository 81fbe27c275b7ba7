// A stream's config as one line of words.

import { ago, count, figure } from "./words.js";

const KERNELS = { rbf: "RBF", laplace: "Laplace", matern32: "Matérn 3/2", matern52: "Matérn 5/2", cauchy: "Cauchy",
  triangular: "triangular", "rational-quadratic": "rational quadratic" };

export function settings({ config, predictions, memory }) {
  const parts = [config.kernel ? `L-ARC, ${kernel(config.kernel)}` : "ARC, one threshold for all inputs"];
  if (config.kernel) {
    parts.push(`${config.features} feature${config.features === 1 ? "" : "s"}`);
    parts.push(`${memory.split("(")[0]} memory`);
  }
  if (config.timeout !== null) parts.push(timeout(config));
  parts.push(`${count(predictions)} predictions`);
  return parts.join(" · ");
}

function kernel({ kind, length_scale: scale }) {
  const scales = Array.isArray(scale) ? scale.slice(0, 4).map(figure).join(", ") : figure(scale);
  return `${KERNELS[kind]} kernel with length scale ${scales}`;
}

function timeout({ timeout: seconds, default_loss: loss }) {
  const then = loss === null ? "is dropped" : `counts as ${figure(loss)}`;
  return `a loss that takes over ${ago(seconds)} ${then}`;
}
