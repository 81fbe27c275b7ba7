// Requests to the service: one origin, the token in a header, one kind of error.

const TOKEN_KEY = "localarc-token";

/** The service answered with an error. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} detail
   */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }

  /** Whether the same request may succeed later: the service is starting or cannot write. */
  get isTemporary() {
    return this.status === 503;
  }
}

/** The token for this tab; it disappears when the tab is closed. */
export const token = {
  get: () => sessionStorage.getItem(TOKEN_KEY),
  /** @param {string} value */
  set: (value) => sessionStorage.setItem(TOKEN_KEY, value),
};

/**
 * Fetch a path. Throws ApiError for an error response, TypeError if there is no response.
 * @param {string} path
 * @param {{method?: string, headers?: Record<string, string>, signal?: AbortSignal}} options
 * @returns {Promise<Response>}
 */
export async function request(path, { headers = {}, ...options } = {}) {
  const value = token.get();
  const all = value ? { ...headers, Authorization: `Bearer ${value}` } : headers;
  const response = await fetch(path, { ...options, headers: all, cache: "no-store" });
  if (response.ok) return response;
  let detail = response.statusText;
  try {
    detail = (await response.json()).detail;
  } catch {
    // not one of the service's error bodies: the status is all there is
  }
  throw new ApiError(response.status, detail);
}

/**
 * Fetch a path and decode its JSON.
 * @param {string} path
 * @param {{signal?: AbortSignal}} options
 */
export const fetchJson = async (path, options) => (await request(path, options)).json();

/**
 * The path of a stream, or of something below it.
 * @param {string} stream
 */
export const streamPath = (stream, rest = "") =>
  `v1/streams/${encodeURIComponent(stream)}${rest && `/${rest}`}`;

/**
 * Resolve after a time, or at once when the signal aborts.
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

/**
 * Signals for requests and pauses that can be cut short, because something changed.
 * @param {AbortSignal} signal ends all of them
 */
export function createInterrupt(signal) {
  let current = new AbortController();
  return {
    signal: () => AbortSignal.any([signal, current.signal]),
    interrupt: () => {
      current.abort();
      current = new AbortController();
    },
  };
}
