// State with subscribers, and a limit on how often one of them runs.

/**
 * An object whose listeners run when the value of their key is set.
 * @template {object} State
 */
export class Store {
  /** @param {State} state */
  constructor(state) {
    /** @type {Readonly<State>} */
    this.state = state;
    /** @type {Map<keyof State, Set<() => void>>} */
    this.listeners = new Map();
  }

  /**
   * Merge changes into the state, then run each listener of a changed key once.
   * @param {Partial<State>} changes
   */
  set(changes) {
    const keys = /** @type {(keyof State)[]} */ (Object.keys(changes));
    const changed = keys.filter((key) => this.state[key] !== changes[key]);
    this.state = { ...this.state, ...changes };
    const due = new Set(changed.flatMap((key) => [...(this.listeners.get(key) ?? [])]));
    for (const listener of due) listener();
  }

  /**
   * Run a listener whenever one of these keys changes.
   * @param {(keyof State)[]} keys
   * @param {() => void} listener
   */
  subscribe(keys, listener) {
    for (const key of keys) {
      const known = this.listeners.get(key) ?? new Set();
      this.listeners.set(key, known.add(listener));
    }
  }
}

/**
 * A function that runs the action at most once per interval: at once if the last run is long
 * ago, otherwise when the interval ends. Calls in between share that run.
 * @param {() => void} action
 * @param {number} interval in milliseconds
 * @param {AbortSignal} signal ends a run that is due
 */
export function throttle(action, interval, signal) {
  let last = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;
  const run = () => {
    timer = null;
    last = performance.now();
    if (!signal.aborted) action();
  };
  signal.addEventListener("abort", () => timer !== null && clearTimeout(timer), { once: true });
  return () => {
    if (timer !== null || signal.aborted) return;
    const wait = last + interval - performance.now();
    if (wait > 0) timer = setTimeout(run, wait);
    else run();
  };
}
