// The run of one stream so far: the history that the service keeps, and what happened since.

const MOST = 2_000; // points; beyond, every second one is let go
// A point of the history is an array of these, in this order.
const COLUMNS = ["rounds", "at", "risk", "threshold", "size", "bound", "observed", "pending", "late", "expired"];

export class Run {
  constructor(history) {
    this.target = history.target;
    this.seq = history.seq;
    COLUMNS.forEach((name, column) => { this[name] = history.points.map((point) => point[column]); });
  }

  /** Add what an event tells; only a loss that was learnt adds a point. */
  take(event) {
    this.seq = Math.max(this.seq, event.data.seq);
    const learnt = event.kind === "feedback" || (event.kind === "expired" && event.data.loss !== null);
    if (!learnt || event.data.rounds <= (this.rounds.at(-1) ?? 0)) return;
    const point = { threshold: null, size: null, ...event.data };
    point.bound = this.bound.at(-1) ?? null; // until the next history tells
    point.observed = this.observed.at(-1) ?? null;
    for (const name of COLUMNS) this[name].push(point[name]);
    if (this.rounds.length > MOST) this.thin();
  }

  thin() {
    for (const name of COLUMNS) this[name] = this[name].filter((_, index) => index % 2 === 1);
  }
}

/** The mean of each value's neighbours; values that are missing are passed over. */
export function smooth(values, width) {
  return values.map((_, index) => {
    const near = values
      .slice(Math.max(0, index - width), index + width + 1)
      .filter((value) => value !== null);
    return near.length ? near.reduce((sum, value) => sum + value, 0) / near.length : null;
  });
}
