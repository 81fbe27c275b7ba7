import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Store, throttle } from "../../src/localarc_service/page/static/store.js";

test("a listener runs once per change, however many of its keys changed", () => {
  const store = new Store({ a: 1, b: 1, c: 1 });
  const listener = mock.fn();
  store.subscribe(["a", "b"], listener);
  store.set({ a: 2, b: 2 });
  assert.equal(listener.mock.callCount(), 1);
  assert.deepEqual(store.state, { a: 2, b: 2, c: 1 });
});

test("a listener does not run for other keys or the same value", () => {
  const store = new Store({ a: 1, b: 1 });
  const listener = mock.fn();
  store.subscribe(["a"], listener);
  store.set({ a: 1, b: 2 });
  assert.equal(listener.mock.callCount(), 0);
});

test("a throttled action runs at once, then once per interval", async () => {
  const action = mock.fn();
  const run = throttle(action, 20, new AbortController().signal);
  run();
  run();
  run();
  assert.equal(action.mock.callCount(), 1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(action.mock.callCount(), 2);
});

test("a throttled action does not run after the abort", async () => {
  const view = new AbortController();
  const action = mock.fn();
  const run = throttle(action, 10, view.signal);
  run();
  run();
  view.abort();
  run();
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(action.mock.callCount(), 1);
});
