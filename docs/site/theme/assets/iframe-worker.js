// Workers in a hidden frame: browsers refuse real ones to pages that were opened from a folder.
(() => {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => resolve(this.start(frame.contentWindow, url)));
      });
      document.documentElement.append(frame);
    }

    start(scope, url) {
      scope.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
      };
      const script = scope.document.createElement("script");
      script.src = url;
      return new Promise((resolve) => {
        script.addEventListener("load", () => resolve(scope));
        scope.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then((scope) => scope.dispatchEvent(new scope.MessageEvent("message", { data })));
    }
  }

  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
