// One stream: read once, then moved along by its events.

import { alarm } from "./alarms.js";
import { feedbackChart, groupChart, nothing, riskChart, scatterChart, visibleRisks } from "./charts.js";
import { show } from "./connection.js";
import { follow } from "./events.js";
import { HeatMap } from "./heat_map.js";
import { showPromise } from "./promise.js";
import { Run } from "./run.js";
import { ask, pause, Refused, streamPath } from "./service.js";
import { settings } from "./settings.js";
import { ago, bytes, count, figure, risk } from "./words.js";

const DRAWN = 700; // milliseconds between two drawings
const READ = 5_000; // and between two readings of what events do not tell
const part = (id) => document.getElementById(id);
const say = (id, text) => { part(id).textContent = text; };

export async function stream(name, signal) {
  document.title = `${name} · localarc`;
  say("name", name);
  const view = new View(name, signal);
  await view.open();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => view.draw(), { signal });
  view.keepUp();
  await follow(name, view.run.seq, signal, {
    heard: (event) => view.take(event),
    line: (state, error) => {
      view.stale = true; // what events do not tell may have changed meanwhile
      show(state, error);
    },
  });
}

class View {
  constructor(name, signal) {
    this.name = name;
    this.signal = signal;
    this.stale = false; // events came since the last reading
    this.readAt = -READ; // when that was
    this.moved = false; // and since the last drawing
  }

  /** Read until it works: the service may just be starting. */
  async open() {
    while (!this.signal.aborted) {
      try {
        await this.read();
        show("live");
        return;
      } catch (error) {
        if (this.signal.aborted || (error instanceof Refused && error.status !== 503)) throw error;
        show("lost", error);
        await pause(1_000, this.signal);
      }
    }
  }

  async read() {
    this.stale = false;
    this.readAt = performance.now();
    const options = { signal: this.signal };
    const [summary, history] = await Promise.all([
      ask(streamPath(this.name), options),
      ask(streamPath(this.name, "history"), options),
    ]);
    this.summary = summary;
    this.run = new Run(history);
    this.map ??= new HeatMap(summary, this.signal);
    this.map.seen = summary.predictions > 0;
    await this.map.refresh();
    this.draw();
    this.tell(summary);
  }

  take(event) {
    this.stale = true;
    if (event.kind === "reset") {
      this.readAt = -READ; // events were missed: read at once
      return;
    }
    this.moved = true;
    this.run.take(event);
    this.tell(event.data);
  }

  /** The numbers, from a summary or from an event: both carry them. Once a frame is enough. */
  tell(now) {
    if (this.now && now.seq < this.now.seq) return;
    if (!this.frame) this.frame = requestAnimationFrame(() => this.show());
    this.now = now;
  }

  show() {
    this.frame = 0;
    if (this.signal.aborted) return; // another stream is shown by now
    say("risk", risk(this.now.risk));
    for (const id of ["rounds", "pending", "late", "expired"]) say(id, count(this.now[id]));
  }

  /** Draw what moved and read again what events do not tell, until the reader goes elsewhere. */
  async keepUp() {
    while (!this.signal.aborted) {
      await pause(DRAWN, this.signal);
      try {
        if (this.stale && performance.now() - this.readAt > READ) {
          await this.read();
        } else if (this.moved) {
          this.drawRun();
        }
      } catch (error) {
        if (!(error instanceof TypeError || error instanceof Refused || this.signal.aborted)) throw error;
        this.stale = true; // the line is down: the events say so, and this tries again
      }
    }
  }

  draw() {
    const { summary } = this;
    const verdict = showPromise(part("promise"), summary);
    alarm("promise", "The promise is broken.", verdict.kept ? "" : `Do not rely on ${this.name}: see below.`);
    say("target", figure(summary.target));
    say("settings", settings(summary));
    say("oldest", waiting(summary.oldest_pending));
    say("memory", bytes(summary.memory_bytes));
    this.drawRun();
    this.drawGroups();
    this.map.draw();
  }

  drawRun() {
    this.moved = false;
    const { run } = this;
    if (run.rounds.length === 0) {
      for (const id of ["risk-chart", "threshold-chart", "feedback-chart"]) {
        nothing(part(id), "No loss was reported yet.");
      }
      nothing(part("size-chart"), "No set was asked for yet.");
      return;
    }
    const { config } = this.summary;
    riskChart(part("risk-chart"), run, config.loss_bound);
    say("bound-words", boundWords(run));
    scatterChart(part("threshold-chart"), run, run.threshold, "threshold");
    feedbackChart(part("feedback-chart"), run);
    say("threshold-words", `A dot for a round, a line for the mean of its neighbours.${config.kernel ? SCATTER : ""}`);
    const sized = run.size.some((size) => size !== null);
    if (sized) scatterChart(part("size-chart"), run, run.size, "size");
    else nothing(part("size-chart"), "Send scores with predictions to see how large sets are.");
    say("size-words", sized ? "How large the set of each round was; small is informative." : "");
  }

  drawGroups() {
    const { groups, target, config } = this.summary;
    if (groups.length === 0) nothing(part("group-chart"), "Send a group with predictions to compare groups.");
    else groupChart(part("group-chart"), groups, target, config.loss_bound);
    say("group-words", groups.length === 0 ? "" : groupWords(groups.length - 20));
  }
}

function groupWords(left) {
  const words = "Dashed: the target. Whiskers: one standard error at most, as if rounds were independent.";
  return left > 0 ? `${words} ${left} groups of lower risk are left out.` : words;
}

const waiting = (oldest) =>
  oldest === null ? "losses to come" : `the oldest for ${ago(Date.now() / 1000 - oldest)}`;

/** Say where the promise is, if it is too wide for the figure. */
function boundWords(run) {
  const bound = run.bound.at(-1) ?? null;
  const highest = visibleRisks(run)[1];
  if (bound === null || run.target + bound <= highest) return "";
  return `What is promised in advance, ${figure(bound)} by now, is too far away to be seen here.`;
}

const SCATTER = " The threshold depends on the input, so dots scatter.";
