// Asking the service: one origin, the token in a header, one kind of error.

const KEY = "localarc-token";

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

/** The answer to a request; throws Refused for an error, TypeError where nobody answers. */
export async function request(path, { headers = {}, signal } = {}) {
  const held = token.get();
  const all = held ? { ...headers, Authorization: `Bearer ${held}` } : headers;
  const response = await fetch(path, { headers: all, signal, cache: "no-store" });
  if (response.ok) return response;
  let detail = response.statusText;
  try {
    detail = (await response.json()).detail;
  } catch {
    // not a problem of ours: the status says all there is
  }
  throw new Refused(response.status, detail);
}

export const ask = async (path, options) => (await request(path, options)).json();

export const streamPath = (stream, rest = "") =>
  `v1/streams/${encodeURIComponent(stream)}${rest && `/${rest}`}`;

/** Wait, or stop waiting at once when the signal says so. */
export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
